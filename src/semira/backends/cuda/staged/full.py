"""Products of which an operand has every entry: its values are read by position."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from semira.backends.cuda.runtime.objects import CudaMatrix
from semira.backends.cuda.runtime.primitives import BLOCKS_PER_SM, THREADS, offset_type_of
from semira.backends.cuda.staged.pieces import Launch, Pieces
from semira.backends.cuda.staged.product_source import TILED_BYTES
from semira.contract import Arg

if TYPE_CHECKING:
    from semira.backends.cuda.staged.run import Job

#: Merge-based products cut the entries into at most so many shares, of at least so many entries
#: each, and carry at most so many bytes from one share to the next.
MOST_SHARES, LEAST_SHARE, MOST_CARRIED = 1 << 14, 128, 1 << 28

#: Mean entries of rows that are cut where they are fewer than warps: a warp alone takes some
#: hundred microseconds for one, cutting them a second launch. Counted, not measured.
VERY_LONG = 8 * LEAST_SHARE

#: Warps that a multiprocessor holds.
_WARPS = 64

#: Side of the part of a dense product that a block makes (kernels/mxm/dense.cuh), and blocks that
#: a launch has at most.
_TILE, _MOST_TILES = 64, 1 << 20

#: Bytes that a thread loads or stores at a time.
_LOAD = 16


@dataclass(frozen=True, slots=True)
class FullOperand:
    """An operand that has every entry, at ``values[i * step_i + j * step_j]``.

    Attributes
    ----------
    pieces : Pieces
        Without indices.
    step_i, step_j : int
    """

    pieces: Pieces
    step_i: int
    step_j: int


def is_full(job: Job, which: int) -> bool:
    """Return whether an operand has every entry; waits where only the device knows."""
    thing = job.things[job.statement.args[which].slot]
    return bool(thing.is_full())


def full_operand(job: Job, which: int, name: str) -> FullOperand:
    """Enter a full operand in the table as it lies in memory; a transpose swaps its steps."""
    arg: Arg = job.statement.args[which]
    matrix: CudaMatrix = job.things[arg.slot]
    if job.stage.offset_type != "int":
        matrix.widen()
    orientation = "csr" if "csr" in matrix.orientations else "csc"
    indptr, _, values = matrix.orientations[orientation]
    sides = matrix.sides(orientation)
    pieces = Pieces(sides, matrix.most, matrix.dtype, indptr, None, None, values, matrix.iso)
    job.stage.operands[name] = pieces
    by_rows = (orientation == "csr") != arg.transposed
    return FullOperand(pieces, *((sides[1], 1) if by_rows else (1, sides[1])))


def times_full(job: Job) -> tuple[Pieces, Callable[[], int]]:
    """Return sparse A times full B, whose rows are whole, and what tells the entries touched."""
    if is_tiled(job):
        return dense(job)
    stage, (nrows, ncols) = job.stage, job.shape
    arg = job.statement.args[0]
    matrix: CudaMatrix = job.things[arg.slot]
    orientation = "csc" if arg.transposed else "csr"
    matrix.need(orientation)
    occupied = matrix.occupied_lines(orientation)
    nvals = occupied.count * ncols
    if nvals == 0:
        job.operand(0, "a", with_rows=False)
        return job.nothing(job.dtype), lambda: 0
    if stage.offset_type == "int" and offset_type_of(nvals) != "int":
        job.widen()
    balance = _balance(job, matrix, occupied.count)
    a = job.operand(0, "a", with_rows=balance == "edges")
    b = full_operand(job, 1, "b")
    indptr = stage.offsets(nrows + 1)
    stage.primitives.module.launch(
        stage.offset_type, "semira_even_offsets", nrows + 1, occupied.before, nrows, ncols, indptr
    )
    values = stage.runtime.allocate(job.dtype.itemsize * nvals)
    given = (b.step_i, b.step_j, occupied.listed, occupied.count, ncols, values)
    _launch(job, balance, a, given, occupied.before)
    made = Pieces(job.shape, nvals, job.dtype, indptr, None, None, values)
    return made, lambda: stage.count(a) * ncols


def is_tiled(job: Job) -> bool:
    """Return whether both operands are full, and nothing is pinned or too wide for tiles."""
    widths = [job.things[arg.slot].dtype.itemsize for arg in job.statement.args]
    fits = max(*widths, job.dtype.itemsize) <= TILED_BYTES
    return job.statement.hints.balance is None and fits and is_full(job, 0)


def dense(job: Job) -> tuple[Pieces, Callable[[], int]]:
    """Return the product of two full operands, and what tells the entries touched."""
    stage, (nrows, ncols), inner = job.stage, job.shape, _inner(job)
    nvals = nrows * ncols
    if stage.offset_type == "int" and offset_type_of(nvals) != "int":
        job.widen()
    a, b = full_operand(job, 0, "a"), full_operand(job, 1, "b")
    indptr = stage.offsets(nrows + 1)
    stage.primitives.module.launch(
        stage.offset_type, "semira_even_offsets", nrows + 1, None, nrows, ncols, indptr
    )
    values = stage.runtime.allocate(job.dtype.itemsize * nvals)
    tiles = -(-nrows // _TILE) * -(-ncols // _TILE)
    given = (a.step_i, a.step_j, b.step_i, b.step_j, nrows, inner, ncols, values)
    stage.start(Launch("t_dense", min(tiles, _MOST_TILES), THREADS, 0, given, is_full=True))
    made = Pieces(job.shape, nvals, job.dtype, indptr, None, None, values)
    return made, lambda: nvals * inner


def _balance(job: Job, matrix: CudaMatrix, lines: int) -> str:
    """Return how to share the work out: pinned, else by the mean length of A's lines.

    A line is a warp's work by `rows`, which leaves most of the GPU idle where there are a few.
    """
    statement = job.statement
    if statement.hints.balance is not None:
        return statement.hints.balance
    long_line = statement.plan.methods[0].long_line if statement.plan is not None else 0.0
    are_few = lines * _tiles(job) < _WARPS * job.stage.runtime.multiprocessors
    if are_few and matrix.nvals > VERY_LONG * lines:
        return "edges"
    return "rows" if matrix.nvals > long_line * lines else "edges"


def _packs(job: Job) -> int:
    """Return the packs of columns that lanes take."""
    ncols, across = job.shape[1], max(1, min(4, _LOAD // job.dtype.itemsize))
    return ncols // across if ncols % across == 0 else ncols


def _tiles(job: Job) -> int:
    """Return the tiles of columns that warps take."""
    return -(-_packs(job) // 32)


def _launch(job: Job, balance: str, a: Pieces, given: tuple[Any, ...], line_of: Any) -> None:
    lines, ncols = given[3], given[4]
    itemsize = job.dtype.itemsize
    packs, tiles = _packs(job), _tiles(job)
    if balance == "thread":
        job.stage.launch_full("t_spmm_thread", lines * packs, *given)
        return
    if balance == "rows":
        job.stage.launch_full("t_spmm_rows", 32 * lines * tiles, *given)
        return
    most = max(1, min(MOST_SHARES, MOST_CARRIED // (itemsize * ncols)))
    per_share = max(LEAST_SHARE, -(-a.most // most))
    shares = -(-a.most // per_share)
    take, values = job.stage.scratch.take, given[5]
    carried, carries = take(8 * shares), take(itemsize * ncols * shares)
    to = (line_of, shares, per_share, carried, carries)
    width = min(32, 1 << (packs - 1).bit_length())
    job.stage.launch_full("t_spmm_edges", shares * tiles * width, *given, *to)
    job.stage.launch_full("t_spmm_carries", shares * ncols, ncols, values, *to)


def masked_full(job: Job) -> Launch:
    """Return the launch of the dot products under a mask, B being full, and A perhaps as well."""
    stage = job.stage
    b = full_operand(job, 1, "b")
    if is_full(job, 0):
        a = full_operand(job, 0, "a")
        name, steps = "full", (a.step_i, a.step_j, _inner(job))
    else:
        job.operand(0, "a", with_rows=False)
        name, steps = "sparse", (0, 0, 0)
    lanes = 1 if b.step_j == 1 else 32
    mask: Pieces = stage.operands["mask"]
    most = BLOCKS_PER_SM * stage.runtime.multiprocessors
    blocks = max(1, min(most, -(-mask.most * lanes // THREADS)))
    given = (*steps, b.step_i, b.step_j)
    return Launch(f"t_{name}_times_full{lanes}", blocks, THREADS, 0, given, is_full=True)


def _inner(job: Job) -> int:
    """Return the length of A's rows."""
    arg = job.statement.args[0]
    matrix: CudaMatrix = job.things[arg.slot]
    return matrix.nrows if arg.transposed else matrix.ncols


