"""Statements over regions, index vectors and matrix lines on the GPU against the reference."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.gpu.test_statements_cuda import MASKS, compare, mask_of, random_matrix, random_vector
from tests.helpers.every import every

from semira.backends.registry import backend_for
from semira.base.dtypes import BOOL, FP32, FP64, INT8, INT32, INT64, UINT64
from semira.base.errors import IndexOutOfBound
from semira.contract import Arg, IndexSpec, Mask, Program, Slot, Statement
from semira.formats import ScalarArrays, VectorArrays
from semira.ops.registry import binary, monoid
from semira.plan import plan_program

pytestmark = pytest.mark.gpu

REGIONS = {
    "range": (3, 40, 1),
    "steps": (1, 60, 7),
    "backwards": (50, 2, -3),
    "empty": (5, 5, 1),
    "list": np.array([9, 3, 3, 60, 0, 41, 9], np.int64),
    "one": np.array([17], np.int64),
}


def length(region) -> int:
    return len(range(*region)) if isinstance(region, tuple) else len(region)


def spec_of(name: str, slot: int) -> IndexSpec:
    return IndexSpec({"list": "list", "one": "list"}.get(name, "range"), slot)


@every("name", REGIONS)
@every("mask", MASKS)
@every("accum", [None, "minus"])
def test_extract(name, mask, accum):
    size = length(REGIONS[name])
    slots = (
        Slot("vector", FP32, "inout"), Slot("vector", INT32), Slot("index", INT64),
        Slot("vector", INT8),
    )  # fmt: skip
    for replace in (False,) if mask is None else (False, True):
        statement = Statement(
            "extract", 0, (Arg(1),), mask=mask_of(mask, 3), replace=replace,
            accum=accum and binary[accum].typed(FP32), indices=(spec_of(name, 2),),
        )  # fmt: skip
        given = [
            random_vector(size, FP32, 1, 0.5), random_vector(64, INT32, 2, 0.5), REGIONS[name],
            random_vector(size, INT8, 3, 0.5),
        ]  # fmt: skip
        compare(slots, (statement,), given)


@every("name", REGIONS)
@every("mask", MASKS)
@every("accum", [None, "minus"])
@every("submask", [False, True])
def test_assign_to_a_region(name, mask, accum, submask):
    if mask is None and submask:
        return
    # Accumulating into a position that is named twice has no meaning in the C API.
    region = np.unique(REGIONS[name])[::-1] if accum and name == "list" else REGIONS[name]
    inside = length(region)
    slots = (
        Slot("vector", FP32, "inout"), Slot("vector", INT32), Slot("index", INT64),
        Slot("vector", INT8), Slot("scalar", FP64),
    )  # fmt: skip
    masked = inside if submask else 64
    for replace, source in itertools.product((False,) if mask is None else (False, True), (1, 4)):
        statement = Statement(
            "assign", 0, (Arg(source),), mask=mask_of(mask, 3), replace=replace,
            accum=accum and binary[accum].typed(FP32), indices=(spec_of(name, 2),),
            params=(("submask", submask),),
        )  # fmt: skip
        given = [
            random_vector(64, FP32, 1, 0.5), random_vector(inside, INT32, 2, 0.6), region,
            random_vector(masked, INT8, 3, 0.5), 7.5,
        ]  # fmt: skip
        compare(slots, (statement,), given)


def test_source_and_mask_may_be_the_output():
    region = np.random.default_rng(0).permutation(64)
    slots = (Slot("vector", INT64, "inout"), Slot("index", INT64))
    mask = Mask(0, structural=False, complement=True)
    for replace, submask in itertools.product((False, True), repeat=2):
        body = (
            Statement("extract", 0, (Arg(0),), indices=(IndexSpec("list", 1),)),
            Statement(
                "assign", 0, (Arg(0),), mask=mask, replace=replace,
                indices=(IndexSpec("list", 1),), params=(("submask", submask),),
            ),
        )  # fmt: skip
        compare(slots, body, [random_vector(64, INT64, 1, 0.6), region])


@every("dtype", [INT32, UINT64, INT8])
@every("mask", MASKS)
@every("accum", [None, "plus"])
def test_gather_and_scatter(dtype, mask, accum):
    rng = np.random.default_rng(5)
    places = np.flatnonzero(rng.random(300) < 0.6).astype(np.int32)
    targets = rng.integers(0, 90, len(places)).astype(dtype.np_type)
    index = VectorArrays.sparse(300, dtype, places, targets)
    accum = accum and binary[accum].typed(INT64)
    flags, replaces = mask_of(mask, 3), (False,) if mask is None else (False, True)
    for replace in replaces:
        gather = Statement("gather", 0, (Arg(1), Arg(2)), None, flags, accum, replace)
        slots = (
            Slot("vector", INT64, "inout"), Slot("vector", FP64), Slot("vector", dtype),
            Slot("vector", BOOL),
        )  # fmt: skip
        given = [
            random_vector(300, INT64, 1, 0.4), random_vector(90, FP64, 2, 0.7), index,
            random_vector(300, BOOL, 4, 0.5),
        ]  # fmt: skip
        compare(slots, (gather,), given)
        for dup in ("plus", "min", "times"):
            scatter = Statement(
                "scatter", 0, (Arg(1), Arg(2)), None, flags, accum, replace,
                params=(("dup", monoid[dup].typed(INT32)),),
            )  # fmt: skip
            given = [
                random_vector(90, INT64, 1, 0.4), random_vector(300, FP64, 2, 0.7), index,
                random_vector(90, BOOL, 4, 0.5),
            ]  # fmt: skip
            compare(slots, (scatter,), given)


def test_a_vector_may_be_gathered_from_itself():
    slots = (Slot("vector", INT64, "inout"),)
    values = np.random.default_rng(2).integers(0, 500, 500)
    pointers = VectorArrays.sparse(500, INT64, np.arange(500, dtype=np.int32), values)
    body = (
        Statement("gather", 0, (Arg(0), Arg(0))),
        Statement("scatter", 0, (Arg(0), Arg(0)), params=(("dup", monoid["min"].typed(INT64)),)),
    )
    compare(slots, body[:1], [pointers])
    compare(slots, body, [pointers])


@pytest.mark.parametrize("op", ["gather", "scatter"])
@pytest.mark.parametrize("value", [-1, 90, 2**40])
def test_an_index_outside_ends_the_program_before_the_statement(op, value):
    backend = backend_for("cuda")
    index = VectorArrays.sparse(90, INT64, np.array([4], np.int32), np.array([value], np.int64))
    slots = (Slot("vector", INT64, "inout"), Slot("vector", INT64), Slot("vector", INT64))
    dup = () if op == "gather" else (("dup", monoid["plus"].typed(INT64)),)
    statement = Statement(op, 0, (Arg(1), Arg(2)), params=dup)
    program = plan_program(Program(slots, (statement,)), backend.capabilities())
    before = random_vector(90, INT64, 1, 0.5)
    out = backend.put(before)
    with pytest.raises(IndexOutOfBound, match=str(value)):
        backend.execute(
            backend.prepare(program), [out, backend.put(random_vector(90, INT64, 2, 0.5)),
                                       backend.put(index)],
        )  # fmt: skip
    after = backend.get(out)
    np.testing.assert_array_equal(after.entry_indices(), before.entry_indices())
    np.testing.assert_array_equal(after.entry_values(), before.entry_values())


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("mask", MASKS)
def test_sums_lines_and_diagonals_of_a_matrix(transposed, mask):
    matrix = random_matrix(200, FP32, 3)
    slots = (
        Slot("vector", FP64, "inout"), Slot("matrix", FP32), Slot("vector", BOOL),
        Slot("index", INT64),
    )  # fmt: skip
    one, whole = IndexSpec("one", 3), IndexSpec("all")
    arg = (Arg(1, transposed),)
    statements = [
        Statement("reduce_rows", 0, arg, monoid["plus"].typed(FP64)),
        Statement("reduce_rows", 0, arg, monoid["max"].typed(INT8)),
        Statement("reduce_rows", 0, arg, monoid["lor"].typed(BOOL)),
        Statement("extract", 0, arg, indices=(one, whole)),
        Statement("extract", 0, arg, indices=(whole, one)),
    ]
    statements += [Statement("diag", 0, arg, params=(("k", k),)) for k in (0, 3, -50)]
    for statement in statements:
        size = 200 - abs(int(statement.param("k", 0)))
        masked = Statement(
            statement.op, 0, statement.args, statement.operator, mask_of(mask, 2), None,
            mask is not None, statement.indices, statement.params,
        )  # fmt: skip
        given = [
            random_vector(size, FP64, 1, 0.4), matrix, random_vector(size, BOOL, 2, 0.5),
            np.array([5]),
        ]  # fmt: skip
        compare(slots, (masked,), given)


@pytest.mark.parametrize("name", ["plus", "min", "times"])
@pytest.mark.parametrize("dtype", [FP64, INT8])
def test_reduce_of_a_matrix_to_a_scalar(name, dtype):
    slots = (Slot("scalar", dtype, "inout"), Slot("matrix", INT32))
    body = (Statement("reduce", 0, (Arg(1),), monoid[name].typed(dtype)),)
    compare(slots, body, [ScalarArrays(dtype, None), random_matrix(200, INT32, 3)])


def test_single_entries_become_scalars():
    matrix = random_matrix(50, INT32, 3)
    rows, cols, _ = matrix.to_coo()
    slots = (
        Slot("scalar", INT64, "inout"), Slot("matrix", INT32), Slot("vector", FP32),
        Slot("index", INT64), Slot("index", INT64),
    )  # fmt: skip
    one = IndexSpec("one", 3), IndexSpec("one", 4)
    empty = ScalarArrays(INT64, None)
    for at, (i, j) in enumerate([(int(rows[7]), int(cols[7])), (3, 3), (49, 0)]):
        for transposed in (False, True):
            body = (Statement("extract", 0, (Arg(1, transposed),), indices=one),)
            places = [np.array([j if transposed else i]), np.array([i if transposed else j])]
            compare(slots, body, [empty, matrix, random_vector(50, FP32, at, 0.5), *places])
        body = (Statement("extract", 0, (Arg(2),), indices=one[:1]),)
        given = [empty, matrix, random_vector(50, FP32, at, 0.5), np.array([i]), np.array([0])]
        compare(slots, body, given)
