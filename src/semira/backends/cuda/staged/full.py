"""Products of which an operand has every entry: its values are read by position."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from semira.backends.cuda.lower.context import Made
from semira.backends.cuda.runtime.lines import Occupied
from semira.backends.cuda.runtime.made import need_made
from semira.backends.cuda.runtime.primitives import BLOCKS_PER_SM, THREADS, offset_type_of
from semira.backends.cuda.runtime.row_pieces import row_pieces
from semira.backends.cuda.staged.bins import MOST_THREADS
from semira.backends.cuda.staged.job import Job
from semira.backends.cuda.staged.method_parts import FullLaunch, full_part
from semira.backends.cuda.staged.pieces import Launch, Pieces
from semira.backends.cuda.staged.product_source import TILED_BYTES
from semira.backends.cuda.staged.sharing import band_of, blocks_of, lanes_of, piece_of
from semira.contract import COLUMNS, Method, packs_of

#: Merge-based products cut the entries into at most so many shares, of at least so many entries
#: each, and carry at most so many bytes from one share to the next.
MOST_SHARES, LEAST_SHARE, MOST_CARRIED = 1 << 14, 128, 1 << 28

#: Side of the part of a dense product that a block makes (kernels/mxm/dense.cuh), and blocks that
#: a launch has at most.
_TILE, _MOST_TILES = 64, 1 << 20

#: Length of rows of two full operands that a block walks by itself, however few blocks there are.
_FEW_STEPS = 128


def is_full(job: Job, which: int) -> bool:
    """Return whether an operand has every entry; waits where only the device knows."""
    return job.matrix(which).is_full()


def full_operand(job: Job, which: int, name: str) -> tuple[int, int]:
    """Enter a full operand in the table as it lies in memory, and return its steps.

    Entry (i, j) is ``values[i * steps[0] + j * steps[1]]``; a transpose swaps them.
    """
    arg, matrix = job.statement.args[which], job.matrix(which)
    if job.stage.offset_type != "int":
        matrix.widen()
    orientation = "csr" if "csr" in matrix.orientations else "csc"
    indptr, _, values = matrix.orientations[orientation]
    sides = matrix.sides(orientation)
    job.stage.operands[name] = Pieces(
        sides, matrix.most, matrix.dtype, indptr, None, None, values, matrix.iso
    )
    by_rows = (orientation == "csr") != arg.transposed
    return (sides[1], 1) if by_rows else (1, sides[1])


def times_full(job: Job) -> tuple[Pieces, Callable[[], int]]:
    """Return sparse A times full B, whose rows are whole, and what tells the entries touched."""
    if is_tiled(job):
        return dense(job)
    if storage_of(job) == COLUMNS:
        return by_columns(job)
    stage, (nrows, ncols), storage = job.stage, job.shape, storage_of(job)
    arg, matrix = job.statement.args[0], job.matrix(0)
    orientation = "csc" if arg.transposed else "csr"
    matrix.need(orientation)
    occupied = matrix.occupied_lines(orientation)
    nvals = occupied.count * ncols
    if nvals == 0:
        job.operand(0, "a", with_rows=False)
        return job.nothing(job.dtype), lambda: 0
    part, held = full_part(job.statement), None
    if part is not None:
        held = need_made(matrix, Made(arg.slot, storage, orientation, _method(job).parameters))
    if stage.offset_type == "int" and (matrix.is_wide or offset_type_of(nvals) != "int"):
        job.widen()
    balance = balance_of(job)
    a = job.operand(0, "a", with_rows=balance == "edges")
    b = full_operand(job, 1, "b")
    indptr = stage.primitives.even_offsets(stage.offset_type, occupied, nrows, ncols)
    values = stage.runtime.allocate(job.dtype.itemsize * nvals)
    given = (*b, occupied.listed, occupied.count, ncols, values)
    if part is not None:
        start, size = partial(stage.launch, of="full"), job.dtype.itemsize
        part.times_full(FullLaunch(start, given, occupied.before, nrows, ncols, size), held, matrix)
    elif balance == "pieces":
        _launch_pieces(job, a, given, occupied)
    else:
        _launch(job, balance, a, given, occupied.before)
    made = Pieces(job.shape, nvals, job.dtype, indptr, None, None, values)
    return made, lambda: stage.count(a) * ncols


def by_columns(job: Job) -> tuple[Pieces, Callable[[], int]]:
    """Return sparse A times full B from A's columns, and what tells the entries touched.

    Every entry adds its row of B to a row of the result, by atomics: no rows of A are made.
    """
    stage, (nrows, ncols), matrix = job.stage, job.shape, job.matrix(0)
    lines, rows = ("csr", "csc") if job.statement.args[0].transposed else ("csc", "csr")
    matrix.need(lines)
    occupied = matrix.occupied_lines(rows)
    nvals = occupied.count * ncols
    if stage.offset_type == "int" and (matrix.is_wide or offset_type_of(nvals) != "int"):
        job.widen()
    a = job.operand(0, "a", flipped=True)
    if nvals == 0:
        return job.nothing(job.dtype), lambda: 0
    b = full_operand(job, 1, "b")
    indptr = stage.primitives.even_offsets(stage.offset_type, occupied, nrows, ncols)
    values = stage.runtime.allocate(job.dtype.itemsize * nvals)
    # Only a sum that has no identity, or takes any operand, asks whether it has one.
    taken = stage.scratch.zeros(-(-nvals // 32) * 4)
    stage.launch("t_spmm_rest", nvals, nvals, values, of="full")
    stage.launch(
        "t_spmm_columns", a.most * ncols, *b, None, occupied.count, ncols, values,
        occupied.before, taken, of="full",
    )  # fmt: skip
    made = Pieces(job.shape, nvals, job.dtype, indptr, None, None, values)
    return made, lambda: stage.count(a) * ncols


def is_tiled(job: Job) -> bool:
    """Return whether both operands are full, and nothing is pinned or too wide for tiles.

    A result of fewer tiles than there are multiprocessors is left to pieces of rows.
    """
    widths = [job.matrix(which).dtype.itemsize for which in range(2)]
    fits = max(*widths, job.dtype.itemsize) <= TILED_BYTES
    is_free = job.statement.hints.balance is None and storage_of(job) == "compressed"
    # Short rows are not cut, however few there are.
    is_wide = _tiles(*job.shape) >= job.stage.runtime.multiprocessors or _inner(job) <= _FEW_STEPS
    return is_free and fits and is_wide and is_full(job, 0)


def storage_of(job: Job) -> str:
    """Return the format of the left operand that is walked; ``compressed`` unless it is pinned."""
    return _method(job).storage


def _method(job: Job) -> Method:
    plan = job.statement.plan
    return Method("direct") if plan is None else plan.methods[0]


def dense(job: Job) -> tuple[Pieces, Callable[[], int]]:
    """Return the product of two full operands, and what tells the entries touched."""
    stage, (nrows, ncols), inner = job.stage, job.shape, _inner(job)
    nvals = nrows * ncols
    job.widens(nvals)
    a, b = full_operand(job, 0, "a"), full_operand(job, 1, "b")
    indptr = stage.primitives.even_offsets(stage.offset_type, Occupied(nrows), nrows, ncols)
    values = stage.runtime.allocate(job.dtype.itemsize * nvals)
    tiles = _tiles(nrows, ncols)
    given = (*a, *b, nrows, inner, ncols, values)
    stage.start(Launch("t_dense", min(tiles, _MOST_TILES), THREADS, 0, given, of="full"))
    made = Pieces(job.shape, nvals, job.dtype, indptr, None, None, values)
    return made, lambda: nvals * inner


def _tiles(nrows: int, ncols: int) -> int:
    return -(-nrows // _TILE) * -(-ncols // _TILE)


def balance_of(job: Job) -> str:
    """Return how to share the work out."""
    if storage_of(job) != "compressed":
        return _method(job).balance
    return job.statement.hints.balance or "pieces"


def _launch_pieces(job: Job, a: Pieces, given: tuple[Any, ...], occupied: Occupied) -> None:
    """Start a thread, or a few, a piece of a line and pack of columns, and what adds pieces up."""
    stage, lines, ncols, values = job.stage, given[3], given[4], given[5]
    itemsize, packs = job.dtype.itemsize, packs_of(given[4], job.dtype.itemsize)
    length = piece_of(packs)
    # Long lines have less than twice as many pieces as their entries fill.
    while length < a.most and 2 * (a.most // length + 1) * ncols * itemsize > MOST_CARRIED:
        length *= 2
    pieces = row_pieces(stage.primitives, stage.offset_type, a.indptr, occupied, length)
    count = pieces.count if pieces.num_long else lines
    lanes = lanes_of(count, a.most, packs)
    band = band_of(ncols, itemsize)
    # The last band may have less than is counted here.
    turns = count * lanes * -(-ncols // band) * (band * packs // ncols)
    blocks = blocks_of(turns, stage.runtime.multiprocessors)
    given = (*given, band, lanes)
    if not pieces.num_long:
        stage.start(Launch("t_spmm_thread", blocks, THREADS, 0, given, of="full"))
        return
    cut = pieces.describe(stage.scratch.take(itemsize * ncols * pieces.slots))
    stage.start(Launch("t_spmm_pieces", blocks, THREADS, 0, given, of="full"), *cut)
    tiles = -(-ncols // 32)
    wanted = max(pieces.num_many * tiles, -(-32 * pieces.num_long * tiles // MOST_THREADS))
    blocks = min(BLOCKS_PER_SM * stage.runtime.multiprocessors, wanted)
    added = Launch("t_spmm_slots", blocks, MOST_THREADS, 0, (ncols, values), of="full")
    stage.start(added, *cut)


def _launch(job: Job, balance: str, a: Pieces, given: tuple[Any, ...], line_of: Any) -> None:
    lines, ncols, launch = given[3], given[4], partial(job.stage.launch, of="full")
    itemsize, packs = job.dtype.itemsize, packs_of(ncols, job.dtype.itemsize)
    if balance == "thread":
        launch("t_spmm_thread", lines * packs, *given, ncols, 1)
        return
    tiles = -(-packs // 32)
    if balance == "rows":
        launch("t_spmm_rows", 32 * lines * tiles, *given)
        return
    most = max(1, min(MOST_SHARES, MOST_CARRIED // (itemsize * ncols)))
    per_share = max(LEAST_SHARE, -(-a.most // most))
    shares = -(-a.most // per_share)
    take, values = job.stage.scratch.take, given[5]
    carried, carries = take(8 * shares), take(itemsize * ncols * shares)
    to = (line_of, shares, per_share, carried, carries)
    width = min(32, 1 << (packs - 1).bit_length())
    launch("t_spmm_edges", shares * tiles * width, *given, *to)
    launch("t_spmm_carries", shares * ncols, ncols, values, *to)


def masked_full(job: Job) -> Launch:
    """Return the launch of the dot products under a mask, B being full, and A perhaps as well."""
    stage = job.stage
    b = full_operand(job, 1, "b")
    if is_full(job, 0):
        a = full_operand(job, 0, "a")
        name, steps = "full", (*a, _inner(job))
    else:
        job.operand(0, "a", with_rows=False)
        name, steps = "sparse", (0, 0, 0)
    lanes = 1 if b[1] == 1 else 32
    mask: Pieces = stage.operands["mask"]
    most = BLOCKS_PER_SM * stage.runtime.multiprocessors
    blocks = max(1, min(most, -(-mask.most * lanes // THREADS)))
    given = (*steps, *b)
    return Launch(f"t_{name}_times_full{lanes}", blocks, THREADS, 0, given, of="full")


def _inner(job: Job) -> int:
    """Return the length of A's rows."""
    matrix = job.matrix(0)
    return matrix.nrows if job.statement.args[0].transposed else matrix.ncols


