"""The kernels of one matrix statement as text: a few lines that call the templates."""

from __future__ import annotations

from collections.abc import Callable

from semira.backends.cuda.lower.context import Context, check_dtype, check_moves, unsupported
from semira.backends.cuda.lower.pointwise import accum_text
from semira.backends.cuda.staged.product_source import product_kernels
from semira.backends.cuda.staged.text import (
    FILL,
    OUT,
    TABLE,
    Text,
    entries,
    kernel,
    merge,
    result_dtype,
)
from semira.contract import Program, Statement
from semira.ops import TypedMonoid


def staged_source(program: Program, statement: Statement) -> str:
    """Return the C++ source of a statement's kernels.

    Raises NotImplementedException if there are no kernels for it.
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
    declared = [entries("a", text.ctype(0)), "const Axis rows{row_list}, columns{column_list};"]
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
    declared = entries("mask", text.ctx.ctype(mask.slot))
    given = "const Index* row_numbers, const Index* column_numbers, Offset* kept_x"
    inside = "const Inside rows{row_numbers}, columns{column_numbers};"
    flag = f"flag_open<{str(mask.structural).lower()}>(mask, rows, columns, kept_x);"
    fill = f"merge_fill<bool>(Flagged<bool>{{nullptr}}, mask, mask, scan_x, scan_y, nrows, {OUT});"
    return [
        kernel("t_flags", given, declared, inside, flag),
        kernel("t_fill", FILL, declared, fill),
    ]


_WRITERS: dict[str, Callable[[Text], list[str]]] = {
    **dict.fromkeys(("ewise_mult", "ewise_add", "ewise_union"), _ewise),
    # Base kernels make them.
    **dict.fromkeys(("copy", "diag", "select_k"), lambda text: []),
    "select": _select, "apply": _apply, "extract": _extract, "assign": _assign,
    "mxm": product_kernels,
}  # fmt: skip


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
