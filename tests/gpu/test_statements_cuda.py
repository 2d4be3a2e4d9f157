"""Single statements on the GPU against the reference backend."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from tests.helpers.every import every

from semira.backends.registry import backend_for
from semira.base.dtypes import BOOL, FP32, FP64, INT8, INT32, INT64
from semira.base.errors import EmptyObject
from semira.contract import Arg, IndexSpec, Mask, Program, Slot, Statement
from semira.contract.hints import NO_HINTS
from semira.formats import MatrixArrays, VectorArrays, coo_to_matrix
from semira.ops.registry import binary, indexunary, monoid, semiring, unary
from semira.plan import plan_program

pytestmark = pytest.mark.gpu

SIZES = [1, 32, 33, 700]
MASKS = [None, *itertools.product((True, False), (True, False))]


def random_vector(size: int, dtype, seed: int, density: float) -> VectorArrays:
    rng = np.random.default_rng(seed)
    indices = np.flatnonzero(rng.random(size) < density).astype(np.int32)
    values = rng.integers(0, 5, len(indices)).astype(dtype.np_type)
    return VectorArrays.sparse(size, dtype, indices, values)


def random_matrix(size: int, dtype, seed: int) -> MatrixArrays:
    rng = np.random.default_rng(seed)
    count = 6 * size
    # A few long rows, so that push cuts them into chunks.
    rows = (size * rng.random(count) ** 3).astype(np.int64)
    keys = np.unique(rows * size + rng.integers(0, size, count))
    values = rng.integers(0, 5, len(keys)).astype(dtype.np_type)
    return coo_to_matrix(size, size, keys // size, keys % size, values)


def run(name: str, slots, body, given):
    """Run a program on one backend, pins for the GPU only; return the outputs' entries."""
    backend = backend_for(name)
    if name != "cuda":
        body = tuple(dataclasses.replace(each, hints=NO_HINTS) for each in body)
    program = plan_program(Program(slots, body), backend.capabilities())
    bindings = [
        thing
        if np.isscalar(thing) or isinstance(thing, np.ndarray) or not hasattr(thing, "dtype")
        else backend.put(thing)
        for thing in given
    ]
    backend.execute(backend.prepare(program), bindings)
    found = backend.get(bindings[0])
    if hasattr(found, "value"):
        return found.value
    if hasattr(found, "indptr"):
        found.validate()
        rows, cols, values = found.to_coo()
        order = np.lexsort((cols, rows))
        pairs = zip(rows[order].tolist(), cols[order].tolist(), strict=True)
        return list(pairs), values[order]
    return found.entry_indices().tolist(), found.entry_values()


def compare(slots, body, given) -> None:
    expected = run("reference", slots, body, given)
    found = run("cuda", slots, body, given)
    if not isinstance(expected, tuple):
        assert found == expected
        return
    assert found[0] == expected[0]
    np.testing.assert_array_equal(found[1], expected[1])


def mask_of(flags, slot: int) -> Mask | None:
    return None if flags is None else Mask(slot, structural=flags[0], complement=flags[1])


@every("size", SIZES)
@every("mask", MASKS)
@every("replace", [False, True])
@every("accum", [None, "plus"])
def test_assign_of_a_scalar_under_every_mask(size, mask, replace, accum):
    slots = (Slot("vector", INT64, "inout"), Slot("vector", INT8), Slot("scalar", FP64))
    body = (
        Statement(
            "assign", 0, (Arg(2),), mask=mask_of(mask, 1), replace=replace and mask is not None,
            accum=accum and binary[accum].typed(INT64), indices=(IndexSpec("all"),),
        ),
    )  # fmt: skip
    given = [random_vector(size, INT64, 1, 0.3), random_vector(size, INT8, 2, 0.5), 2.5]
    compare(slots, body, given)


