"""Fixed points in one launch, beside the loop of the host's devices and a plain one in NumPy."""

from __future__ import annotations

import math
import os
import signal

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import semira as gb
from semira.backends.cuda.backend import CudaBackend
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.registry import backend_for
from semira.exceptions import DeviceMismatch, IterationLimit

pytestmark = pytest.mark.gpu


@pytest.fixture(autouse=True)
def few_blocks(request):
    """Keep the launches small where threads of the host stand in for a GPU's."""
    if not request.config.getoption("--emulate"):
        yield
        return
    backend = backend_for("cuda")
    before, backend.blocks = backend.blocks, 4
    yield
    backend.blocks = before


@pytest.fixture
def launches(monkeypatch):
    """Whether each call was answered by the launch, not left to the loop."""
    found: list[bool] = []
    own = CudaBackend.fixed_point

    def noted(*given):
        result = own(*given)
        found.append(result is not None)
        return result

    monkeypatch.setattr(CudaBackend, "fixed_point", noted)
    return found


def drawn(n: int, entries: int, dtype: str, seed: int, low: int = 1, high: int = 20) -> gb.Matrix:
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(0, n, entries), rng.integers(0, n, entries)
    values = rng.integers(low, high, entries)
    return gb.Matrix.from_coo(rows, columns, values, dtype, nrows=n, ncols=n, dup_op="min").to(
        "cpu"
    )


def by_numpy(a: gb.Matrix, start: dict, add, multiply) -> dict:
    """Return the fixed point, edge by edge, by additions of Python's numbers."""
    edges = list(zip(*(part.tolist() for part in a.to_coo()), strict=True))
    found, is_open = dict(start), True
    while is_open:
        is_open = False
        for i, j, x in edges:
            if i not in found:
                continue
            offer = multiply(found[i], x)
            if j not in found or (add(found[j], offer) != found[j]):
                found[j] = offer if j not in found else add(found[j], offer)
                is_open = True
    return found


def check(a: gb.Matrix, start: dict, op, add, multiply, *, width=None, transposed=False) -> None:
    plain = a.T.new() if transposed else a
    expected = by_numpy(plain, start, add, multiply)
    dtype = a.dtype
    w = gb.Vector.from_dict(start, dtype, size=a.nrows).to("cuda")
    there = a.to("cuda")
    w.fixed_point(there.T if transposed else there, op, width=width)
    assert w._value.where == "cuda"
    assert w.to_dict() == expected
    assert w.nvals == len(expected)


RINGS = {
    "min_plus": (min, lambda x, y: x + y),
    "max_min": (max, min),
    "min_max": (min, max),
    "max_second": (max, lambda x, y: y),
    "min_first": (min, lambda x, y: x),
}


@pytest.mark.parametrize("dtype", ["FP32", "FP64", "INT32", "INT64", "UINT32", "UINT64"])
@pytest.mark.parametrize("ring", RINGS)
def test_semirings_and_dtypes(ring, dtype, launches):
    a = drawn(150, 400, dtype, 3)
    check(a, {5: 0, 70: 9}, getattr(gb.semiring, ring), *RINGS[ring])
    assert launches == [True]


@pytest.mark.parametrize("width", [0, 1, 7.5, 1e300, math.inf])
@pytest.mark.parametrize("dtype", ["FP32", "INT32", "UINT64"])
@pytest.mark.parametrize("ring", ["min_plus", "max_min"])
def test_windows(ring, dtype, width, launches):
    check(drawn(300, 900, dtype, 4), {0: 30}, getattr(gb.semiring, ring), *RINGS[ring], width=width)
    assert launches == [True]


def test_negative_values_without_a_cycle(launches):
    rng = np.random.default_rng(5)
    rows = rng.integers(0, 199, 600)
    columns = rows + 1 + rng.integers(0, 199 - rows)
    for dtype in ("FP64", "FP32", "INT64"):
        a = gb.Matrix.from_coo(
            rows, columns, rng.integers(-9, 9, 600), dtype, nrows=200, ncols=200, dup_op="min"
        ).to("cpu")
        check(a, {0: 0, 3: -2}, gb.semiring.min_plus, *RINGS["min_plus"])
        check(a, {0: 0}, gb.semiring.min_plus, *RINGS["min_plus"], width=3)
        check(a, {0: 0}, gb.semiring.max_plus, max, RINGS["min_plus"][1])
    assert launches == [True] * 9


def test_a_negative_cycle_ends_and_leaves_the_vector(launches):
    a = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, -3.0, 1.0], nrows=3, ncols=3).to("cuda")
    w = gb.Vector.from_coo([0], 0.0, size=3).to("cuda")
    with pytest.raises(IterationLimit, match="still improved"):
        w.fixed_point(a, "min_plus")
    assert w.to_dict() == {0: 0.0}
    assert launches == [False]


def test_ctrl_c_is_passed_on_and_leaves_the_vector(monkeypatch):
    a = drawn(400, 1200, "FP64", 8).to("cuda")
    w = gb.Vector.from_coo([0], 0.0, size=400).to("cuda")
    own_look, own_poke, looks, told = Runtime.is_idle, Runtime.poke, [], []

    def pressed_at_the_first_look(runtime):
        looks.append(None)
        if len(looks) == 1:
            os.kill(os.getpid(), signal.SIGINT)
            return False
        return len(looks) > 2 and own_look(runtime)

    def noted(runtime, buffer, at, value):
        told.append((at, int(value[0])))
        own_poke(runtime, buffer, at, value)

    monkeypatch.setattr(Runtime, "is_idle", pressed_at_the_first_look)
    monkeypatch.setattr(Runtime, "poke", noted)
    with pytest.raises(KeyboardInterrupt):
        w.fixed_point(a, "min_plus")
    assert told == [(0, 1)]
    assert w.to_dict() == {0: 0.0}
    monkeypatch.undo()
    w.fixed_point(a, "min_plus")
    assert w.nvals > 1


