"""The kernels of one matrix statement as text: a few lines that call the templates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from semira.backends.cuda.jit.literals import literal
from semira.backends.cuda.lower.context import Context, check_dtype, check_moves, unsupported
from semira.backends.cuda.lower.pointwise import accum_text
from semira.backends.cuda.runtime.primitives import THREADS
from semira.backends.cuda.staged.bins import MOST_THREADS
from semira.base.dtypes import DataType
from semira.contract import Program, Statement
from semira.ops import TypedMonoid

#: Operands by name, in the table every staged kernel is given.
ENTRIES = ("a", "b", "t", "out", "mask")
SCALARS = ("x", "y")

TABLE = (
    "struct Table {\n"
    + "".join(f"  EntriesDescriptor {name};\n" for name in ENTRIES)
    + "".join(f"  ScalarDescriptor {name};\n" for name in SCALARS)
    + "};\n"
)


@dataclass(slots=True)
class Text:
    """What the generators of one statement share."""

    ctx: Context
    statement: Statement

    def ctype(self, which: int) -> str:
        """Return the C++ type of an operand's values."""
        return self.ctx.ctype(self.statement.args[which].slot)

    @property
    def out_type(self) -> str:
        """C++ type of the output."""
        return self.ctx.ctype(self.statement.out)


def result_dtype(program: Program, statement: Statement) -> DataType:
    """Return the dtype of an operation's result before it is written."""
    operator = statement.operator
    if statement.op == "mxm":
        return operator.monoid.type
    if statement.op in ("ewise_add", "ewise_mult", "ewise_union", "apply"):
        return operator.type if isinstance(operator, TypedMonoid) else operator.return_type
    return program.slots[statement.args[0].slot].dtype


def has_dots(statement: Statement) -> bool:
    """Return whether a ``mxm`` computes one dot product for each entry of its mask."""
    plan, mask = statement.plan, statement.mask
    first = plan.methods[0].name if plan is not None else "hash"
    return first == "dot" and mask is not None and not mask.complement


def staged_source(program: Program, statement: Statement) -> str:
    """Return the C++ source of a statement's kernels.

    Raises
    ------
    NotImplementedException
        There are no kernels for it.
    """
    for slot in program.slots:
        if slot.kind != "index":
            check_dtype(slot.dtype)
    check_moves(program, statement)
    if statement.op not in _WRITERS:
        unsupported(f"{statement.op} to a matrix")
    text = Text(Context(program), statement)
    kernels = _WRITERS[statement.op](text)
    kernels += _finish(text, result_dtype(program, statement).cuda_type)
    return "\n".join([*text.ctx.structs.values(), TABLE, *kernels])


def kernel(name: str, parameters: str, *lines: str, threads: int = 0) -> str:
    """Return a kernel that reads the table ``g``; `threads` bounds its blocks if given."""
    given = f"const Table* g, {parameters}" if parameters else "const Table* g"
    body = "".join(f"  {line}\n" for line in lines)
    bounds = f"__launch_bounds__({threads}) " if threads else ""
    return f'extern "C" __global__ void {bounds}{name}({given}) {{\n{body}}}\n'


def entries(name: str, ctype: str) -> str:
    """Return the declaration of an operand."""
    return f"const Entries<{ctype}> {name}(g->{name});"


_FLAGS = "Offset* kept_x, Offset* kept_y"
_FILL = (
    "const Offset* scan_x, const Offset* scan_y, long long nrows, Offset* indptr, "
    "Index* indices, Index* rows, void* values"
)
_OUT = "Written{indptr, indices, rows, values}"


def merge(prefix: str, declared: list[str], policy: str, x: str, y: str, result: str) -> list[str]:
    """Return the two kernels of a merge of `x` and `y`."""
    lines = [*declared, f"const auto policy = {policy};"]
    fill = f"merge_fill<{result}>(policy, {x}, {y}, scan_x, scan_y, nrows, {_OUT});"
    return [
        kernel(
            f"{prefix}_flags", _FLAGS, *lines, f"merge_flags(policy, {x}, {y}, kept_x, kept_y);"
        ),
        kernel(f"{prefix}_fill", _FILL, *lines, fill),
    ]