STATEMENTS = {
    "copy": ("copy", (1,), None),
    "sqrt": ("apply", (1,), unary["sqrt"].typed(FP32)),
    "bound": ("apply", (1, 3), binary["minus"].typed(FP64)),
    "bound left": ("apply", (3, 1), binary["minus"].typed(FP64)),
    "index": ("apply", (1, 3), indexunary["rowindex"].typed(FP32)),
    "select": ("select", (1, 3), indexunary["valuegt"].typed(FP32)),
    "select index": ("select", (1, 3), indexunary["rowle"].typed(FP32)),
    "intersection": ("ewise_mult", (1, 2), binary["times"].typed(FP64)),
    "union": ("ewise_add", (1, 2), binary["minus"].typed(FP64)),
    "comparison": ("ewise_add", (1, 2), binary["lt"].typed(FP64)),
    "filled union": ("ewise_union", (1, 2, 3, 3), binary["minus"].typed(FP64)),
    "assign vector": ("assign", (2,), None),
}


@every("name", STATEMENTS)
@every("mask", MASKS)
@every("accum", [None, "plus"])
def test_elementwise_statements(name, mask, accum):
    op, args, operator = STATEMENTS[name]
    slots = (
        Slot("vector", FP32, "inout"), Slot("vector", FP32), Slot("vector", INT32),
        Slot("scalar", INT64), Slot("vector", BOOL),
    )  # fmt: skip
    replaces = [False] if mask is None else [False, True]
    for replace, size in itertools.product(replaces, (33, 700)):
        statement = Statement(
            op, 0, tuple(Arg(a) for a in args), operator, mask=mask_of(mask, 4), replace=replace,
            accum=accum and binary[accum].typed(FP32),
            indices=(IndexSpec("all"),) if op == "assign" else (),
            params=(("side", "left" if name == "bound left" else "right"),),
        )  # fmt: skip
        given = [
            random_vector(size, FP32, 1, 0.4), random_vector(size, FP32, 2, 0.4),
            random_vector(size, INT32, 3, 0.4), 2, random_vector(size, BOOL, 4, 0.5),
        ]  # fmt: skip
        compare(slots, (statement,), given)


def test_an_output_may_be_operand_and_mask():
    slots = (Slot("vector", INT64, "inout"), Slot("vector", INT64))
    mask = Mask(0, structural=True, complement=False)
    body = (
        Statement("ewise_add", 0, (Arg(0), Arg(1)), binary["plus"].typed(INT64), mask=mask),
        Statement("ewise_add", 0, (Arg(1), Arg(0)), binary["plus"].typed(INT64)),
    )
    compare(slots, body, [random_vector(500, INT64, 1, 0.3), random_vector(500, INT64, 2, 0.3)])


SEMIRINGS = [
    ("plus_times", INT64), ("plus_times", FP64), ("min_plus", FP32), ("max_second", INT32),
    ("lor_land", BOOL), ("plus_pair", INT8), ("times_first", INT8), ("min_secondi", INT64),
    ("lxor_pair", BOOL),
]  # fmt: skip


@every(("name", "dtype"), SEMIRINGS)
@every("direction", ["push", "pull", None])
@every("op", ["vxm", "mxv"])
def test_products_agree_with_the_reference(name, dtype, direction, op):
    from semira.contract import Hints

    typed = semiring[name].typed(dtype)
    slots = (
        Slot("vector", typed.return_type, "inout"), Slot("vector", dtype), Slot("matrix", dtype),
        Slot("vector", INT8),
    )  # fmt: skip
    cases = [(None, False, None), ((True, True), True, None), ((False, False), False, None),
             (None, False, "first"), ((True, False), False, "second")]  # fmt: skip
    for transposed, (mask, replace, accum) in [(True, cases[0]), *((False, c) for c in cases)]:
        matrix = Arg(2, transposed=transposed)
        args = (Arg(1), matrix) if op == "vxm" else (matrix, Arg(1))
        statement = Statement(
            op, 0, args, typed, mask=mask_of(mask, 3), replace=replace,
            accum=accum and binary[accum].typed(typed.return_type),
            hints=Hints(direction=direction),
        )  # fmt: skip
        given = [
            random_vector(700, typed.return_type, 1, 0.3), random_vector(700, dtype, 2, 0.2),
            random_matrix(700, dtype, 3), random_vector(700, INT8, 4, 0.5),
        ]  # fmt: skip
        compare(slots, (statement,), given)