def full_times(job: Job) -> tuple[Pieces, Callable[[], int]]:
    """Return full A times sparse B, and what tells the entries touched."""
    stage, (nrows, ncols) = job.stage, job.shape
    arg = job.statement.args[1]
    matrix: CudaMatrix = job.things[arg.slot]
    orientation = "csr" if arg.transposed else "csc"
    matrix.need(orientation)
    occupied = matrix.occupied_lines(orientation)
    nvals = nrows * occupied.count
    if nvals == 0:
        full_operand(job, 0, "a")
        return job.nothing(job.dtype), lambda: 0
    if stage.offset_type == "int" and offset_type_of(nvals) != "int":
        job.widen()
    a = full_operand(job, 0, "a")
    b = job.operand(1, "b", flipped=True, with_rows=False)
    is_whole = occupied.count == ncols
    runtime = stage.runtime
    indptr = stage.offsets(nrows + 1)
    stage.primitives.module.launch(
        stage.offset_type, "semira_even_offsets", nrows + 1, None, nrows, occupied.count, indptr
    )
    rows, indices = (None if is_whole else runtime.allocate(4 * nvals) for _ in range(2))
    values = runtime.allocate(job.dtype.itemsize * nvals)
    stage.launch_full(
        "t_full_left", nvals, a.step_i, a.step_j, occupied.listed, occupied.count, nrows, rows,
        indices, values,
    )  # fmt: skip
    made = Pieces(job.shape, nvals, job.dtype, indptr, indices, rows, values)
    return made, lambda: stage.count(b) * nrows