# writers of t ------------------------------------------------------------------------------------
def _ewise(text: Text) -> list[str]:
    statement, ctx = text.statement, text.ctx
    operator = statement.operator
    op = ctx.operator(operator.op if isinstance(operator, TypedMonoid) else operator)
    types = f"{op}, {text.ctype(0)}, {text.ctype(1)}"
    declared = [entries("a", text.ctype(0)), entries("b", text.ctype(1))]
    more = []
    if statement.op == "ewise_mult":
        policy = f"Intersect<{types}>{{a, b}}"
        more = [_map("t_pairs", declared, f"MapPair<{types}>{{a, b}}", f"typename {op}::R", "a")]
    elif statement.op == "ewise_add":
        policy = f"Unite<{types}>{{a, b}}"
    else:
        declared += [_scalar("x", text.ctype(2)), _scalar("y", text.ctype(3))]
        policy = f"UniteFilled<{types}, {text.ctype(2)}, {text.ctype(3)}>{{a, b, x, y}}"
    return [*merge("t", declared, policy, "a", "b", f"typename {op}::R"), *more]


def _scalar(name: str, ctype: str) -> str:
    return f"const Scalar<{ctype}> {name}(g->{name});"


def _select(text: Text) -> list[str]:
    op = text.ctx.operator(text.statement.operator)
    declared = [entries("a", text.ctype(0)), _scalar("x", text.ctype(1))]
    policy = f"Select<{op}, {text.ctype(0)}, {text.ctype(1)}>{{a, x}}"
    return merge("t", declared, policy, "a", "a", text.ctype(0))


def _apply(text: Text) -> list[str]:
    statement = text.statement
    op = text.ctx.operator(statement.operator)
    opclass = statement.operator.parent.opclass
    left = opclass == "BinaryOp" and statement.param("side") == "left"
    a_type = text.ctype(1 if left else 0)
    declared = [entries("a", a_type)]
    if len(statement.args) == 1:
        function = f"MapUnary<{op}, {a_type}>{{a}}"
    else:
        x_type = text.ctype(0 if left else 1)
        declared.append(_scalar("x", x_type))
        if opclass == "BinaryOp":
            function = f"MapBound<{op}, {str(left).lower()}, {a_type}, {x_type}>{{a, x}}"
        else:
            function = f"MapIndex<{op}, {a_type}, {x_type}>{{a, x}}"
    return [_map("t_map", declared, function, f"typename {op}::R", "a")]


def _map(name: str, declared: list[str], function: str, result: str, over: str) -> str:
    lines = [*declared, f"const auto f = {function};"]
    call = f"map_values<{result}>(f, {over}, count, values);"
    return kernel(name, "long long count, void* values", *lines, call)


def _nothing(text: Text) -> list[str]:
    del text
    return []


_AXES = "const Index* row_list, const Index* column_list"


def _extract(text: Text) -> list[str]:
    a_type = text.ctype(0)
    declared = [entries("a", a_type), "const Axis rows{row_list};"]
    numbers = "const Numbers columns{column_starts, column_list};"
    lists = "const Index* row_list, long long num_rows, const long long* starts"
    columns = "const Index* column_starts, const Index* column_list"
    return [
        kernel(
            "t_rows", "const Index* row_list, long long num_rows, long long* counts", *declared,
            "count_region_rows(a, rows, num_rows, counts);",
        ),
        kernel(
            "t_count", f"{lists}, {columns}, long long* counts", *declared, numbers,
            "count_region_entries(a, rows, num_rows, starts, columns, counts);",
        ),
        kernel(
            "t_place",
            f"{lists}, {columns}, const long long* places, long long ncols, "
            "unsigned long long* keys, long long* origin",
            *declared, numbers,
            "fill_region_entries(a, rows, num_rows, starts, columns, places, ncols, keys, origin);",
        ),
    ]  # fmt: skip


def _assign(text: Text) -> list[str]:
    if text.ctx.kind(text.statement.args[0].slot) == "scalar":
        return _assign_scalar(text)
    axes = ["const Axis rows{row_list}, columns{column_list};"]
    declared = [entries("a", text.ctype(0)), *axes]
    numbers = "const Index* row_numbers, const Index* column_numbers"
    return [
        kernel(
            "t_flags", f"{_AXES}, {numbers}, Offset* flags", *declared,
            "flag_assigned(a, rows, columns, Inside{row_numbers}, Inside{column_numbers}, flags);",
        ),
        kernel(
            "t_place",
            f"{_AXES}, const Offset* scan, long long ncols, unsigned long long* keys, "
            "long long* origin",
            *declared,
            "place_assigned(a, rows, columns, scan, ncols, keys, origin);",
        ),
    ]  # fmt: skip


def _assign_scalar(text: Text) -> list[str]:
    """Where a plain mask says which positions can change, they are all there is to write."""
    mask = text.statement.mask
    if mask is None or mask.complement or text.statement.param("submask"):
        return []
    mask_type = text.ctx.ctype(mask.slot)
    structural = str(mask.structural).lower()
    lines = [
        entries("mask", mask_type),
        "const Inside rows{row_numbers}, columns{column_numbers};",
        f"flag_open<{structural}>(mask, rows, columns, kept_x);",
    ]
    fill = f"merge_fill<bool>(Flagged<bool>{{nullptr}}, mask, mask, scan_x, scan_y, nrows, {_OUT});"
    return [
        kernel(
            "t_flags", "const Index* row_numbers, const Index* column_numbers, Offset* kept_x",
            *lines,
        ),
        kernel("t_fill", _FILL, entries("mask", mask_type), fill),
    ]  # fmt: skip


