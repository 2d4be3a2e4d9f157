"""The kernels of a product of matrices as text."""

from __future__ import annotations

from dataclasses import dataclass

from semira.backends.cuda.jit.literals import literal
from semira.backends.cuda.lower.context import Context
from semira.backends.cuda.runtime.primitives import THREADS
from semira.backends.cuda.staged.bins import MOST_THREADS
from semira.backends.cuda.staged.method_parts import DotText, FullText, dots_part, full_part
from semira.backends.cuda.staged.sharing import RESIDENT, RESIDENT_WIDE
from semira.backends.cuda.staged.text import (
    FILL,
    OUT,
    ROW_LIST,
    TABLE,
    Text,
    entries,
    has_dots,
    kernel,
    masks_rows,
    result_dtype,
)
from semira.base.dtypes import DataType
from semira.contract import COLUMNS, Program, Statement


def multiplied(text: Text) -> tuple[str, list[str]]:
    """Return the semiring of a product, and the declarations of its operands."""
    semiring = text.ctx.semiring(text.statement.operator, vector_first=False)
    if text.statement.plan is not None and text.statement.plan.ordered:
        semiring = f"InOrder<{semiring}>"
    return semiring, [entries("a", text.ctype(0)), entries("b", text.ctype(1))]


def _masked(text: Text) -> tuple[str, list[str]]:
    """Return the same of dot products, the mask's declaration last."""
    semiring, declared = multiplied(text)
    assert text.statement.mask is not None
    return semiring, [*declared, entries("mask", text.ctx.ctype(text.statement.mask.slot))]


def product_kernels(text: Text) -> list[str]:
    """Return the kernels of a ``mxm`` of two sparse operands."""
    return _dots(text) if has_dots(text.statement) else _rowwise(text, *multiplied(text))


def _stops(text: Text) -> str:
    """Return whether sums can be final before their last operand."""
    return str(text.statement.operator.monoid.exits_early).lower()


_COLUMNS = "long long ncols"
WRITTEN = "Offset* indptr, Index* indices, Index* rows, void* values"


@dataclass(frozen=True, slots=True)
class _Emit:
    """What becomes of dot products."""

    #: Of the kernels.
    parameters: str
    #: Lines round the products.
    before: tuple[str, ...]
    #: What is called with each of them.
    name: str
    after: tuple[str, ...] = ()


def _kept(semiring: str) -> _Emit:
    """Let dot products wait for the merge that writes the result."""
    value = f"typename {semiring}::Add::T"
    keep = f"const KeepDots<{value}> keep{{static_cast<{value}*>(found), flags}};"
    return _Emit("void* found, Offset* flags", (keep,), "keep")


def _dots(text: Text) -> list[str]:
    semiring, declared = _masked(text)
    value = f"typename {semiring}::Add::T"
    fill = (
        f"merge_fill<{value}>(Flagged<{value}>{{static_cast<const {value}*>(found)}}, mask, mask, "
        f"scan_x, scan_y, nrows, {OUT});"
    )
    return [
        # Beside the code that stores, merges take several times as long as in a sum (decision 39).
        *_dot_kernels(text, semiring, declared, _kept(semiring), "kSearch"),
        kernel("t_fill", f"const void* found, {FILL}", declared[-1], fill),
    ]


#: How lists meet where that is pinned, in the words of kernels/mxm/entrywise.cuh.
_MEETINGS = {"merge": "kMerge", "search": "kSearch"}


