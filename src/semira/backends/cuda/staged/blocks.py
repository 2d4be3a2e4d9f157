"""Products whose left operand is a block of vectors: what they count, and the method that pulls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from semira.backends.cuda.runtime.blocks import Block, present_bytes, words_of
from semira.backends.cuda.runtime.objects import CudaMatrix
from semira.backends.cuda.runtime.parts import Buffer
from semira.backends.cuda.runtime.primitives import BLOCKS_PER_SM
from semira.backends.cuda.runtime.room import require
from semira.backends.cuda.staged.block_source import BLOCK_THREADS, has_one_value
from semira.backends.cuda.staged.job import Job
from semira.backends.cuda.staged.pieces import Pieces
from semira.backends.cuda.staged.rowwise import Measured, measure
from semira.base.errors import OutOfMemory
from semira.contract import SHARED

#: Bytes of a count.
_COUNT_BYTES = 8

#: Entries above which a column gets a block of threads (kernels/mxm/block.cuh).
LONG_COLUMN = 2048


@dataclass(slots=True)
class Weighing:
    """Push or pull: what was counted to decide, which whoever runs the product uses again."""

    job: Job
    #: Partial products of each row, if rows were counted.
    measured: Measured | None = None
    #: Rows with entries as words, if a block was counted.
    driven: Buffer | None = None
    #: The mask as a block.
    mask: Buffer | None = None
    known: dict[str, float] = field(default_factory=dict)

    @property
    def driver(self) -> CudaMatrix:
        """The left operand."""
        return self.job.matrix(0)

    @property
    def matrix(self) -> CudaMatrix:
        """The right operand."""
        return self.job.matrix(1)

    @property
    def inner(self) -> int:
        """Length of the vectors."""
        arg = self.job.statement.args[0]
        return self.driver.nrows if arg.transposed else self.driver.ncols

    def choose(self) -> str:
        """Return the name of the method that the plan's rule picks; may wait for counts."""
        plan = self.job.statement.plan
        assert plan is not None
        previous, frontier = self.driver.driven
        self.known["previous_frontier"] = frontier
        chosen = int(self.job.stage.executable.rule(self.count, previous))
        name = plan.methods[chosen].name
        if name == "pull" and not self.fits():
            chosen, name = 0, plan.methods[0].name
        last = chosen, int(self.known.get("frontier", -1))
        self.driver.driven = self.job.out.driven = last
        return name

    def fits(self) -> bool:
        """Return whether there is memory for pulling."""
        try:
            require(self.job.stage.runtime, block_bytes(self.job, self.inner), "blocks of vectors")
        except OutOfMemory:
            return False
        return True

    def count(self, name: str) -> float:
        """Return one of `contract.rule.COUNTS`, counted once."""
        if name not in self.known:
            simple = _SIMPLE.get(name)
            if simple is not None:
                self.known[name] = simple(self)
            else:
                self._count_open()
        return self.known[name]

    def _edges(self) -> int:
        """Return the partial products; waits."""
        job, block = self.job, self.driver.block
        if block is None or job.statement.args[0].transposed:
            self.measured = measure(job)
            return self.measured.products
        b = job.operand(1, "b", with_rows=False)
        edges = self._count_block(block, b.indptr)
        return int(job.stage.runtime.download(edges, np.int64, 1)[0])

    def _count_block(self, block: Block, indptr: Any) -> Any:
        stage = self.job.stage
        edges = stage.scratch.zeros(_COUNT_BYTES)
        self.driven = stage.scratch.zeros(4 * words_of(block.rows))
        items = block.ncols * words_of(block.rows)
        stage.primitives.module.launch(
            stage.offset_type, "semira_count_block", items, block.present, block.ncols, block.rows,
            indptr, edges, self.driven,
        )  # fmt: skip
        return edges

    def rows_driven(self, block: Block) -> Any:
        """Return the rows with entries, as words."""
        if self.driven is None:
            self._count_block(block, None)
        return self.driven

    def _count_open(self) -> None:
        """Count what the mask lets through; waits if there is one."""
        job, stage = self.job, self.job.stage
        mask, (rows, ncols) = job.statement.mask, job.shape
        if mask is None:
            self.known["open_rows"] = rows * ncols
            self.known["open_edges"] = rows * self.matrix.nvals
            return
        b = job.operand(1, "b", flipped=True, with_rows=False)
        open_there = stage.scratch.zeros(2 * _COUNT_BYTES)
        stage.primitives.module.launch(
            stage.offset_type, "semira_count_open", ncols * words_of(rows), self.mask_words(),
            ncols, rows, int(mask.complement), b.indptr, open_there,
        )  # fmt: skip
        found = stage.runtime.download(open_there, np.int64, 2)
        self.known["open_rows"], self.known["open_edges"] = int(found[0]), int(found[1])

    def mask_words(self) -> Any:
        """Return the mask as words by column; None without one."""
        job, mask = self.job, self.job.statement.mask
        if mask is None:
            return None
        if self.mask is None:
            thing = job.things[mask.slot]
            if mask.structural and thing.block is not None:
                self.mask = thing.block.present
            else:
                pieces: Pieces = job.stage.operands["mask"]
                self.mask = _packed(job, "mask", pieces, job.shape, None)
        return self.mask


