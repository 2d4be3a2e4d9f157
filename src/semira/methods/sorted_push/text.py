"""The kernels of one push that lists its products, as text: lines that call the templates."""

from __future__ import annotations

from dataclasses import dataclass

from semira.backends.cuda.lower.context import Context, check_dtype
from semira.backends.cuda.lower.product_parts import open_product
from semira.base.errors import NotImplementedException
from semira.contract import Program, Statement
from semira.methods.sorted_push.sorts import WIDTHS
from semira.ops import TypedMonoid, TypedSemiring


@dataclass(frozen=True, slots=True)
class Form:
    """What the products of a push need, by its semiring and the pinned merge.

    Attributes
    ----------
    merge : {"scatter", "radix", "sort"}
    keys_only : bool
        All products are equal: only their columns are listed.
    folds : bool
        Products that meet are added up; else any of them stays.
    """

    merge: str
    keys_only: bool
    folds: bool


def form_of(statement: Statement) -> Form:
    """Return the form of a product's push."""
    assert statement.plan is not None
    (method,) = statement.plan.methods
    semiring: TypedSemiring = statement.operator
    equal = semiring.has_equal_products
    folds = not (semiring.monoid.is_any or (equal and semiring.monoid.is_idempotent))
    return Form(dict(method.parameters)["merge"], equal, folds)


_FRONTIER = "const Index* list, const long long* starts, long long count, long long products"
_OPERANDS = (
    f"{_FRONTIER}, const Offset* indptr, const Index* indices, const void* values, "
    "long long stride, const void* u"
)
_OUT = "void* out_values, unsigned* out_words, Index* out_list, VectorState* out_state"
_OPEN_FRONTIER = "const Frontier frontier{list, starts, count, products};"


def text(program: Program, statement: Statement) -> str:
    """Return the C++ source of the launches of a push that lists its products.

    Raises
    ------
    NotImplementedException
        Its values have a size that the sorts do not move.
    """
    for slot in program.slots:
        check_dtype(slot.dtype)
    form, monoid = form_of(statement), statement.operator.monoid
    if form.merge != "scatter":
        _check_width(statement, form.merge)
    ctx, product = Context(program), open_product(0, statement)
    semiring = ctx.semiring(statement.operator, vector_first=statement.op == "vxm")
    types = f"{semiring}, {ctx.ctype(product.driver)}, {ctx.ctype(product.matrix)}"
    operands = f"const Operands<{types}> given(u, indptr, indices, values, stride);"
    kernels = [
        _kernel(
            "p_degrees",
            "const Index* list, long long count, const Offset* indptr, long long* degrees",
            "list_degrees(list, count, indptr, degrees);",
        )
    ]
    if form.merge == "scatter":
        kernels += _scatter(form, semiring, operands, monoid)
    else:
        kernels += _sorted(form, semiring, operands, ctx.monoid(monoid), monoid)
    return "\n".join([*ctx.structs.values(), *kernels])


def _check_width(statement: Statement, merge: str) -> None:
    dtype = statement.operator.monoid.type
    if dtype.itemsize not in WIDTHS:
        sizes = ", ".join(str(width) for width in WIDTHS[1:])
        raise NotImplementedException(
            f"{statement.op}: merge={merge!r} sorts values of {sizes} bytes, and {dtype} has "
            f"{dtype.itemsize}; use merge='atomics' or leave the pin out"
        )


def _kernel(name: str, parameters: str, *lines: str, threads: str = "") -> str:
    body = "".join(f"  {line}\n" for line in lines)
    bounds = f"__launch_bounds__({threads}) " if threads else ""
    return f'extern "C" __global__ void {bounds}{name}({parameters}) {{\n{body}}}\n'


def _out(monoid: TypedMonoid) -> str:
    """Return the declaration of the result."""
    return f"const Fresh<{monoid.type.cuda_type}> out(out_values, out_words, out_list, out_state);"


def _scatter(form: Form, semiring: str, operands: str, monoid: TypedMonoid) -> list[str]:
    mark = "unsigned char" if form.keys_only else "Offset"
    return [
        _kernel(
            "p_mark",
            f"{_FRONTIER}, const Offset* indptr, const Index* indices, {mark}* marks",
            _OPEN_FRONTIER,
            "mark_products(frontier, indptr, indices, marks);",
        ),
        _kernel(
            "p_flag",
            f"const {mark}* marks, long long n, int* flags",
            "flag_marks(marks, n, flags);",
        ),
        _kernel(
            "p_enter",
            f"{_OPERANDS}, const {mark}* marks, const int* places, long long n, {_OUT}",
            _OPEN_FRONTIER,
            operands,
            _out(monoid),
            f"enter_marked<{semiring}>(frontier, given, marks, places, n, out);",
        ),
    ]


def _sorted(form: Form, semiring: str, operands: str, add: str, monoid: TypedMonoid) -> list[str]:
    value = monoid.type.cuda_type
    keys_only = str(form.keys_only).lower()
    gather = _kernel(
        "p_gather",
        f"{_OPERANDS}, Index* keys, void* items",
        _OPEN_FRONTIER,
        operands,
        f"gather_products<{keys_only}>(frontier, given, keys, items);",
    )
    if form.keys_only:
        items = f"const Alike<{value}> found{{equal_product<{semiring}>()}};"
    else:
        items = f"const {value}* const found = static_cast<const {value}*>(items);"
    listed = "const Index* keys, const void* items, long long n"
    placed = "const Offset* places"
    if not form.folds:
        enter = _kernel(
            "p_enter",
            f"{listed}, {placed}, {_OUT}",
            items,
            _out(monoid),
            "enter_heads(keys, found, places, n, out);",
        )
        return [gather, enter]
    tiles = f"{value}* values, bool* fresh"
    heads = "const Heads heads{keys};"
    return [
        gather,
        _kernel(
            "p_fold_tiles",
            f"{listed}, {tiles}",
            items,
            heads,
            f"fold_run_tiles<{add}>(found, heads, n, values, fresh);",
            threads="kScanThreads",
        ),
        _kernel(
            "p_fold_sums",
            f"{tiles}, long long tiles",
            f"scan_run_tiles<{add}>(values, fresh, tiles);",
            threads="kScanThreads",
        ),
        _kernel(
            "p_fold_items",
            f"{listed}, {tiles}, {placed}, {_OUT}",
            items,
            heads,
            _out(monoid),
            f"const EnterRuns<Fresh<{value}>> enter{{keys, places, n, out}};",
            f"scan_run_items<{add}>(found, heads, n, values, fresh, enter);",
            "out.close(static_cast<long long>(places[n]));",
            threads="kScanThreads",
        ),
    ]