def _dot_kernels(
    text: Text, semiring: str, declared: list[str], emit: _Emit, unpinned: str
) -> list[str]:
    assert text.statement.mask is not None
    exits, structural = _stops(text), str(text.statement.mask.structural).lower()
    lines, part = [*declared, *emit.before], dots_part(text.statement)
    if part is not None:
        given = DotText(
            text.statement, exits, structural, semiring, emit.parameters, lines, emit.name,
            emit.after,
        )  # fmt: skip
        kernels: list[str] = part.dot_kernels(given)
        return kernels
    meeting = _MEETINGS.get(text.statement.hints.intersect or "", unpinned)
    return [
        kernel(
            "t_dots_by_entry", f"long long search_cost, {emit.parameters}", *lines,
            f"dot_entries<{exits}, {meeting}, {semiring}, {structural}>(",
            f"    a, b, mask, static_cast<unsigned>(search_cost), {emit.name});", *emit.after,
            threads=THREADS,
        )
    ]  # fmt: skip


def summed_source(program: Program, product: Statement, total: Statement) -> str:
    """Return the C++ source of ``s accum= sum of C``, ``C<M> = A (+).(*) B``."""
    text = Text(Context(program), product)
    kernels = _dot_kernels(text, *_masked(text), _summed(text, total), "kByCount")
    return "\n".join([*text.ctx.structs.values(), TABLE, *kernels])


def _summed(text: Text, total: Statement) -> _Emit:
    """Let dot products be summed up into the scalar that `total` writes."""
    ctx, monoid = text.ctx, total.operator
    add, out, value = ctx.monoid(monoid), ctx.ctype(total.out), monoid.type.cuda_type
    product = text.statement
    made = ctx.program.slots[product.out].dtype
    is_alike = monoid is product.operator.monoid and made is monoid.type
    shares = str(is_alike).lower()
    write = [f"Scalar<{out}> out(g->x);"]
    if total.param("identity"):
        whole = f"Scalar<{value}>({literal(monoid.type, monoid.identity)}, true)"
        write.append(f"if (!total.has) total = {whole};")
    if total.accum is not None and not total.param("new"):
        write.append(f"scalar_accumulate<{ctx.operator(total.accum)}>(out, total);")
    else:
        write.append("scalar_write(out, total);")
    return _Emit(
        "void* values, Count* counts, long long first, long long parts, unsigned* ticket, "
        "SumTally* tally",
        (
            "start_clock(tally, first);",
            f"DotSum<{add}, {text.out_type}> sum;",
            f"const SumDots<decltype(sum), {shares}> take{{sum}};",
        ),
        "take",
        (
            f"const auto write = [&](Scalar<{value}> total) {{",
            *(f"  {line}" for line in write),
            "  out.store(g->x);",
            "};",
            "sum.finish({values, counts, first, parts, ticket, tally}, write);",
        ),
    )


def row_mask(text: Text) -> str:
    """Return the columns that the rows of a product may have."""
    mask = text.statement.mask
    if not masks_rows(text.statement):
        return "RowMask()"
    assert mask is not None
    entries_type = f"Entries<{text.ctx.ctype(mask.slot)}>"
    return f"RowMask(pattern_of({entries_type}(g->mask)), {str(mask.complement).lower()})"


def _rowwise(text: Text, semiring: str, declared: list[str]) -> list[str]:
    given = (
        f"{ROW_LIST}, const long long* work, const long long* starts, long long* sizes, {_COLUMNS}"
    )
    listed = "a, b, mask, RowList(lists, {ledger}, bin), RowRooms{work, starts, sizes, ncols}"
    declared = [*declared, f"const RowMask mask = {row_mask(text)};"]
    kernels = [
        kernel(
            f"t_by_table{lanes}", f"{given}, long long most, {WRITTEN}", *declared,
            f"fill_by_table<{lanes}, {semiring}>({listed}, most, {OUT});", threads=MOST_THREADS,
        )
        for lanes in (8, 32, 0)
    ]  # fmt: skip
    call = f"fill_by_lane<{semiring}>({listed}, {OUT});"
    # Places, columns and values of a few rows are in registers.
    lane = kernel("t_by_lane", f"{given}, {WRITTEN}", *declared, call, threads=THREADS, blocks=3)
    given = f"{given}, long long columns, Offset* cursors, long long room, {WRITTEN}"
    walked = f"{listed}, static_cast<unsigned>(columns), {{cursors, room}}, {OUT}"
    call = f"fill_by_window<{semiring}>({walked});"
    # As many blocks as have room for their windows.
    window = kernel("t_by_window", given, *declared, call, threads=MOST_THREADS, blocks=3)
    return [*kernels, lane, window]


