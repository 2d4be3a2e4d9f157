"""Complex numbers and records on the GPU against the reference, and sums of every method."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from tests.gpu.test_statements_cuda import mask_of, random_matrix, random_vector, run
from tests.helpers.every import every

import semira as gb
from semira.backends.registry import backend_for
from semira.base.dtypes import FC32, FC64, FP32, FP64, INT32, INT64, lookup_dtype
from semira.contract import Arg, Hints, IndexSpec, Slot, Statement
from semira.formats import MatrixArrays, ScalarArrays, VectorArrays, coo_to_matrix
from semira.ops.registry import NUMPY, indexunary, monoid, semiring, unary

pytestmark = pytest.mark.gpu

SHORT = np.dtype([("key", np.int32), ("y", np.float64)])
LONG = np.dtype([("flag", np.bool_), ("key", np.int64), ("at", np.float32, (2,))], align=True)
UNITS = np.array([1, -1, 1j, -1j])


def larger(left, right):
    return left if left["key"] > right["key"] else right


LARGER = gb.binary.register_anonymous(larger, is_udt=True)
LARGEST = {
    12: gb.monoid.register_anonymous(LARGER, (-(10**9), 0)),
    24: gb.monoid.register_anonymous(LARGER, (False, -(10**9), [0, 0])),
}


class Kind:
    """A dtype, values of it that every order of sums leaves exact, and operators on them."""

    def __init__(self, dtype: Any, add: Any, multiply: Any, bound: Any = None) -> None:
        self.dtype = lookup_dtype(dtype)
        self.monoid = add.typed(self.dtype)
        self.ring = gb.semiring.register_anonymous(add, multiply).typed(self.dtype)
        self.bound = (bound or multiply).typed(self.dtype)
        self.equal = indexunary["valueeq"].typed(self.dtype)

    def values(self, keys: Any) -> Any:
        keys = np.asarray(keys)
        if self.dtype.is_complex:
            return UNITS[keys % 4].astype(self.dtype.np_type)
        made = np.zeros(len(keys), self.dtype.np_type)
        made["key"] = keys
        if "y" in made.dtype.names:
            made["y"] = keys / 4
        else:
            made["flag"], made["at"] = keys % 2, np.stack([keys, -keys], axis=-1)
        return made

    def vector(self, size: int, seed: int, density: float) -> VectorArrays:
        keys = random_vector(size, INT64, seed, density)
        return VectorArrays.sparse(size, self.dtype, keys.indices, self.values(keys.entry_values()))

    def matrix(self, size: int, seed: int) -> MatrixArrays:
        keys = random_matrix(size, INT64, seed)
        return MatrixArrays(
            size, size, self.dtype, keys.orientation, keys.indptr, keys.indices,
            self.values(keys.values), False,
        )  # fmt: skip

    def scalar(self, key: int) -> ScalarArrays:
        return ScalarArrays(self.dtype, self.values([key])[0])


KINDS = {
    "FC32": Kind(FC32, gb.monoid.plus, gb.binary.times),
    "FC32 times": Kind(FC32, gb.monoid.times, gb.binary.first),
    "FC64": Kind(FC64, gb.monoid.plus, gb.binary.times),
    "FC64 times": Kind(FC64, gb.monoid.times, gb.binary.second),
    "12 bytes": Kind(SHORT, LARGEST[12], gb.binary.first, LARGER),
    "24 bytes": Kind(LONG, LARGEST[24], gb.binary.second, LARGER),
}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    return KINDS[request.param]


def fields_of(values: Any) -> list[Any]:
    values = np.asarray(values)
    return [values] if values.dtype.names is None else [values[n] for n in values.dtype.names]


def compare(slots, body, given) -> None:
    expected, found = run("reference", slots, body, given), run("cuda", slots, body, given)
    if not isinstance(expected, tuple):
        assert (expected is None) == (found is None)
        expected, found = ((), expected), ((), found)
    assert found[0] == expected[0]
    if found[1] is None:
        return
    for mine, theirs in zip(fields_of(found[1]), fields_of(expected[1]), strict=True):
        np.testing.assert_array_equal(mine, theirs)


MASKS = [None, (True, False), (True, True)]


@every("direction", ["push", "pull"])
@every("op", ["vxm", "mxv"])
def test_products(kind, op, direction):
    for transposed, mask, accumulates in itertools.product((False, True), MASKS, (False, True)):
        slots = (Slot("vector", kind.dtype, "inout"), Slot("vector", kind.dtype),
                 Slot("matrix", kind.dtype), Slot("vector", INT32))  # fmt: skip
        args = (Arg(1), Arg(2, transposed))
        statement = Statement(
            op, 0, args if op == "vxm" else args[::-1], kind.ring, mask_of(mask, 3),
            kind.monoid.op if accumulates else None, replace=mask is not None,
            hints=Hints(direction=direction),
        )  # fmt: skip
        given = [kind.vector(700, 1, 0.3), kind.vector(700, 2, 0.2), kind.matrix(700, 3),
                 random_vector(700, INT32, 4, 0.5)]  # fmt: skip
        compare(slots, (statement,), given)


@pytest.mark.parametrize("blocks", [1, 7, None])
def test_many_threads_add_to_one_place(kind, blocks):
    size = 20_000
    rows = np.arange(size)
    keys = np.random.default_rng(1).integers(0, 99, size)
    star = coo_to_matrix(size, size, rows, rows % 3, kind.values(keys), dtype=kind.dtype)
    everything = VectorArrays.full(kind.dtype, kind.values(keys[::-1]))
    slots = (Slot("vector", kind.dtype, "inout"), Slot("vector", kind.dtype),
             Slot("matrix", kind.dtype))  # fmt: skip
    push = Statement("vxm", 0, (Arg(1), Arg(2)), kind.ring, hints=Hints(direction="push"))
    nothing = VectorArrays.empty(size, kind.dtype)
    backend = backend_for("cuda")
    backend.blocks = blocks
    try:
        compare(slots, (push,), [nothing, everything, star])
        places = VectorArrays.full(INT64, rows % 5)
        slots = (*slots[:2], Slot("vector", INT64))
        scatter = Statement("scatter", 0, (Arg(1), Arg(2)), params=(("dup", kind.monoid),))
        compare(slots, (scatter,), [nothing, everything, places])
    finally:
        backend.blocks = None


def positionwise(kind):
    whole = (IndexSpec("all"),)
    part = (IndexSpec("list", 4),)
    fill = unary["identity"].typed(kind.dtype)
    yield "copy", (1,), None, {}
    yield "apply", (1,), fill, {}
    yield "apply", (1, 3), kind.bound, {"params": (("side", "right"),)}
    yield "select", (1, 3), kind.equal, {}
    yield "ewise_add", (1, 2), kind.monoid.op, {}
    yield "ewise_mult", (1, 2), kind.bound, {}
    yield "ewise_union", (1, 2, 3, 3), kind.bound, {}
    yield "assign", (2,), None, {"indices": whole}
    yield "assign", (3,), None, {"indices": whole}
    yield "assign", (3,), None, {"indices": part}


@pytest.mark.parametrize("mask", MASKS)
def test_vectors_position_by_position(kind, mask):
    slots = (
        Slot("vector", kind.dtype, "inout"), Slot("vector", kind.dtype),
        Slot("vector", kind.dtype), Slot("scalar", kind.dtype), Slot("index", INT64),
        Slot("vector", INT32),
    )  # fmt: skip
    given = [kind.vector(300, 1, 0.4), kind.vector(300, 2, 0.4), kind.vector(300, 3, 0.4),
             None, np.array([7, 3, 250]), random_vector(300, INT32, 4, 0.5)]  # fmt: skip
    for (op, args, operator, more), literal in itertools.product(positionwise(kind), (True, False)):
        given[3] = kind.scalar(3).value if literal else kind.scalar(3)
        for accum in (None, kind.monoid.op):
            statement = Statement(
                op, 0, tuple(map(Arg, args)), operator, mask=mask_of(mask, 5), accum=accum, **more
            )
            compare(slots, (statement,), given)


def test_vectors_at_other_positions(kind):
    slots = (Slot("vector", kind.dtype, "inout"), Slot("vector", kind.dtype), Slot("index", INT64),
             Slot("vector", INT64), Slot("matrix", kind.dtype))  # fmt: skip
    places = VectorArrays.full(INT64, np.arange(60) * 7 % 60)
    given = [kind.vector(60, 1, 0.5), kind.vector(60, 2, 0.5), np.arange(60)[::-1], places,
             kind.matrix(60, 3)]  # fmt: skip
    for op, args, more in (
        ("extract", (1,), {"indices": (IndexSpec("list", 2),)}),
        ("assign", (1,), {"indices": (IndexSpec("list", 2),)}),
        ("gather", (1, 3), {}),
        ("gather", (0, 3), {}),
        ("diag", (4,), {}),
        ("reduce_rows", (4,), {"operator": kind.monoid}),
    ):
        for accum in (None, kind.monoid.op):
            compare(slots, (Statement(op, 0, tuple(map(Arg, args)), accum=accum, **more),), given)


@pytest.mark.parametrize("density", [0.0, 0.02, 1.0])
def test_reductions_and_scalars(kind, density):
    slots = (Slot("scalar", kind.dtype, "inout"), Slot("vector", kind.dtype),
             Slot("matrix", kind.dtype), Slot("scalar", kind.dtype))  # fmt: skip
    given = [kind.scalar(1), kind.vector(3000, 2, density), kind.matrix(100, 3), kind.scalar(1)]
    place = (IndexSpec("one", 4),)
    for op, args, operator, more in (
        ("reduce", (1,), kind.monoid, {}),
        ("reduce", (1,), kind.monoid, {"params": (("identity", True),)}),
        ("reduce", (2,), kind.monoid, {}),
        ("extract", (1,), None, {"indices": place}),
        ("ewise_add", (0, 3), kind.monoid.op, {}),
        ("select", (0, 3), kind.equal, {}),
        ("copy", (3,), None, {}),
    ):
        for accum in (None, kind.monoid.op):
            statement = Statement(op, 0, tuple(map(Arg, args)), operator, accum=accum, **more)
            index = (Slot("index", INT64),) if more.get("indices") else ()
            compare((*slots, *index), (statement,), [*given, *([np.array([5])] if index else [])])


def matrixwise(kind):
    rows = (IndexSpec("list", 4), IndexSpec("all"))
    yield "copy", (Arg(1, transposed=True),), None, {}
    yield "ewise_add", (Arg(1), Arg(2)), kind.monoid.op, {}
    yield "ewise_mult", (Arg(1), Arg(2)), kind.bound, {}
    yield "select", (Arg(1), Arg(3)), kind.equal, {}
    yield "apply", (Arg(1), Arg(3)), kind.bound, {"params": (("side", "right"),)}
    yield "mxm", (Arg(1), Arg(2)), kind.ring, {}
    yield "mxm", (Arg(1), Arg(2, transposed=True)), kind.ring, {}
    yield "assign", (Arg(3),), None, {"indices": rows}
    yield "assign", (Arg(1),), None, {"indices": (IndexSpec("all"),) * 2}


@pytest.mark.parametrize("mask", MASKS)
def test_matrices(kind, mask):
    slots = (
        Slot("matrix", kind.dtype, "inout"), Slot("matrix", kind.dtype),
        Slot("matrix", kind.dtype), Slot("scalar", kind.dtype), Slot("index", INT64),
        Slot("matrix", INT32),
    )  # fmt: skip
    given = [kind.matrix(40, seed) for seed in (1, 2, 3)]
    given += [None, np.array([7, 3, 25]), random_matrix(40, INT32, 4)]
    for (op, args, operator, more), literal in itertools.product(matrixwise(kind), (True, False)):
        given[3] = kind.scalar(2).value if literal else kind.scalar(2)
        for accum in (None, kind.monoid.op):
            statement = Statement(op, 0, args, operator, mask_of(mask, 5), accum, **more)
            compare(slots, (statement,), given)


def test_regions_of_matrices_are_extracted(kind):
    slots = (Slot("matrix", kind.dtype, "inout"), Slot("matrix", kind.dtype), Slot("index", INT64))
    indices = (IndexSpec("list", 2), IndexSpec("all"))
    statement = Statement("extract", 0, (Arg(1),), indices=indices)
    nowhere = np.zeros(0, np.int64)
    empty = coo_to_matrix(3, 40, nowhere, nowhere, kind.values(nowhere), dtype=kind.dtype)
    compare(slots, (statement,), [empty, kind.matrix(40, 1), np.array([30, 2, 2])])


@every("size", [1, 31, 33, 1000])
def test_values_go_in_and_out(kind, size):
    backend = backend_for("cuda")
    for density in (0.01, 0.4, 1.0):
        arrays = kind.vector(size, 5, density)
        found = backend.get(backend.put(arrays))
        assert found.entry_indices().tolist() == arrays.entry_indices().tolist()
        for mine, theirs in zip(*map(fields_of, (found.entry_values(), arrays.entry_values())),
                                strict=True):  # fmt: skip
            np.testing.assert_array_equal(mine, theirs)
    for value in (kind.scalar(2).value, None):
        found = backend.get(backend.put(ScalarArrays(kind.dtype, value))).value
        assert (found is None) if value is None else found == value


# sums --------------------------------------------------------------------------------------------
ODD = np.array([np.nan, 1.0, -0.0, 0.0, -np.inf, np.inf, -3.0])
SUMS = [("min", FP32), ("max", FP64), ("plus", FP32), ("plus", FP64), ("times", FP64)]
NUMPY_SUMS = [("maximum", FP32), ("minimum", FP64), ("hypot", FP64), ("maximum", FC64)]


@pytest.mark.parametrize("direction", ["push", "pull"])
@pytest.mark.parametrize(
    "typed",
    [monoid[name].typed(dtype) for name, dtype in SUMS]
    + [NUMPY["Monoid"][name].typed(dtype) for name, dtype in NUMPY_SUMS]
    + [NUMPY["Monoid"]["gcd"].typed(INT64)],
    ids=lambda typed: typed.key,
)
def test_odd_values_add_up_as_in_the_reference(typed, direction):
    """Column k gets every pair of odd values, or one alone: an identity must not show."""
    dtype = typed.type
    values = np.array([-6, 0, 4, -9], np.int64) if dtype is INT64 else ODD.astype(dtype.np_type)
    pairs = [(k,) for k in range(len(values))] + [*itertools.product(range(len(values)), repeat=2)]
    rows = np.concatenate([2 * k + np.arange(len(pair)) for k, pair in enumerate(pairs)])
    cols = np.concatenate([[k] * len(pair) for k, pair in enumerate(pairs)])
    given = values[np.concatenate([list(pair) for pair in pairs])]
    n = 2 * len(pairs)
    matrix = coo_to_matrix(n, n, rows, cols, given, dtype=dtype)
    ones = VectorArrays.full(dtype, np.ones(n, dtype.np_type))
    ring = gb.semiring.register_anonymous(typed.parent, gb.binary.second).typed(dtype)
    slots = (Slot("vector", dtype, "inout"), Slot("vector", dtype), Slot("matrix", dtype))
    statement = Statement("vxm", 0, (Arg(1), Arg(2)), ring, hints=Hints(direction=direction))
    with np.errstate(all="ignore"):
        compare(slots, (statement,), [VectorArrays.empty(n, dtype), ones, matrix])
        slots = (slots[0], slots[1], Slot("vector", INT64))
        source = VectorArrays.sparse(len(given), dtype, np.arange(len(given)), given)
        scatter = Statement("scatter", 0, (Arg(1), Arg(2)), params=(("dup", typed),))
        places = VectorArrays.full(INT64, cols.astype(np.int64))
        compare(slots, (scatter,), [VectorArrays.empty(n, dtype), source, places])


def test_a_lone_negative_zero_keeps_its_sign():
    eye = coo_to_matrix(40, 40, np.arange(40), np.arange(40), np.full(40, -0.0), dtype=FP64)
    ones = VectorArrays.full(FP64, np.ones(40))
    slots = (Slot("vector", FP64, "inout"), Slot("vector", FP64), Slot("matrix", FP64))
    for direction in ("push", "pull"):
        statement = Statement("vxm", 0, (Arg(1), Arg(2)), semiring["plus_second"].typed(FP64),
                              hints=Hints(direction=direction))  # fmt: skip
        _, found = run("cuda", slots, (statement,), [VectorArrays.empty(40, FP64), ones, eye])
        assert np.signbit(found).all()


@pytest.mark.parametrize("dtype", [FP32, FC64])
def test_deterministic_sums_are_the_same_for_any_number_of_blocks(dtype):
    rng = np.random.default_rng(5)
    backend, fixed = backend_for("cuda"), Hints(deterministic=True)
    keys = np.unique(rng.integers(0, 2000 * 2000, 60_000))
    values = (rng.normal(size=len(keys)) * 10.0 ** rng.integers(-6, 6, len(keys))).astype(
        dtype.np_type
    )
    matrix = coo_to_matrix(2000, 2000, keys // 2000, keys % 2000, values, dtype=dtype)
    u = VectorArrays.full(dtype, values[:2000])
    vectors = (Slot("vector", dtype, "inout"), Slot("vector", dtype), Slot("matrix", dtype))
    scalars = (Slot("scalar", dtype, "inout"), *vectors[1:])
    empty, none = VectorArrays.empty(2000, dtype), ScalarArrays(dtype, None)
    add = monoid["plus"].typed(dtype)
    cases = [
        (vectors, Statement("vxm", 0, (Arg(1), Arg(2)), semiring["plus_times"].typed(dtype),
                            hints=fixed), [empty, u, matrix]),
        (scalars, Statement("reduce", 0, (Arg(1),), add, hints=fixed), [none, u, matrix]),
        (scalars, Statement("reduce", 0, (Arg(2),), add, hints=fixed), [none, u, matrix]),
    ]  # fmt: skip
    for slots, statement, given in cases:
        found = []
        for blocks in (1, 7, None, None):
            backend.blocks = blocks
            try:
                made = run("cuda", slots, (statement,), given)
            finally:
                backend.blocks = None
            values = made[1] if isinstance(made, tuple) else np.array([made])
            found.append(values.tobytes())
        assert len(set(found)) == 1


# Python functions --------------------------------------------------------------------------------
def test_python_functions_of_complex_numbers():
    turned = gb.unary.register_anonymous(lambda x: x * 1j + 2)
    size_of = gb.unary.register_anonymous(lambda x: x.real * x.real + x.imag * x.imag)
    mixed = gb.binary.register_anonymous(lambda x, y: x * y.conjugate() + 1)
    for kind in (KINDS["FC32"], KINDS["FC64"]):
        slots = (Slot("vector", kind.dtype, "inout"), Slot("vector", kind.dtype),
                 Slot("vector", kind.dtype))  # fmt: skip
        given = [kind.vector(200, seed, 0.5) for seed in (1, 2, 3)]
        for op, args, operator in (
            ("apply", (Arg(1),), turned.typed(kind.dtype)),
            ("apply", (Arg(1),), size_of.typed(kind.dtype)),
            ("ewise_add", (Arg(1), Arg(2)), mixed.typed(kind.dtype)),
        ):
            compare(slots, (Statement(op, 0, args, operator),), given)


def test_python_monoids_with_and_without_atomics():
    def most(x, y):
        return max(x, y)

    def product(x, y):
        return x * y

    for dtype, function in ((INT64, most), (FC64, product)):
        fold = gb.binary.register_anonymous(function)
        add = gb.monoid.register_anonymous(fold, -(10**6) if dtype is INT64 else 1)
        ring = gb.semiring.register_anonymous(add, gb.binary.second).typed(dtype)
        complex_kind = KINDS["FC64"]
        if dtype is FC64:
            given = [complex_kind.vector(700, 1, 0.3), complex_kind.vector(700, 2, 0.3),
                     complex_kind.matrix(700, 3)]  # fmt: skip
        else:
            given = [random_vector(700, dtype, 1, 0.3), random_vector(700, dtype, 2, 0.3),
                     random_matrix(700, dtype, 3)]  # fmt: skip
        slots = (Slot("vector", dtype, "inout"), Slot("vector", dtype), Slot("matrix", dtype))
        for direction in ("push", "pull"):
            body = (Statement("vxm", 0, (Arg(1), Arg(2)), ring, hints=Hints(direction=direction)),)
            compare(slots, body, given)


def test_functions_that_see_both_positions():
    def near(x, ix, jx, y, iy, jy, theta):
        return x + 10 * y if abs(ix - jy) <= theta else x + ix - 3 * jx + 7 * iy

    for theta in (3, -1):
        op = gb.indexbinary.register_anonymous(near)(theta)
        products = gb.semiring.register_anonymous(gb.monoid.plus, op)
        made = []
        for device in ("reference", "cuda"):
            with gb.device(device):
                rng = np.random.default_rng(1)
                a, b = (gb.Matrix.from_dense(rng.integers(0, 9, (20, 20)), missing_value=0)
                        for _ in range(2))  # fmt: skip
                u = gb.Vector.from_dense(rng.integers(0, 9, 20), missing_value=0)
                v = gb.Vector.from_dense(rng.integers(0, 9, 20), missing_value=0)
                made.append([
                    item.to("cpu") for item in (
                        a.ewise_mult(b, op).new(), a.mxm(b, products).new(),
                        a.mxv(u, products).new(), u.vxm(a, products).new(),
                        u.ewise_mult(v, op).new(),
                    )
                ])  # fmt: skip
        for wanted, found in zip(*made, strict=True):
            assert found.isequal(wanted)


# scalars -----------------------------------------------------------------------------------------
def test_selecting_a_scalar():
    with gb.device("cuda"):
        for value in (4, 2.5, 1 + 2j):
            x = gb.Scalar.from_value(value)
            assert x.select("==", value).new() == value
            assert x.select("!=", value).new().is_empty
            assert x.select("rowle", 0).new() == value
            assert x.select("rowgt", 0).new().is_empty
            empty = gb.Scalar(x.dtype)
            assert empty.select("==", value).new().is_empty


def test_a_loop_keeps_complex_scalars_and_vectors():
    with gb.device("cuda"):
        v = gb.Vector.from_coo([0, 2], [1j, 2.0], size=4)
        s = gb.Scalar.from_value(1 + 0j)

        def step():
            v << v * 1j
            s << s * (1 + 1j)

        gb.repeat(step, max_iterations=5)
        assert v.to_dict() == {0: -1 + 0j, 2: 2j}
        assert s.value == (1 + 1j) ** 5
