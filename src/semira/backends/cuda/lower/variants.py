"""Variants that a pull may have: noted for the host, which chooses one by what is bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from semira.contract import variant_part


@dataclass(frozen=True, slots=True)
class VariantPull:
    """Pulls in equal shares over an orientation of a matrix that may have a variant."""

    #: Its name.
    variant: str
    #: Of the matrix.
    slot: int
    orientation: str
    #: See `VariantRow.figures`.
    figures: tuple[float, ...]
    #: Bytes of the largest values of their vectors.
    width: int
    #: Whether values of the matrix are multiplied.
    reads: bool
    #: For each of them the slot of its loop's limit, if every iteration pulls; None: one product,
    #: as far as one can know.
    limits: tuple[int | None, ...]
    #: The product is the whole program.
    alone: bool = False

    def joined(self, other: VariantPull) -> VariantPull:
        """Return both together, by the figures that ask for less."""
        return replace(
            self, figures=min(self.figures, other.figures), width=max(self.width, other.width),
            reads=self.reads or other.reads, limits=self.limits + other.limits,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class SharesWalk:
    """A pull in equal shares, as a variant writes it."""

    #: The C++ variable of the matrix.
    lines: str
    #: Most arguments of a pull: threads, operands, rows, mask, result, degrees.
    given: str
    #: The last argument.
    counters: str
    #: Lanes that sum each row where all are short, else 0.
    lanes: int
    #: Appends lines of C++ to the kernel. All threads of the grid run them.
    emit: Callable[[str], None]
    #: Appends a call that fills a table for the pull, between barriers.
    fill: Callable[[str], None]
    #: Appends the pull of the core, with more template arguments.
    pull: Callable[[str], None]


class PullVariant(Protocol):
    """What the module ``cuda`` of a variant's folder has."""

    #: Files under its ``kernels`` that its pull calls.
    HEADERS: tuple[str, ...]
    #: Template that walks short rows in a phase with other statements; empty: the core's does.
    ROWS: str
    #: Its words of a CompressedDescriptor (kernels/common/matrix.cuh).
    WORDS: int

    def serves(self, pull: VariantPull) -> bool:
        """Return whether there are kernels for a pull."""
        ...

    def write(self, walk: SharesWalk) -> None:
        """Write the pull."""
        ...

    def shared_bytes(self, shared: int, room: int) -> int:
        """Return the dynamic shared memory of its kernels, of `shared` bytes there are.

        `room` is what they take without the variant.
        """
        ...

    def choose(self, launch: Any) -> Any:
        """Return the `runtime.kernel_choice.Choice` for a `runtime.kernel_choice.Launch`."""
        ...

    def make(self, matrix: Any, orientation: str) -> Any:
        """Return what the variant reads, made of any matrix that it can be made of."""
        ...


def pull_variant(name: str) -> PullVariant:
    """Return the module ``cuda`` of a variant's folder."""
    part: Any = variant_part(name, "cuda")
    return part
