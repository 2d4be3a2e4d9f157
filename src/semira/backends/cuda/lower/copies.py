"""Copies of a matrix that a pull may have: noted for the host, which decides by what is bound."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from semira.contract import HotColumns, Method

if TYPE_CHECKING:
    from semira.backends.cuda.lower.context import Context
    from semira.backends.cuda.lower.product_parts import Product

#: Bytes of values that shared memory is read in one piece for (kernels/vxm/hot.cuh).
HOT_WIDTHS = (1, 2, 4, 8)


@dataclass(frozen=True, slots=True)
class HotPull:
    """Pulls by equal shares over an orientation of a matrix that may have hot columns.

    Attributes
    ----------
    slot : int
        Of the matrix.
    orientation : str
    rule : HotColumns
    width : int
        Bytes of the largest values of their vectors.
    limits : tuple of int or None
        For each of them the slot of its loop's limit, if every iteration pulls; None: one product,
        as far as one can know.
    alone : bool
        The product is the whole program.
    """

    slot: int
    orientation: str
    rule: HotColumns
    width: int
    limits: tuple[int | None, ...]
    alone: bool = False

    def joined(self, other: HotPull) -> HotPull:
        """Return both together, by the rule that asks for less."""
        rule = min(self.rule, other.rule, key=lambda each: each.entries)
        limits, width = self.limits + other.limits, max(self.width, other.width)
        return replace(self, rule=rule, width=width, limits=limits)


@dataclass(frozen=True, slots=True)
class DiagonalPull:
    """Pulls by equal shares over an orientation of a matrix that may read its rows as bits.

    Attributes
    ----------
    slot : int
        Of the matrix.
    orientation : str
    products : int
        Products with the matrix from which on it is asked.
    reads : bool
        Whether values of the matrix are multiplied: then all entries have to share one.
    limits : tuple of int or None
        As in `HotPull`.
    """

    slot: int
    orientation: str
    products: int
    reads: bool
    limits: tuple[int | None, ...]

    def joined(self, other: DiagonalPull) -> DiagonalPull:
        """Return both together, by the rule that asks for less."""
        products, reads = min(self.products, other.products), self.reads or other.reads
        return replace(self, products=products, reads=reads, limits=self.limits + other.limits)


def may_be_hot(ctx: Context, product: Product, method: Method) -> bool:
    """Return whether a pull may find hot columns, and note it."""
    width = ctx.program.slots[product.driver].dtype.itemsize
    if method.hot is None or width not in HOT_WIDTHS:
        return False
    key, limits = (product.matrix, product.orientation(method)), _limits(ctx, product)
    pull, other = HotPull(*key, method.hot, width, limits, ctx.is_alone), ctx.hot_pulls.get(key)
    ctx.hot_pulls[key] = pull if other is None else other.joined(pull)
    return True


def may_be_diagonal(ctx: Context, product: Product, method: Method) -> bool:
    """Return whether a pull may read rows as bits, and note it."""
    if method.diagonals is None:
        return False
    multiply = product.statement.operator.binaryop
    reads = multiply.reads_b if product.statement.op == "vxm" else multiply.reads_a
    key, limits = (product.matrix, product.orientation(method)), _limits(ctx, product)
    pull, other = DiagonalPull(*key, method.diagonals, reads, limits), ctx.diagonal_pulls.get(key)
    ctx.diagonal_pulls[key] = pull if other is None else other.joined(pull)
    return True


def _limits(ctx: Context, product: Product) -> tuple[int | None, ...]:
    """Return the slot of the limit of a product's loop; None where it may not always pull."""
    knows = len(product.methods) == 1 and ctx.limits
    return (ctx.limits[-1] if knows else None,)