def _multiplied(text: Text) -> tuple[str, list[str]]:
    """Return the semiring of a product, and the declarations of its operands."""
    semiring = text.ctx.semiring(text.statement.operator, vector_first=False)
    if text.statement.plan is not None and text.statement.plan.ordered:
        semiring = f"InOrder<{semiring}>"
    return semiring, [entries("a", text.ctype(0)), entries("b", text.ctype(1))]


def _mxm(text: Text) -> list[str]:
    semiring, declared = _multiplied(text)
    if has_dots(text.statement):
        return _dots(text, semiring, declared)
    return [*_rowwise(semiring, declared), *_full(text, semiring, declared)]


def _stops(text: Text) -> str:
    """Return whether sums can be final before their last operand."""
    return str(text.statement.operator.monoid.exits_early).lower()


_LIST = "const Index* lists, Count* ledger, long long bin"
_WRITTEN = "Offset* indptr, Index* indices, Index* rows, void* values"


@dataclass(frozen=True, slots=True)
class _Emit:
    """What becomes of dot products.

    Attributes
    ----------
    parameters : str
        Of the kernels.
    before, after : tuple of str
        Lines round the products.
    name : str
        What is called with each of them.
    """

    parameters: str
    before: tuple[str, ...]
    name: str
    after: tuple[str, ...] = ()


def _dots(text: Text, semiring: str, declared: list[str]) -> list[str]:
    mask = text.statement.mask
    assert mask is not None
    value, mask_type = f"typename {semiring}::Add::T", entries("mask", text.ctx.ctype(mask.slot))
    keep = f"const KeepDots<{value}> keep{{static_cast<{value}*>(found), flags}};"
    emit = _Emit("void* found, Offset* flags", (keep,), "keep")
    fill = (
        f"merge_fill<{value}>(Flagged<{value}>{{static_cast<const {value}*>(found)}}, mask, mask, "
        f"scan_x, scan_y, nrows, {_OUT});"
    )
    return [
        *_dot_kernels(text, semiring, [*declared, mask_type], emit),
        kernel("t_fill", f"const void* found, {_FILL}", mask_type, fill),
    ]


def _dot_kernels(text: Text, semiring: str, declared: list[str], emit: _Emit) -> list[str]:
    """Return the kernels that compute dot products: by rows in bins, and by entries."""
    assert text.statement.mask is not None
    exits, structural = _stops(text), str(text.statement.mask.structural).lower()
    lines, operands = [*declared, *emit.before], "    a, b, mask"
    rows = [
        kernel(
            f"t_dots{lanes}",
            f"{_LIST}, long long most, long long mean, {emit.parameters}",
            *lines,
            f"dot_rows<{exits}, {lanes}, {semiring}, {structural}>(",
            f"{operands}, RowList(lists, {{ledger}}, bin), most, mean, {emit.name});",
            *emit.after,
            threads=MOST_THREADS,
        )
        for lanes in (8, 32, 0)
    ]
    by_entry = kernel(
        "t_dots_by_entry",
        emit.parameters,
        *lines,
        f"dot_entries<{exits}, {semiring}, {structural}>({operands.strip()}, {emit.name});",
        *emit.after,
        threads=THREADS,
    )
    return [*rows, by_entry]


def summed_source(program: Program, product: Statement, total: Statement) -> str:
    """Return the C++ source of ``s accum= sum of C``, ``C<M> = A (+).(*) B``."""
    text = Text(Context(program), product)
    ctx, monoid = text.ctx, total.operator
    semiring, declared = _multiplied(text)
    assert product.mask is not None
    declared.append(entries("mask", ctx.ctype(product.mask.slot)))
    add, out, value = ctx.monoid(monoid), ctx.ctype(total.out), monoid.type.cuda_type
    write = [f"Scalar<{out}> out(g->x);"]
    if total.param("identity"):
        whole = f"Scalar<{value}>({literal(monoid.type, monoid.identity)}, true)"
        write.append(f"if (!total.has) total = {whole};")
    if total.accum is not None and not total.param("new"):
        write.append(f"scalar_accumulate<{ctx.operator(total.accum)}>(out, total);")
    else:
        write.append("scalar_write(out, total);")
    emit = _Emit(
        "void* values, Count* counts, long long first, long long parts, unsigned* ticket, "
        "Count* entries",
        (
            f"DotSum<{add}, {text.out_type}> sum;",
            "const auto take = [&](Offset, const auto& found, bool has) { sum.take(found, has); };",
        ),
        "take",
        (
            f"const auto write = [&](Scalar<{value}> total) {{",
            *(f"  {line}" for line in write),
            "  out.store(g->x);",
            "};",
            "sum.finish({values, counts, first, parts, ticket, entries}, write);",
        ),
    )
    kernels = _dot_kernels(text, semiring, declared, emit)
    return "\n".join([*ctx.structs.values(), TABLE, *kernels])