# full operands -----------------------------------------------------------------------------------
def full_source(program: Program, product: Statement, total: Statement | None = None) -> str:
    """Return the C++ source of a product of which an operand has every entry.

    `total` is the sum of it, where nothing else is made of it.
    """
    text = Text(Context(program), product)
    if has_dots(product):
        semiring, declared = _masked(text)
        emit = _kept(semiring) if total is None else _summed(text, total)
        kernels = _masked_full(text, semiring, declared, emit)
    else:
        kernels = _unmasked_full(text, *multiplied(text))
    return "\n".join([*text.ctx.structs.values(), TABLE, *kernels])


#: Bytes of the widest values of which tiles fit the memory of a block.
TILED_BYTES = 16


def _dtypes(text: Text) -> list[DataType]:
    slots = text.ctx.program.slots
    operands = [slots[arg.slot].dtype for arg in text.statement.args]
    return [*operands, result_dtype(text.ctx.program, text.statement)]


_STEPS = "long long step_k, long long step_j"
_SHARING = "long long band, long long lanes"


def _masked_full(text: Text, semiring: str, declared: list[str], emit: _Emit) -> list[str]:
    assert text.statement.mask is not None
    flags = f"{_stops(text)}, {semiring}, {str(text.statement.mask.structural).lower()}"
    a_type = text.ctype(0)
    lines = [
        *declared,
        f"const Full<{a_type}> full_a(a, along_i, along_k);",
        f"const Full<{text.ctype(1)}> full_b(b, step_k, step_j);",
        *emit.before,
    ]
    return [
        kernel(
            f"t_{name}_times_full{lanes}",
            f"long long along_i, long long along_k, long long inner, {_STEPS}, {emit.parameters}",
            *lines,
            f"masked_times_full<{row}<{a_type}>, {lanes}, {flags}>(",
            f"    a, full_a, inner, full_b, mask, {emit.name});",
            *emit.after,
            threads=THREADS,
        )
        for name, row in (("sparse", "SparseRow"), ("full", "FullRow"))
        for lanes in (1, 32)
    ]


def _unmasked_full(text: Text, semiring: str, declared: list[str]) -> list[str]:
    a, b, exits = text.ctype(0), text.ctype(1), _stops(text)
    value = f"typename {semiring}::Add::T"
    given = f"{_STEPS}, const Index* lines, long long num_lines, long long ncols, void* out"
    product = [
        *declared,
        f"const SparseTimesFull<{semiring}, {a}, {b}> product{{",
        f"    a, Full<{b}>(b, step_k, step_j), lines, num_lines, ncols,",
        f"    static_cast<{value}*>(out)}};",
    ]
    plan = text.statement.plan
    if plan is not None and plan.methods[0].storage == COLUMNS:
        return _column_kernels(semiring, given, product)
    part = full_part(text.statement)
    if part is not None:
        return [part.full_kernel(FullText(f"{semiring}, {a}, {b}", a, exits, given, product))]
    resident = _resident(text)
    return [
        *_dense_kernel(text, semiring, declared),
        kernel(
            "t_spmm_thread", f"{given}, {_SHARING}", *product,
            f"spmm_by_thread<{exits}>(product, Sharing{{band, lanes}});",
            threads=THREADS, blocks=resident,
        ),
        kernel("t_spmm_rows", given, *product, f"spmm_by_row<{exits}>(product);"),
        *_piece_kernels(semiring, exits, given, product, resident),
        *_share_kernels(semiring, given, product),
        kernel(
            "t_full_left",
            f"{_STEPS}, const Index* lines, long long num_lines, long long nrows, Index* rows, "
            "Index* indices, void* out",
            *declared,
            f"full_times_sparse<{exits}, {semiring}>(Full<{a}>(a, step_k, step_j), b, lines, "
            f"num_lines, nrows, rows, indices, static_cast<{value}*>(out));",
        ),
    ]  # fmt: skip


