"""Products of matrices by tiles of bits on the GPU: dot products, and rows of tiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from semira.backends.cuda.lower.context import Made
from semira.backends.cuda.runtime.made import need_made
from semira.backends.cuda.runtime.primitives import BLOCKS_PER_SM, THREADS, offset_type_of
from semira.backends.cuda.runtime.room import require
from semira.backends.cuda.staged.job import Job
from semira.backends.cuda.staged.method_parts import DotText
from semira.backends.cuda.staged.pieces import Launch, Pieces
from semira.backends.cuda.staged.rowwise import REMEDY, result_bytes
from semira.backends.cuda.staged.text import kernel, masks_rows
from semira.base.errors import PlanError
from semira.contract import Program, Statement
from semira.methods.b2sr.arrays import WIDEST
from semira.methods.b2sr.pairs import kind_of, named

ROOT = "semira.methods.b2sr.kernels:product.cuh"

#: Most and least columns of a window (kernels/product.cuh): 32 tiles of 32 columns are the least.
WINDOW, NARROW = 8192, 1024


def dot_kernels(text: DotText) -> list[str]:
    """Return the kernel of dot products: by tiles of the mask."""
    ring = text.statement.operator
    pairs = named(kind_of(ring.monoid, ring.binaryop))
    given = ", ".join(
        f"const int* {x}_starts, const void* {x}_tiles, const unsigned* {x}_words, "
        f"long long {x}_narrow"
        for x in "abm"
    )
    operands = ", ".join(
        f"TileLines{{{x}_starts, {x}_tiles, {x}_words, static_cast<unsigned>(shift), "
        f"{x}_narrow != 0}}"
        for x in "abm"
    )
    made = kernel(
        "t_dots_by_tile",
        f"{given}, long long shift, long long tile_rows, {text.parameters}",
        *text.lines,
        f"dot_tiles<{pairs}, {text.semiring}, {text.structural}>(",
        f"    {operands}, tile_rows, mask, {text.emit});",
        *text.after,
        threads=THREADS,
    )
    return [f'#include "semira.methods.b2sr.kernels:dot.cuh"\n{made}']


def dot_launches(job: Job, a: Pieces, b: Pieces) -> list[Launch]:
    """Return the launch that computes every dot product; tiles of all operands are made first."""
    del a, b
    statement = job.statement
    assert statement.mask is not None
    left, right = statement.args
    _, one = _tiles(job, left.slot, by_columns=left.transposed)
    _, other = _tiles(job, right.slot, by_columns=not right.transposed)
    held, named = _tiles(job, statement.mask.slot, by_columns=False)
    blocks = max(1, min(_most_blocks(job), -(-held.slots * 32 // THREADS)))
    given = (*one, *other, *named, held.bits.bit_length() - 1, held.tile_lines)
    return [Launch("t_dots_by_tile", blocks, THREADS, 0, given, is_lasting=True)]


def _tiles(job: Job, slot: int, *, by_columns: bool) -> tuple[Any, tuple[Any, ...]]:
    """Return an orientation of an operand as tiles, and what kernels are told of them."""
    assert job.statement.plan is not None
    bits = dict(job.statement.plan.methods[0].parameters)["bits"]
    orientation = "csc" if by_columns else "csr"
    made = Made(slot, "b2sr", orientation, (("bits", WIDEST if bits == "auto" else bits),))
    held: Any = need_made(job.things[slot], made)
    return held, (held.indptr, held.tiles, held.words, int(held.narrow))


def _most_blocks(job: Job) -> int:
    return int(BLOCKS_PER_SM * job.stage.runtime.multiprocessors)


def _columns_of_window(job: Job, tile_lines: int, ncols: int) -> int:
    """Return the columns of a window: few of a matrix with few lines of tiles, a block for each."""
    columns = WINDOW
    while columns > NARROW and tile_lines * -(-ncols // columns) < _most_blocks(job):
        columns //= 2
    return columns


def text(program: Program, product: Statement) -> str:
    """Return nothing: kernels of rows of tiles are the same for all products."""
    del program, product
    return ""


def multiply(job: Job) -> tuple[Pieces, Callable[[], int]]:
    """Return the product, by rows of tiles, and the entries of A; waits for its size.

    Raises
    ------
    PlanError
        Pairs are to be counted: for that a mask has to name the results.
    OutOfMemory
        The product, or sizes of its rows in each window of columns, do not fit.
    """
    stage, statement, (nrows, ncols) = job.stage, job.statement, job.shape
    ring = statement.operator
    if kind_of(ring.monoid, ring.binaryop) != "one":
        raise PlanError(
            "mxm: method='b2sr' counts pairs only where a mask names the results on cuda; give "
            "such a mask, take another monoid (any, lor, min, max), or no pin"
        )
    a, b = job.operand(0, "a", with_rows=False), job.operand(1, "b", with_rows=False)
    left, right = statement.args
    held, one = _tiles(job, left.slot, by_columns=left.transposed)
    _, other = _tiles(job, right.slot, by_columns=right.transposed)
    mask, named = statement.mask, (None, None, None, 0)
    if mask is not None and mask.complement and masks_rows(statement):
        _, named = _tiles(job, mask.slot, by_columns=False)
        job.is_masked = True
    columns = _columns_of_window(job, held.tile_lines, ncols)
    windows = -(-ncols // columns)
    if a.most == 0 or b.most == 0:
        return job.nothing(job.dtype), lambda: 0
    require(stage.runtime, 8 * nrows * windows, f"a product of {nrows} rows", REMEDY)
    sizes = stage.counts(nrows * windows + 1)
    blocks = max(1, min(_most_blocks(job), held.tile_lines * windows))
    sizes_given = held.bits.bit_length() - 1, nrows, held.tile_lines, windows, columns
    given = (*one, *other, *named, *sizes_given)
    start = stage.own_module().launch_blocks
    start(stage.offset_type, "semira_count_product", blocks, *given, sizes)
    nvals = stage.sum_up(sizes, nrows * windows)
    if stage.offset_type == "int" and offset_type_of(nvals) != "int":
        job.widen()
    require(stage.runtime, result_bytes(job, nvals), f"a product of {nvals} entries", REMEDY)
    value = stage.runtime.upload(np.ones(1, job.dtype.array_dtype))
    made = stage.blank(job.shape, nvals, job.dtype, value)
    start(
        stage.offset_type, "semira_fill_product", blocks, *given, sizes, made.indptr, made.indices,
        made.rows,
    )  # fmt: skip
    return made, lambda: stage.count(a)
