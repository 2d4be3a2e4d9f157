"""Products of sparse matrices whose rows are filtered before they are stored; traces."""

from __future__ import annotations

from semira.apps.products.filtered import filtered_product, memory, product_blocks
from semira.apps.products.sums import product_trace

__all__ = ["filtered_product", "memory", "product_blocks", "product_trace"]
