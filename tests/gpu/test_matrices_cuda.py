"""Statements that write a matrix on the GPU against the reference."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.gpu.test_statements_cuda import compare, mask_of, random_vector
from tests.helpers.every import every

from semira.backends.registry import backend_for
from semira.base.dtypes import BOOL, FP32, FP64, INT8, INT32, INT64
from semira.base.errors import EmptyObject
from semira.contract import Arg, IndexSpec, Program, Slot, Statement
from semira.formats import MatrixArrays, coo_to_matrix
from semira.ops.registry import binary, indexunary, monoid, semiring, unary
from semira.plan import plan_program

pytestmark = pytest.mark.gpu

#: No mask, and one of each kind that differs.
MASKS = [None, (True, False), (False, False), (True, True)]


def random_matrix(nrows: int, ncols: int, dtype, seed: int, density: float = 0.2) -> MatrixArrays:
    rng = np.random.default_rng(seed)
    present = rng.random((nrows, ncols)) < density
    # One full row and one empty one.
    if nrows > 2:
        present[1], present[2] = True, False
    rows, cols = np.nonzero(present)
    values = rng.integers(0, 5, len(rows)).astype(dtype.np_type)
    return coo_to_matrix(nrows, ncols, rows, cols, values)


def iso_matrix(nrows: int, ncols: int, dtype, seed: int) -> MatrixArrays:
    given = random_matrix(nrows, ncols, dtype, seed)
    return MatrixArrays(
        nrows, ncols, dtype, "csr", given.indptr, given.indices, np.array([3], dtype.np_type), True
    )


def variants(mask):
    """Return the ways an output may be written under a mask: (replace, accum)."""
    return itertools.product((False,) if mask is None else (False, True), (None, "minus"))


def check(statement: Statement, slots, given, mask, slot: int, out_dtype) -> None:
    for replace, accum in variants(mask):
        written = Statement(
            statement.op, 0, statement.args, statement.operator, mask_of(mask, slot),
            accum and binary[accum].typed(out_dtype), replace, statement.indices, statement.params,
        )  # fmt: skip
        compare(slots, (written,), given)


STATEMENTS = {
    "copy": ("copy", (1,), None),
    "transpose": ("copy", (-1,), None),
    "sqrt": ("apply", (1,), unary["sqrt"].typed(FP32)),
    "bound": ("apply", (1, 3), binary["minus"].typed(FP64)),
    "bound left": ("apply", (3, 1), binary["minus"].typed(FP64)),
    "index": ("apply", (1, 3), indexunary["colindex"].typed(FP32)),
    "select": ("select", (1, 3), indexunary["valuegt"].typed(FP32)),
    "tril": ("select", (1, 3), indexunary["tril"].typed(FP32)),
    "first of row": ("select_k", (1,), None),
    "intersection": ("ewise_mult", (1, 2), binary["times"].typed(FP64)),
    "union": ("ewise_add", (1, 2), binary["minus"].typed(FP64)),
    "comparison": ("ewise_add", (-1, 2), binary["lt"].typed(FP64)),
    "filled union": ("ewise_union", (1, 2, 3, 3), binary["minus"].typed(FP64)),
    "whole assign": ("assign", (2,), None),
}


@every("name", STATEMENTS)
@every("mask", MASKS)
def test_elementwise_statements(name, mask):
    op, args, operator = STATEMENTS[name]
    slots = (
        Slot("matrix", FP32, "inout"), Slot("matrix", FP32), Slot("matrix", INT32),
        Slot("scalar", INT64), Slot("matrix", BOOL),
    )  # fmt: skip
    statement = Statement(
        op, 0, tuple(Arg(abs(a), a < 0) for a in args), operator,
        indices=(IndexSpec("all"),) * 2 if op == "assign" else (),
        params=(("side", "left" if name == "bound left" else "right"), ("k", 2)),
    )  # fmt: skip
    given = [
        random_matrix(40, 40, FP32, 1), random_matrix(40, 40, FP32, 2),
        random_matrix(40, 40, INT32, 3), 2, random_matrix(40, 40, BOOL, 4, 0.5),
    ]  # fmt: skip
    check(statement, slots, given, mask, 4, FP32)


@pytest.mark.parametrize("op", ["apply", "select", "copy", "ewise_mult", "ewise_add"])
def test_matrices_of_one_value_and_without_entries(op):
    slots = (Slot("matrix", FP64, "inout"), Slot("matrix", INT32), Slot("matrix", INT32))
    operator = {"copy": None, "apply": unary["ainv"], "select": indexunary["tril"]}.get(
        op, binary["plus"]
    )
    args = (Arg(1), Arg(2)) if op.startswith("ewise") else (Arg(1),)
    if op == "select":
        slots, args = (*slots, Slot("scalar", INT64)), (Arg(1), Arg(3))
    body = (Statement(op, 0, args, operator and operator.typed(INT32)),)
    empty = MatrixArrays.empty(30, 20, INT32)
    for first, second in itertools.product((empty, iso_matrix(30, 20, INT32, 5)), repeat=2):
        given = [random_matrix(30, 20, FP64, 1), first, second]
        compare(slots, body, [*given, -1][: len(slots)])
    nothing = MatrixArrays.empty(0, 0, INT32)
    given = [MatrixArrays.empty(0, 0, FP64), nothing, nothing, -1][: len(slots)]
    compare(slots, body, given)


SEMIRINGS = [
    ("plus_times", INT64), ("plus_times", FP64), ("min_plus", FP32), ("any_pair", BOOL),
    ("lor_land", BOOL), ("plus_pair", INT8), ("times_first", INT8), ("min_secondi", INT64),
]  # fmt: skip


@every(("name", "dtype"), SEMIRINGS)
@every("mask", MASKS)
def test_products_agree_with_the_reference(name, dtype, mask):
    typed = semiring[name].typed(dtype)
    slots = (
        Slot("matrix", typed.return_type, "inout"), Slot("matrix", dtype), Slot("matrix", dtype),
        Slot("matrix", INT8),
    )  # fmt: skip
    for left, right in ((False, False), (True, True)):
        statement = Statement("mxm", 0, (Arg(1, left), Arg(2, right)), typed)
        shapes = ((30, 50) if left else (50, 30)), ((70, 30) if right else (30, 70))
        given = [
            random_matrix(50, 70, typed.return_type, 1), random_matrix(*shapes[0], dtype, 2),
            random_matrix(*shapes[1], dtype, 3), random_matrix(50, 70, INT8, 4, 0.3),
        ]  # fmt: skip
        check(statement, slots, given, mask, 3, typed.return_type)


REGIONS = {
    "range": (3, 20, 2),
    "backwards": (20, 2, -3),
    "list": np.array([9, 3, 31, 0], np.int64),
    "all": None,
}


def length(region, size: int) -> int:
    if region is None:
        return size
    return len(range(*region)) if isinstance(region, tuple) else len(region)


def spec_of(region, slot: int) -> IndexSpec:
    if region is None:
        return IndexSpec("all")
    return IndexSpec("range" if isinstance(region, tuple) else "list", slot)


@every(("rows", "cols"), list(itertools.product(REGIONS, repeat=2)))
@every("transposed", [False, True])
def test_extract_of_a_region(rows, cols, transposed):
    row, col = REGIONS[rows], REGIONS[cols]
    if cols == "list":
        col = np.array([5, 5, 30, 0, 5], np.int64)
    sizes = length(row, 32), length(col, 40)
    slots = (
        Slot("matrix", FP32, "inout"), Slot("matrix", INT32), Slot("index", INT64),
        Slot("index", INT64), Slot("matrix", BOOL),
    )  # fmt: skip
    statement = Statement(
        "extract", 0, (Arg(1, transposed),), indices=(spec_of(row, 2), spec_of(col, 3))
    )
    shape = (40, 32) if transposed else (32, 40)
    given = [
        random_matrix(*sizes, FP32, 1), random_matrix(*shape, INT32, 2, 0.4), row, col,
        random_matrix(*sizes, BOOL, 3, 0.5),
    ]  # fmt: skip
    for mask in (None, (False, True)):
        check(statement, slots, given, mask, 4, FP32)


def test_a_long_list_of_columns_is_sorted_on_the_device():
    slots = (Slot("matrix", FP32, "inout"), Slot("matrix", INT32), Slot("index", INT64))
    for columns in ([9, 3, 31, 0], [5, 5, 30, 0, 5], [7]):
        listed = np.array(columns, np.int64)
        indices = (spec_of(None, 2), spec_of(listed, 2))
        body = (Statement("extract", 0, (Arg(1),), indices=indices),)
        given = [random_matrix(32, len(columns), FP32, 1), random_matrix(32, 40, INT32, 2, 0.4)]
        compare(slots, body, [*given, listed])


@every(("rows", "cols"), list(itertools.product(REGIONS, repeat=2)))
@every("submask", [False, True])
@every("kind", ["matrix", "scalar"])
def test_assign_to_a_region(rows, cols, submask, kind):
    row, col = REGIONS[rows], REGIONS[cols]
    sizes = length(row, 32), length(col, 40)
    slots = (
        Slot("matrix", FP32, "inout"), Slot(kind, INT32), Slot("index", INT64),
        Slot("index", INT64), Slot("matrix", BOOL),
    )  # fmt: skip
    statement = Statement(
        "assign", 0, (Arg(1),), indices=(spec_of(row, 2), spec_of(col, 3)),
        params=(("submask", submask),),
    )  # fmt: skip
    source = random_matrix(*sizes, INT32, 2, 0.4) if kind == "matrix" else 7
    masked = sizes if submask else (32, 40)
    given = [random_matrix(32, 40, FP32, 1), source, row, col, random_matrix(*masked, BOOL, 3, 0.5)]
    for mask in ((True, True),) if submask else (None, (False, False), (True, True)):
        check(statement, slots, given, mask, 4, FP32)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("mask", [None, (True, False), (False, True)])
def test_assign_to_a_line(axis, mask):
    slots = (
        Slot("matrix", FP32, "inout"), Slot("vector", INT32), Slot("index", INT64),
        Slot("vector", BOOL),
    )  # fmt: skip
    one, whole = IndexSpec("one", 2), IndexSpec("all")
    size = (40, 32)[axis]
    statement = Statement(
        "assign", 0, (Arg(1),), indices=(one, whole) if axis == 0 else (whole, one),
        params=(("submask", mask is not None),),
    )  # fmt: skip
    given = [
        random_matrix(32, 40, FP32, 1), random_vector(size, INT32, 2, 0.5), np.array([4]),
        random_vector(size, BOOL, 3, 0.5),
    ]  # fmt: skip
    check(statement, slots, given, mask, 3, FP32)


@pytest.mark.parametrize("k", [0, 3, -5])
def test_a_vector_becomes_a_diagonal(k):
    slots = (Slot("matrix", FP64, "inout"), Slot("vector", INT32))
    size = 100 + abs(k)
    body = (Statement("diag", 0, (Arg(1),), params=(("k", k),)),)
    compare(slots, body, [random_matrix(size, size, FP64, 1), random_vector(100, INT32, 2, 0.4)])


def test_an_output_may_be_operand_and_mask():
    slots = (Slot("matrix", INT64, "inout"), Slot("matrix", INT64))
    typed = semiring["plus_times"].typed(INT64)
    for mask in MASKS[1:]:
        for replace in (False, True):
            body = Statement(
                "mxm", 0, (Arg(0), Arg(1, True)), typed, mask=mask_of(mask, 0), replace=replace
            )
            compare(slots, (body,), [random_matrix(40, 40, INT64, s) for s in (1, 2)])


def test_an_empty_scalar_is_an_error_and_leaves_the_output():
    backend = backend_for("cuda")
    slots = (Slot("matrix", FP32, "inout"), Slot("matrix", FP32), Slot("scalar", FP32))
    statement = Statement("apply", 0, (Arg(1), Arg(2)), binary["plus"].typed(FP32))
    program = plan_program(Program(slots, (statement,)), backend.capabilities())
    before = random_matrix(20, 20, FP32, 1)
    out = backend.put(before)
    executable = backend.prepare(program)
    bindings = [out, backend.put(random_matrix(20, 20, FP32, 2)), None]
    with pytest.raises(EmptyObject):
        backend.execute(executable, bindings)
    np.testing.assert_array_equal(backend.get(out).indices, before.indices)


def test_sums_over_a_matrix_made_on_the_device():
    backend = backend_for("cuda")
    slots = (Slot("matrix", INT64, "inout"), Slot("matrix", INT64), Slot("vector", INT64, "inout"))
    made = Program(slots[:2], (Statement("copy", 0, (Arg(1, True),)),))
    total = Program(
        slots[::2], (Statement("reduce_rows", 1, (Arg(0),), monoid["plus"].typed(INT64)),)
    )
    given = random_matrix(30, 40, INT64, 1)
    matrix = backend.put(MatrixArrays.empty(40, 30, INT64))
    vector = backend.put(random_vector(40, INT64, 1, 0.0))
    for program, bindings in ((made, [matrix, backend.put(given)]), (total, [matrix, vector])):
        planned = plan_program(program, backend.capabilities())
        backend.execute(backend.prepare(planned), bindings)
    expected = np.zeros(40, np.int64)
    np.add.at(expected, given.indices, given.values)
    found = backend.get(vector)
    np.testing.assert_array_equal(found.entry_values(), expected[found.entry_indices()])
