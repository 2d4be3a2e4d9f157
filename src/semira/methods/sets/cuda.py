"""Sets on the GPU: in the memory of a warp, or of a block, by the lengths of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from semira.backends.cuda.runtime.primitives import BLOCKS_PER_SM, THREADS
from semira.backends.cuda.staged.bins import LAST, MOST_THREADS, SHARED, bin_rows, worthwhile_bins
from semira.backends.cuda.staged.job import Job
from semira.backends.cuda.staged.method_parts import DotText
from semira.backends.cuda.staged.pieces import Launch, Pieces
from semira.backends.cuda.staged.text import ROW_LIST, kernel
from semira.base.errors import PlanError
from semira.contract import Statement

_BY_ENTRY = '#include "semira.methods.sets.kernels:by_entry.cuh"\n'

#: Bytes beside the column in a slot of a table that dot products look up: a place in the row.
_PLACE = 4

#: The mean length of both operands' lines up to which the tables of a warp are large enough; and
#: the bytes that each warp has for a set: 32 KB a block.
SHORT_LINES, WARP_BYTES = 24, 4096


def kind_of(statement: Statement) -> str:
    """Return the kind of set: ``hash`` or ``bitmap``."""
    assert statement.plan is not None
    return str(dict(statement.plan.methods[0].parameters)["kind"])


def dot_kernels(text: DotText) -> list[str]:
    """Return the kernels: by entries of the mask, and by rows of each length."""
    types = f"{text.semiring}, {text.structural}"
    rows = [
        kernel(
            f"t_dots{lanes}",
            f"{ROW_LIST}, long long most, long long mean, long long words, {text.parameters}",
            *text.lines,
            f"dot_rows<{text.exits}, {lanes}, {types}>(",
            f"    a, b, mask, RowList(lists, {{ledger}}, bin), most, mean, words, {text.emit});",
            *text.after,
            threads=MOST_THREADS,
        )
        for lanes in (8, 32, 0)
    ]
    bits = str(kind_of(text.statement) == "bitmap").lower()
    by_entry = kernel(
        "t_dots_by_entry",
        f"long long words, long long slots, {text.parameters}",
        *text.lines,
        f"const LookUpRows<{bits}, {text.semiring}::Multiply::kReadsA> sets(words, slots);",
        f"dot_entries<{text.exits}, kSearch, {types}>(a, b, mask, 0, {text.emit}, sets);",
        *text.after,
        threads=THREADS,
    )
    return [_BY_ENTRY + rows[0], *rows[1:], by_entry]


def dot_launches(job: Job, a: Pieces, b: Pieces) -> list[Launch]:
    """Return the launches that compute every dot product.

    Nothing is waited for: how many rows a bin has is known on the device, and enough there.

    Raises
    ------
    PlanError
        Bits are pinned, and those of a row do not fit the memory of a block.
    """
    mask: Pieces = job.stage.operands["mask"]
    sets = _Sets.of(job, a.shape[1])
    if has_room(sets, max(a.mean, b.mean)):
        return [_by_entry(job, mask, sets)]
    return list(_by_rows(job, (a, b), mask, sets))


def has_room(sets: _Sets, mean: int) -> bool:
    """Return whether the memory of a warp has room for a set of most rows."""
    return sets.fits_warp or (mean <= SHORT_LINES and not sets.is_pinned)


@dataclass(frozen=True, slots=True)
class _Sets:
    """What the columns of a row are looked up in.

    Attributes
    ----------
    slot_bytes : int
        Of a table.
    words : int
        Of 32 bits, one bit for each column; 0: a bit does not tell enough, or tables are pinned.
    is_pinned : bool
        Nothing but bits will do.
    """

    slot_bytes: int
    words: int
    is_pinned: bool

    @classmethod
    def of(cls, job: Job, columns: int) -> _Sets:
        is_pinned = kind_of(job.statement) == "bitmap"
        are_bits = not job.statement.operator.binaryop.reads_a
        words = -(-columns // 32) if are_bits and is_pinned else 0
        if is_pinned and 4 * words > SHARED:
            raise PlanError(
                f"mxm: intersect='bitmap' needs {4 * words} bytes of shared memory for a row of "
                f"{columns} columns, a block has {SHARED}; choose 'hash', or leave the pin out"
            )
        return cls(4 if are_bits else 4 + _PLACE, words, is_pinned)

    @property
    def fits_warp(self) -> bool:
        """Whether a row of any length has its bits in the memory of a warp."""
        return 0 < 4 * self.words <= WARP_BYTES

    def words_in(self, nbytes: int) -> int:
        """Return the words of a row's bits if they fit into `nbytes`, else 0."""
        return self.words if 4 * self.words <= nbytes else 0


def _by_entry(job: Job, mask: Pieces, sets: _Sets) -> Launch:
    """Return the launch in which each warp takes 32 entries of the mask at a time."""
    multiprocessors = job.stage.runtime.multiprocessors
    blocks = max(1, min(BLOCKS_PER_SM * multiprocessors, -(-mask.most // THREADS)))
    words = sets.words_in(WARP_BYTES)
    slots = 0 if words else WARP_BYTES // sets.slot_bytes
    shared = THREADS // 32 * (4 * words + sets.slot_bytes * slots)
    return Launch("t_dots_by_entry", blocks, THREADS, shared, (words, slots), is_lasting=True)


def _by_rows(
    job: Job, operands: tuple[Pieces, Pieces], mask: Pieces, sets: _Sets
) -> Iterator[Launch]:
    """Yield a launch for every bin of rows; those in none have nothing to multiply."""
    stage, nrows, (a, b) = job.stage, job.shape[0], operands
    sizes = stage.counts(nrows)
    stage.primitives.module.launch(
        stage.offset_type, "semira_count_looked_up", nrows, a.indptr, mask.indptr, nrows, sizes
    )
    multiprocessors = stage.runtime.multiprocessors
    bins = () if sets.is_pinned else worthwhile_bins(_PLACE, nrows, a.shape[1], multiprocessors)
    binned = bin_rows(stage.primitives, sizes, (nrows, a.shape[1]), bins)
    rest = () if bins and bins[-1].limit >= a.shape[1] else (LAST,)
    for one in (*rest, *reversed(bins)):
        blocks = one.blocks(min(nrows, mask.most), multiprocessors)
        tables = one.table_bytes(sets.slot_bytes - 4)
        # A block for each row: bits in its table's place, or wherever there is no table.
        words = 0 if one.lanes else sets.words_in(tables or SHARED)
        given = (binned.lists, binned.ledger, one.number, one.slots, b.mean, words)
        yield Launch(f"t_dots{one.lanes}", blocks, one.threads, tables or 4 * words, given)
