"""Products of sparse matrices whose rows are filtered before they are stored; sums over rows."""

from __future__ import annotations

from semira.apps.products.filtered import filtered_product, memory, product_blocks
from semira.apps.products.sums import product_trace, row_log_sum_exp, row_softmax

__all__ = [
    "filtered_product",
    "memory",
    "product_blocks",
    "product_trace",
    "row_log_sum_exp",
    "row_softmax",
]