#: Counts that do not depend on the mask.
_SIMPLE: dict[str, Callable[[Weighing], int]] = {
    "block": lambda self: self.job.shape[0],
    "shared": lambda self: max(1, min(self.job.shape[0], SHARED)),
    "n": lambda self: self.job.shape[0] * self.inner,
    "rows": lambda self: self.job.shape[0] * self.job.shape[1],
    "nnz": lambda self: self.job.shape[0] * self.matrix.nvals,
    "frontier": lambda self: self.driver.nvals,
    "frontier_edges": Weighing._edges,
}


def block_bytes(job: Job, inner: int) -> int:
    """Return the bytes that pulling takes at most: operand, mask and result as blocks."""
    (rows, ncols), multiply = job.shape, job.statement.operator.binaryop
    dtype = job.things[job.statement.args[0].slot].dtype
    values = dtype.itemsize * inner * rows if multiply.reads_a else 0
    out = 0 if has_one_value(job.statement) else job.dtype.itemsize * ncols * rows
    # Spelled out, the result has an entry and the place of its value for each position at most.
    listed = (16 + job.dtype.itemsize) * ncols * rows
    return present_bytes(rows, inner) + 2 * present_bytes(rows, ncols) + values + out + listed


def _packed(job: Job, name: str, pieces: Pieces, shape: tuple[int, int], values: Any) -> Any:
    """Return the presence of an operand in the table by column, and fill its values."""
    stage, (rows, ncols) = job.stage, shape
    present = stage.runtime.allocate(present_bytes(rows, ncols))
    stage.runtime.clear(present)
    stage.launch(f"t_pack_{name}", pieces.most, rows, present, values, of="block")
    return present


def _block_of(job: Job, driver: CudaMatrix, shape: tuple[int, int]) -> Block:
    """Return the left operand as a block; kept with the matrix if it is not transposed."""
    arg, rows = job.statement.args[0], shape[0]
    reads = job.statement.operator.binaryop.reads_a
    have = None if arg.transposed else driver.block
    if have is not None and (have.values is not None or not reads):
        return have
    pieces = job.operand(0, "a")
    values = None
    if reads:
        values = pieces.values
        if not pieces.iso:
            values = job.stage.runtime.allocate(pieces.dtype.itemsize * rows * shape[1])
    to = None if values is None or pieces.iso else values
    present = _packed(job, "a", pieces, shape, to)
    made = Block(rows, shape[1], present, values, pieces.iso, job.stage.count(pieces))
    if not arg.transposed:
        driver.block = made
    return made


def pull(weighing: Weighing) -> tuple[Block | Pieces, Callable[[], int]]:
    """Return the product, and what tells how often an entry of B was looked at; waits for a size.

    Raises OutOfMemory if the blocks do not fit.
    """
    job, driver = weighing.job, weighing.driver
    stage, (rows, ncols), inner = job.stage, job.shape, weighing.inner
    if 0 in (rows, ncols, inner) or driver.most == 0 or weighing.matrix.most == 0:
        return job.nothing(job.dtype), lambda: 0
    require(stage.runtime, block_bytes(job, inner), "blocks of vectors")
    block = _block_of(job, driver, (rows, inner))
    mask, driven = weighing.mask_words(), weighing.rows_driven(block)
    job.operand(1, "b", flipped=True, with_rows=False)
    words, is_one = words_of(rows), has_one_value(job.statement)
    items, allocate = ncols * words, stage.runtime.allocate
    found = allocate(present_bytes(rows, ncols))
    out = allocate(job.dtype.itemsize * (1 if is_one else ncols * rows))
    # Columns so long are few.
    most_long = min(ncols, weighing.matrix.most // LONG_COLUMN) * words
    totals = stage.scratch.zeros(3 * _COUNT_BYTES)
    put_off = stage.scratch.take(_COUNT_BYTES * most_long)
    complement = job.statement.mask is not None and job.statement.mask.complement
    given = (
        mask, int(complement), driven, words, block.present, block.values,
        0 if block.iso else 1, rows, items, found, out, totals, put_off,
    )  # fmt: skip
    stage.launch("t_pull", items, *given, of="block")
    if most_long:
        blocks = min(BLOCKS_PER_SM * stage.runtime.multiprocessors, most_long)
        stage.launch("t_pull_long", BLOCK_THREADS * blocks, *given, of="block")
    nvals, looked = (int(n) for n in stage.runtime.download(totals, np.int64, 2))
    job.is_masked = True
    if nvals == 0:
        return job.nothing(job.dtype), lambda: looked
    return Block(rows, ncols, found, out, is_one, nvals), lambda: looked