def test_loops_unreachable_positions_and_nothing_at_all(launches):
    a = gb.Matrix.from_coo([0, 0, 1, 5], [0, 1, 1, 6], [2, 3, 4, 1], nrows=40, ncols=40).to("cpu")
    check(a, {0: 1}, gb.semiring.min_plus, *RINGS["min_plus"])
    check(a, {}, gb.semiring.min_plus, *RINGS["min_plus"])
    check(gb.Matrix("INT64", 40, 40).to("cpu"), {3: 1}, gb.semiring.min_plus, *RINGS["min_plus"])
    assert launches == [True] * 3


def test_the_identity_is_a_value(launches):
    """The greatest integer, and infinity, come to positions that were empty."""
    most = 2**63 - 1
    a = gb.Matrix.from_coo([0, 1, 2], [1, 2, 3], [most, most, 4], nrows=5, ncols=5).to("cpu")
    check(a, {0: most}, gb.semiring.min_max, *RINGS["min_max"])
    far = gb.Matrix.from_coo([0, 1], [1, 2], [math.inf, 1.0], nrows=4, ncols=4).to("cpu")
    check(far, {0: 0.0}, gb.semiring.min_plus, *RINGS["min_plus"])
    assert launches == [True, True]


def test_nan_improves_nothing(launches):
    a = gb.Matrix.from_coo([0, 0, 3], [1, 2, 4], [math.nan, 1.0, 2.0], nrows=6, ncols=6)
    for device in ("cpu", "cuda"):
        w = gb.Vector.from_coo([0, 2, 3], [0.0, math.nan, math.nan], size=6).to(device)
        w.fixed_point(a.dup().to(device), "min_plus")
        found = w.to_dict()
        assert set(found) == {0, 2, 3}
        assert math.isnan(found.pop(3))
        assert found == {0: 0.0, 2: 1.0}
    assert launches == [True]


def test_a_function_of_python(launches):
    op = gb.binary.register_anonymous(lambda x, y: x + 2 * y)
    ring = gb.semiring.register_anonymous(gb.monoid.min, op)
    check(drawn(80, 240, "INT64", 6), {2: 1}, ring, min, lambda x, y: x + 2 * y)
    assert launches == [True]


def test_transposed_one_value_for_all_and_wide_offsets(launches):
    a = drawn(90, 300, "FP64", 7)
    check(a, {1: 0.0}, gb.semiring.min_plus, *RINGS["min_plus"], transposed=True)
    one = a.apply("one").new().to("cpu")
    check(one, {1: 0.0}, gb.semiring.min_plus, *RINGS["min_plus"])
    there = a.to("cuda")
    there._value.handle_on("cuda").widen()
    w = gb.Vector.from_coo([1], 0.0, size=90).to("cuda")
    w.fixed_point(there, "min_plus")
    assert w.to_dict() == by_numpy(a, {1: 0.0}, *RINGS["min_plus"])
    assert launches == [True] * 3


def test_values_of_one_byte_take_the_loop(launches):
    check(drawn(60, 150, "INT8", 8, 0, 2), {0: 0}, gb.semiring.max_min, *RINGS["max_min"])
    assert launches == [False]


def test_a_matrix_on_another_device():
    w = gb.Vector.from_coo([0], 0.0, size=9).to("cuda")
    with pytest.raises(DeviceMismatch):
        w.fixed_point(drawn(9, 20, "FP64", 1), "min_plus")


def test_a_result_is_a_vector_like_others(launches):
    """Its copies, products and a second fixed point read it; an alias is not touched."""
    a = drawn(70, 260, "INT64", 9)
    w = gb.Vector.from_coo([0], 0, size=70).to("cuda")
    kept, there = w.dup(), a.to("cuda")
    w.fixed_point(there, "min_plus")
    assert kept.to_dict() == {0: 0}
    before = w.to_dict()
    assert (
        w.vxm(there, "min_plus").new().to("cpu").isequal(w.dup().to("cpu").vxm(a, "min_plus").new())
    )
    w.fixed_point(there, "min_plus")
    assert w.to_dict() == before
    w << w.apply("ainv")
    assert w.to_dict() == {i: -x for i, x in before.items()}
    assert launches == [True, True]


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    data=st.data(), ring=st.sampled_from(sorted(RINGS)), dtype=st.sampled_from(["FP32", "INT32"])
)
def test_drawn_graphs(data, ring, dtype):
    n = data.draw(st.integers(1, 40))
    place = st.integers(0, n - 1)
    edges = data.draw(st.dictionaries(st.tuples(place, place), st.integers(0, 9), max_size=80))
    start = data.draw(st.dictionaries(place, st.integers(-5, 9), max_size=4))
    rows, columns = [i for i, _ in edges], [j for _, j in edges]
    a = gb.Matrix.from_coo(
        np.array(rows, int), np.array(columns, int), np.array(list(edges.values()), int), dtype,
        nrows=n, ncols=n,
    ).to("cpu")  # fmt: skip
    width = data.draw(st.sampled_from([None, 0, 1, 5]))
    check(a, start, getattr(gb.semiring, ring), *RINGS[ring], width=width)


def test_a_profile_has_its_launches():
    w, a = gb.Vector.from_coo([0], 0, size=50).to("cuda"), drawn(50, 200, "INT64", 2).to("cuda")
    with backend_for("cuda").profiled() as profile:
        w.fixed_point(a, "min_plus", width=0)
    names = [use.name for use in profile.kernels()]
    assert sum("fixed_point" in name for name in names) == 3
