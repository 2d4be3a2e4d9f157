"""When pulls keep the values at frequent columns in shared memory (decision 23)."""

from __future__ import annotations

from typing import NamedTuple

from semira.contract import Method, Statement, Variant, VariantRow
from semira.plan.policy import Number
from semira.plan.rules_mask import reads_operand_values

_STUDY = "one H200, bench/notes/spmv.md"

#: Entries of the matrix and of a row at least, products with the matrix at least, share of the
#: entries that lie in these columns at least.
ENTRIES = Number(
    8e6,
    f"{_STUDY}: filling shared memory takes some 7 us, which half of the gathers of 8 M entries, "
    "50 us, pay for; counted, not measured",
)
MEAN = Number(8, f"{_STUDY}: shorter rows cost more than their gathers (road, grid, mesh8)")
PRODUCTS = Number(
    4,
    "making the copy takes a pass that gathers as a product does, a count and a sort of the "
    f"columns: about what 4 to 8 products save; counted from {_STUDY}, not measured",
)
SHARE = Number(0.4, f"{_STUDY}: .65 and .76 halve the time (kron21, kron20), .18 costs (web)")


class Figures(NamedTuple):
    """What a matrix and the products with it must have.

    Attributes
    ----------
    entries : int or float
        Of the matrix, at least.
    mean : float
        Entries of a row, at least.
    products : int or float
        Products with the matrix, those done and those to come, at least.
    share : float
        Of the entries that lie in the columns, at least.
    """

    entries: float
    mean: float
    products: float
    share: float

    def asks(self, nvals: int, lines: int) -> bool:
        """Return whether a matrix is large enough to ask for the share.

        Examples
        --------
        >>> Figures(1000, 8.0, 4, 0.4).asks(2000, 100)
        True
        """
        return nvals >= self.entries and nvals >= self.mean * lines


def _serves(statement: Statement) -> bool:
    # A multiplication that asks for positions has no use for a column by another name.
    return not statement.operator.binaryop.is_positional and reads_operand_values(statement)


def _explain(method: Method, variant: Variant) -> str:
    del method
    entries, mean, products, share = variant.figures
    if not any(variant.figures):
        return "values at frequent columns are kept in shared memory: it is pinned"
    return (
        f"values at frequent columns are kept in shared memory: of a matrix with {entries:,} "
        f"entries or more, {mean:g} a row, from product {products} on, if they cover {share:.0%} "
        "of the entries"
    )


ROW = VariantRow(
    name="hot_columns",
    figures=Figures(int(ENTRIES.value), MEAN.value, int(PRODUCTS.value), SHARE.value),
    serves=_serves,
    explain=_explain,
)
