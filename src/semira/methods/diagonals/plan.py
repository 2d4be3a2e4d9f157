"""When pulls read short rows as bits of the diagonals they have entries on (decision 42)."""

from __future__ import annotations

from semira.contract import Method, Statement, Variant, VariantRow
from semira.plan.policy import Number
from semira.plan.rules_mask import may_be_fused

#: Of pulls of short rows of large matrices, from which product with the matrix on.
PRODUCTS = Number(
    4,
    "making the copy reads columns and offsets twice, 40 bytes a row of 4 entries, and a product "
    "then reads 19 less: 2 to 3 products pay for it; by counting, not measured",
)


def _serves(statement: Statement) -> bool:
    # What reads nothing of an entry mostly counts it, and rows have lengths.
    return statement.operator.binaryop.name != "pair" and not may_be_fused(statement.operator)


def _explain(method: Method, variant: Variant) -> str:
    (products,) = variant.figures
    values = "" if method.structure_only else " and have one value"
    when = f", from product {products} on" if products else ": it is pinned"
    return (
        "short rows of a large matrix are kept as bits if their entries lie on few diagonals"
        f"{values}{when}"
    )


ROW = VariantRow(name="diagonals", figures=(int(PRODUCTS.value),), serves=_serves, explain=_explain)
