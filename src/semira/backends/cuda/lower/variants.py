"""Variants that a pull may have: noted for the host, which chooses one by what is bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from semira.contract import variant_part


@dataclass(frozen=True, slots=True)
class VariantPull:
    """Pulls in equal shares over an orientation of a matrix that may have a variant.

    Attributes
    ----------
    variant : str
        Its name.
    slot : int
        Of the matrix.
    orientation : str
    figures : tuple of int or float
        See `VariantRow.figures`.
    width : int
        Bytes of the largest values of their vectors.
    reads : bool
        Whether values of the matrix are multiplied.
    limits : tuple of int or None
        For each of them the slot of its loop's limit, if every iteration pulls; None: one product,
        as far as one can know.
    alone : bool
        The product is the whole program.
    """

    variant: str
    slot: int
    orientation: str
    figures: tuple[float, ...]
    width: int
    reads: bool
    limits: tuple[int | None, ...]
    alone: bool = False

    def joined(self, other: VariantPull) -> VariantPull:
        """Return both together, by the figures that ask for less."""
        return replace(
            self,
            figures=min(self.figures, other.figures),
            width=max(self.width, other.width),
            reads=self.reads or other.reads,
            limits=self.limits + other.limits,
        )


@dataclass(frozen=True, slots=True)
class SharesWalk:
    """A pull in equal shares, as a variant writes it.

    Attributes
    ----------
    lines : str
        The C++ variable of the matrix.
    given : str
        Most arguments of a pull: threads, operands, rows, mask, result, degrees.
    counters : str
        The last argument.
    lanes : int
        Lanes that sum each row where all are short, else 0.
    emit : callable
        Appends lines of C++ to the kernel. All threads of the grid run them.
    fill : callable
        Appends a call that fills a table for the pull, between barriers.
    pull : callable
        Appends the pull of the core, with more template arguments.
    """

    lines: str
    given: str
    counters: str
    lanes: int
    emit: Callable[[str], None]
    fill: Callable[[str], None]
    pull: Callable[[str], None]


class PullVariant(Protocol):
    """What the module ``cuda`` of a variant's folder has.

    Attributes
    ----------
    HEADERS : tuple of str
        Files under its ``kernels`` that its pull calls.
    ROWS : str
        Template that walks short rows in a phase with other statements; empty: the core's does.
    WORDS : int
        Its words of a CompressedDescriptor (kernels/common/matrix.cuh).
    """

    HEADERS: tuple[str, ...]
    ROWS: str
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
