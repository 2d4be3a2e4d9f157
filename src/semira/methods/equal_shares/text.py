"""The kernels of a product in equal shares, as text."""

from __future__ import annotations

from semira.backends.cuda.lower.context import Context
from semira.backends.cuda.runtime.primitives import THREADS
from semira.backends.cuda.staged.product_source import WRITTEN, multiplied, row_mask
from semira.backends.cuda.staged.text import OUT, TABLE, Text, kernel
from semira.contract import Program, Statement

_ROWS = (
    "const int* numbers, const Index* listed, long long first, long long count, "
    "unsigned* bits, long long words, const unsigned* ranks, unsigned* taken, "
    "const long long* starts"
)
_TO = "const LongSums to{{numbers, listed, first, count, bits, words}, ranks, taken};"


def text(program: Program, product: Statement) -> str:
    """Return the C++ source of a product of two sparse operands in equal shares."""
    given = Text(Context(program), product)
    semiring, declared = multiplied(given)
    kernels = [
        kernel(
            "t_open_long_rows",
            f"{_ROWS}, {WRITTEN}",
            _TO,
            f"open_long_rows<typename {semiring}::Add>(to, starts, {OUT});",
        ),
        kernel(
            "t_by_share",
            f"{_ROWS}, const long long* before, long long total, long long shares, {WRITTEN}",
            *declared,
            f"const RowMask mask = {row_mask(given)};",
            _TO,
            "const Products products{pattern_of(a), pattern_of(b), a.rows, before, a.most, total};",
            f"fill_by_share<{semiring}>(a, b, products, mask, shares, to, starts, {OUT});",
            threads=THREADS,
        ),
    ]
    return "\n".join([*given.ctx.structs.values(), TABLE, *kernels])