def full_times(job: Job) -> tuple[Pieces, Callable[[], int]]:
    """Return full A times sparse B, and what tells the entries touched."""
    stage, (nrows, ncols) = job.stage, job.shape
    matrix = job.matrix(1)
    orientation = "csr" if job.statement.args[1].transposed else "csc"
    matrix.need(orientation)
    occupied = matrix.occupied_lines(orientation)
    nvals = nrows * occupied.count
    if nvals == 0:
        full_operand(job, 0, "a")
        return job.nothing(job.dtype), lambda: 0
    job.widens(nvals)
    a = full_operand(job, 0, "a")
    b = job.operand(1, "b", flipped=True, with_rows=False)
    is_whole = occupied.count == ncols
    runtime = stage.runtime
    every, width = Occupied(nrows), occupied.count
    indptr = stage.primitives.even_offsets(stage.offset_type, every, nrows, width)
    rows, indices = (None if is_whole else runtime.allocate(4 * nvals) for _ in range(2))
    values = runtime.allocate(job.dtype.itemsize * nvals)
    stage.launch(
        "t_full_left", nvals, *a, occupied.listed, occupied.count, nrows, rows,
        indices, values, of="full",
    )  # fmt: skip
    made = Pieces(job.shape, nvals, job.dtype, indptr, indices, rows, values)
    return made, lambda: stage.count(b) * nrows