def test_an_empty_bound_scalar_is_an_error_and_leaves_the_output():
    from semira.formats import ScalarArrays

    backend = backend_for("cuda")
    slots = (Slot("vector", FP32, "inout"), Slot("vector", FP32), Slot("scalar", FP32))
    plus = binary["plus"].typed(FP32)
    program = Program(slots, (Statement("apply", 0, (Arg(1), Arg(2)), plus),))
    executable = backend.prepare(plan_program(program, backend.capabilities()))
    before = random_vector(50, FP32, 1, 0.5)
    for empty in (None, backend.put(ScalarArrays(FP32, None))):
        bindings = [backend.put(before), backend.put(random_vector(50, FP32, 2, 0.5)), empty]
        with pytest.raises(EmptyObject):
            backend.execute(executable, bindings)
        found = backend.get(bindings[0])
        assert found.entry_indices().tolist() == before.entry_indices().tolist()


@pytest.mark.parametrize("name", ["plus", "min", "max", "times"])
@pytest.mark.parametrize("density", [0.0, 0.1, 1.0])
def test_reduce_and_its_empty_case(name, density):
    slots = (Slot("scalar", INT64, "output"), Slot("vector", INT32))
    typed = monoid[name].typed(INT32)
    for identity in (False, True):
        params = (("identity", identity),)
        body = (Statement("reduce", 0, (Arg(1),), typed, params=params),)
        from semira.formats import ScalarArrays

        given = [ScalarArrays(INT64, None), random_vector(5000, INT32, 1, density)]
        compare(slots, body, given)


def test_vectors_come_back_as_they_went(monkeypatch):
    backend = backend_for("cuda")
    for size, density in itertools.product((0, 1, 31, 64, 1000), (0.0, 0.01, 0.5, 1.0)):
        arrays = random_vector(size, FP32, 5, density)
        handle = backend.convert(backend.put(arrays), "copy")
        found = backend.get(handle)
        found.validate()
        assert found.nvals == arrays.nvals
        assert found.entry_indices().tolist() == arrays.entry_indices().tolist()
        assert np.array_equal(found.entry_values(), arrays.entry_values())


def test_matrices_come_back_in_either_orientation():
    backend = backend_for("cuda")
    arrays = random_matrix(50, INT32, 7)
    handle = backend.convert(backend.put(arrays), "csc")
    found = backend.get(handle)
    assert np.array_equal(found.indices, arrays.indices)
    assert set(handle.orientations) == {"csr", "csc"}


def test_an_eager_product_does_not_wait_until_its_trace_is_read():
    backend = backend_for("cuda")
    typed = semiring["plus_times"].typed(FP32)
    slots = (Slot("vector", FP32, "inout"), Slot("vector", FP32), Slot("matrix", FP32))
    program = plan_program(
        Program(slots, (Statement("vxm", 0, (Arg(1), Arg(2)), typed),)), backend.capabilities()
    )
    executable = backend.prepare(program)
    bindings = [
        backend.put(random_vector(100, FP32, 1, 0.0)),
        backend.put(random_vector(100, FP32, 2, 0.5)),
        backend.put(random_matrix(100, FP32, 3)),
    ]
    backend.execute(executable, bindings)
    before = backend.statistics().synchronisations
    outcome = backend.execute(executable, bindings)
    assert backend.statistics().synchronisations == before
    assert len(outcome.trace) == 1
    assert outcome.trace[0].frontier == random_vector(100, FP32, 2, 0.5).nvals
    assert backend.statistics().synchronisations == before + 1