def _resident(text: Text) -> str:
    """Return, as C++, how many blocks of a multiprocessor are to find registers; empty: any."""
    sizes = {dtype.itemsize for dtype in _dtypes(text)}
    # Others would keep some of theirs in memory.
    return f"sizeof(Offset) == 4 ? {RESIDENT} : {RESIDENT_WIDE}" if sizes <= {4, 8} else ""


def _dense_kernel(text: Text, semiring: str, declared: list[str]) -> list[str]:
    if max(dtype.itemsize for dtype in _dtypes(text)) > TILED_BYTES:
        return []
    value = f"typename {semiring}::Add::T"
    return [
        kernel(
            "t_dense",
            f"long long along_i, long long along_k, {_STEPS}, long long nrows, "
            "long long inner, long long ncols, void* out",
            *declared,
            f"const Full<{text.ctype(0)}> full_a(a, along_i, along_k);",
            f"const Full<{text.ctype(1)}> full_b(b, step_k, step_j);",
            f"multiply_dense<{semiring}>(full_a, full_b, nrows, inner, ncols, "
            f"static_cast<{value}*>(out));",
            threads=THREADS,
        )
    ]


def _piece_kernels(
    semiring: str, exits: str, given: str, product: list[str], resident: str
) -> list[str]:
    value = f"typename {semiring}::Add::T"
    cut = (
        "const long long* begins, const int* owners, const int* piece_rows, long long count, "
        "const int* long_lines, const int* starts, long long num_long, const int* many, "
        "long long num_many, void* sums"
    )
    pieces = (
        f"const LinePieces<{value}> pieces{{",
        "    begins, owners, piece_rows, count, long_lines, starts, num_long, many, num_many,",
        f"    static_cast<{value}*>(sums)}};",
    )
    add = f"add_pieces<typename {semiring}::Add>(pieces, ncols, static_cast<{value}*>(out));"
    call = f"spmm_by_piece<{exits}>(product, pieces, Sharing{{band, lanes}});"
    slots = f"long long ncols, void* out, {cut}"
    given = f"{given}, {_SHARING}, {cut}"
    lines = (*product, *pieces, call)
    return [
        kernel("t_spmm_pieces", given, *lines, threads=THREADS, blocks=resident),
        kernel("t_spmm_slots", slots, *pieces, add, threads=MOST_THREADS),
    ]


def _share_kernels(semiring: str, given: str, product: list[str]) -> list[str]:
    value = f"typename {semiring}::Add::T"
    shares = (
        "const int* line_of, long long shares, long long per_share, long long* carried, "
        "void* carries"
    )
    carry = (
        f"const Carries<{value}> to{{",
        f"    line_of, shares, per_share, carried, static_cast<{value}*>(carries)}};",
    )
    call = "spmm_by_share(product, to);"
    add = f"add_carries<typename {semiring}::Add>(to, ncols, static_cast<{value}*>(out));"
    return [
        kernel("t_spmm_edges", f"{given}, {shares}", *product, *carry, call),
        kernel("t_spmm_carries", f"long long ncols, void* out, {shares}", *carry, add),
    ]


def _column_kernels(semiring: str, given: str, product: list[str]) -> list[str]:
    add = f"typename {semiring}::Add"
    given = f"{given}, const int* line_of, unsigned* taken"
    opened = f"open_sums<{add}>(count, static_cast<{add}::T*>(out));"
    return [
        kernel("t_spmm_rest", "long long count, void* out", opened),
        kernel("t_spmm_columns", given, *product, "spmm_by_column(product, line_of, taken);"),
    ]
