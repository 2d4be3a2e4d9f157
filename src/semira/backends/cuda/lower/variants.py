"""Variants that a pull may have: noted for the host, which chooses one by what is bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from semira.contract import Method, variant_part

if TYPE_CHECKING:
    from semira.backends.cuda.lower.context import Context
    from semira.backends.cuda.lower.product_parts import Product


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
        """Return the `runtime.variants.Choice` for a `runtime.variants.Launch`."""
        ...

    def make(self, matrix: Any, orientation: str) -> Any:
        """Return what the variant reads, made of any matrix that it can be made of."""
        ...


def note_variants(ctx: Context, product: Product, method: Method) -> PullVariant | None:
    """Note which variants a pull may have; return the one that this kernel has, or None."""
    for pull in _pulls_of(ctx, product, method):
        key = (pull.variant, pull.slot, pull.orientation)
        ctx.variants[key] = ctx.variants[key].joined(pull) if key in ctx.variants else pull
    return variant_in(ctx, product, method)


def variant_in(ctx: Context, product: Product, method: Method) -> PullVariant | None:
    """Return the variant that this kernel has of a pull, or None."""
    if not any(pull.variant == ctx.variant for pull in _pulls_of(ctx, product, method)):
        return None
    part = _part(ctx.variant)
    package = f"{variant_part(ctx.variant, 'cuda').__package__}.kernels"
    ctx.headers.update(dict.fromkeys(f"{package}:{each}" for each in part.HEADERS))
    return part


def _pulls_of(ctx: Context, product: Product, method: Method) -> list[VariantPull]:
    """Return a pull as each variant of its method that has kernels for it is told of it."""
    if not method.variants:
        return []
    multiply = product.statement.operator.binaryop
    # Where it may not always pull, one product is to be expected.
    knows = len(product.methods) == 1 and ctx.limits
    pulls = (
        VariantPull(
            variant.name,
            product.matrix,
            product.orientation(method),
            variant.figures,
            width=ctx.program.slots[product.driver].dtype.itemsize,
            reads=multiply.reads_b if product.statement.op == "vxm" else multiply.reads_a,
            limits=(ctx.limits[-1] if knows else None,),
            alone=ctx.is_alone,
        )
        for variant in method.variants
    )
    return [pull for pull in pulls if _part(pull.variant).serves(pull)]


def _part(name: str) -> PullVariant:
    part: Any = variant_part(name, "cuda")
    return part  # type: ignore[no-any-return]