def _rowwise(semiring: str, declared: list[str]) -> list[str]:
    given = f"{_LIST}, const long long* work, const long long* starts"
    listed = "a, b, RowList(lists, {ledger}, bin), work, starts"
    kernels = [
        kernel(
            f"t_by_table{lanes}",
            f"{given}, long long most, {_WRITTEN}",
            *declared,
            f"fill_by_table<{lanes}, {semiring}>({listed}, most, {_OUT});",
            threads=MOST_THREADS,
        )
        for lanes in (8, 32, 0)
    ]
    window = kernel(
        "t_by_window",
        f"{given}, long long columns, Offset* cursors, {_WRITTEN}",
        *declared,
        f"fill_by_window<{semiring}>({listed}, static_cast<unsigned>(columns), cursors, {_OUT});",
        threads=MOST_THREADS,
    )
    return [*kernels, window]


def _full(text: Text, semiring: str, declared: list[str]) -> list[str]:
    types = f"{semiring}, {text.ctype(0)}, {text.ctype(1)}"
    given = (
        "long long full_row, const Index* lines, long long num_lines, long long num_rows, "
        f"long long num_columns, {_WRITTEN}"
    )
    kernels = []
    for name, sparse_left in (("t_full_right", "true"), ("t_full_left", "false")):
        product = f"const FullProduct<{sparse_left}, {types}> product{{a, b, full_row}};"
        items = f"fill_full_items<{_stops(text)}>(product, lines, num_lines, num_rows, num_columns,"
        kernels.append(kernel(name, given, *declared, product, items, f"    {_OUT});"))
    product = f"const FullProduct<true, {types}> product{{a, b, full_row}};"
    rows = f"fill_full_rows<{_stops(text)}>(product, lines, num_lines, num_columns, {_OUT});"
    return [*kernels, kernel("t_full_rows", given, *declared, product, rows)]


_WRITERS: dict[str, Callable[[Text], list[str]]] = {
    "ewise_mult": _ewise,
    "ewise_add": _ewise,
    "ewise_union": _ewise,
    "select": _select,
    "select_k": _nothing,
    "apply": _apply,
    "copy": _nothing,
    "diag": _nothing,
    "extract": _extract,
    "assign": _assign,
    "mxm": _mxm,
}


# the output --------------------------------------------------------------------------------------
def _finish(text: Text, t_type: str) -> list[str]:
    """Return the kernels that write ``out<mask, replace> accum= t``."""
    statement = text.statement
    out = text.out_type
    accum = None if statement.param("new") else statement.accum
    is_assign = statement.op == "assign"
    cast = _map("f_map", [entries("t", t_type)], f"MapCast<{out}, {t_type}>{{t}}", out, "t")
    if statement.mask is None and accum is None and not is_assign:
        return [cast]
    declared = [entries("t", t_type), entries("out", out)]
    mask = "EveryPosition"
    if statement.mask is not None:
        mask_type = text.ctx.ctype(statement.mask.slot)
        flags = (statement.mask.structural, statement.mask.complement)
        mask = f"EntryMask<{mask_type}, {', '.join(str(flag).lower() for flag in flags)}>"
        declared.append(entries("mask", mask_type))
    shown = f"{mask}{{}}" if statement.mask is None else f"{mask}(mask)"
    replaces = str(statement.replace or bool(statement.param("new"))).lower()
    name = accum_text(text.ctx, accum)
    if not is_assign:
        policy = f"Finish<{name}, {replaces}, {t_type}, {out}, {mask}>{{{{t, out}}, {shown}}}"
        return [cast, *merge("f", declared, policy, "t", "out", out)]
    submask = str(bool(statement.param("submask"))).lower()
    policy = (
        f"AssignRegion<{name}, {replaces}, {submask}, {t_type}, {out}, {mask}>"
        f"{{{{t, out}}, {shown}, Inside{{row_numbers}}, Inside{{column_numbers}}}}"
    )
    kernels = merge("f", declared, policy, "t", "out", out)
    numbers = "const Table* g, const Index* row_numbers, const Index* column_numbers"
    return [cast, *(text.replace("const Table* g", numbers, 1) for text in kernels)]
