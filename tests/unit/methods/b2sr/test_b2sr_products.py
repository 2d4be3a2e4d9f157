"""Products by tiles of bits: every size and mask against compressed rows, pinned and chosen."""

from __future__ import annotations

import functools
import operator

import numpy as np
import pytest
from tests.helpers.every import every

import semira as gb
from semira.methods.b2sr.arrays import SIZES

#: Bits, counts, first ones, values of the vector, positions, values of the matrix, floats in order.
RINGS = (
    "any_pair", "lor_land", "plus_pair", "min_second", "max_second", "plus_second", "min_firstj",
    "max_secondi", "min_plus", "times_pair", "lxor_pair", "lxnor_pair", "bxor_pair", "bxnor_pair",
    "min_pair",
)  # fmt: skip

SHAPES = {
    "rectangular": (50, 70, 400),
    "wide": (9, 200, 300),
    "tall": (150, 5, 200),
    "one": (1, 1, 1),
    "empty": (40, 33, 0),
    "full": (34, 34, 34 * 34),
}


def matrix(nrows: int, ncols: int, nvals: int, *, hub: bool = False, dtype=bool) -> gb.Matrix:
    cells = np.random.default_rng(7).choice(nrows * ncols, nvals, replace=False)
    rows, cols = np.divmod(cells, ncols)
    if hub:
        rows, cols = np.append(rows, np.full(ncols, 3)), np.append(cols, np.arange(ncols))
        rows, cols = np.divmod(np.unique(rows * ncols + cols), ncols)
    return gb.Matrix.from_coo(rows, cols, True, dtype=dtype, nrows=nrows, ncols=ncols)


def vector(size: int, share: float, seed: int, dtype="FP64") -> gb.Vector:
    rng = np.random.default_rng(seed)
    held = np.flatnonzero(rng.random(size) < share)
    # Sums of quarters are exact, in any order.
    values = rng.integers(0, 99, len(held)) / 4
    return gb.Vector.from_coo(held, values, dtype=dtype, size=size)


@pytest.fixture
def placed(device):
    with gb.device(device):
        yield device


PINS = {"direction": "pull"}


# Every side with each scheme: test_b2sr_schemes.py.
@every("ring, bits", [(ring, SIZES[number % 4]) for number, ring in enumerate(RINGS)])
def test_products_with_masks(placed, ring, bits):
    A = matrix(50, 70, 400, hub=True)
    u, v = vector(70, 0.5, 1), vector(50, 0.6, 2)
    for out, share in ((50, 0.4), (70, 0.02)):
        mask = vector(out, share, 3)
        for pins in ({}, {"mask": mask.S}, {"mask": ~mask.S}, {"mask": ~mask.V}):
            expr = A.mxv(u, ring) if out == 50 else v.vxm(A, ring)
            found = expr.new(**pins, **PINS, method="b2sr", bits=bits)
            assert found.isequal(expr.new(**pins), check_dtype=True), pins
    found = A.T.mxv(v, ring).new(**PINS, method="b2sr", bits=bits)
    assert found.isequal(A.T.mxv(v, ring).new(), check_dtype=True)


@every("bits", SIZES)
@every("shape", SHAPES)
def test_shapes(placed, shape, bits):
    nrows, ncols, nvals = SHAPES[shape]
    A, u = matrix(nrows, ncols, nvals), vector(ncols, 0.5, 1)
    full = gb.Vector.from_dense(np.random.default_rng(1).random(ncols))
    for ring in ("any_pair", "plus_pair", "min_second", "lxor_pair"):
        for x in (u, full):
            found = A.mxv(x, ring).new(**PINS, bits=bits)
            assert found.isequal(A.mxv(x, ring).new(), check_dtype=True)


@every("bits", SIZES)
def test_positions_of_tiles_that_need_32_bits(placed, bits):
    size = 2**16 * bits + 100
    cols = np.unique(np.random.default_rng(1).integers(0, size, 300))
    rows = np.random.default_rng(2).integers(0, 9, len(cols))
    A = gb.Matrix.from_coo(rows, cols, True, dtype=bool, nrows=9, ncols=size)
    u = gb.Vector.from_coo(cols[::2], 1, size=size)
    for ring in ("any_pair", "plus_pair"):
        assert A.mxv(u, ring).new(**PINS, bits=bits).isequal(A.mxv(u, ring).new())


def test_counts_overflow_no_lane(placed):
    # A row of 400 full tiles: more than a byte can count.
    A = gb.Matrix.from_coo(np.zeros(3200, int), np.arange(3200), True, dtype=bool, nrows=9)
    u = gb.Vector.from_coo(np.arange(1, 3200), 1, size=3200)
    for bits in SIZES:
        assert A.mxv(u, "plus_pair").new(**PINS, bits=bits)[0].new().value == 3199


def test_sums_are_made_in_the_order_of_positions(placed):
    # Lines of few tiles, and ones that threads of a GPU share.
    for A in (matrix(60, 300, 9000), matrix(12, 2100, 9000)):
        values = np.random.default_rng(5).random(A.ncols)
        u, rows = gb.Vector.from_dense(values), A.to_dense(fill_value=False)
        wanted = [functools.reduce(operator.add, values[row].tolist()) for row in rows]
        for bits in SIZES:
            assert A.mxv(u, "plus_second").new(**PINS, bits=bits).to_coo()[1].tolist() == wanted


@every("bits", SIZES)
def test_sums_of_ones_in_lines_of_many_tiles(placed, bits):
    # Where one decides, rows are left behind it; parities need all of them.
    A, u = matrix(12, 2100, 9000), vector(2100, 0.5, 1)
    counts = A.mxv(u, "plus_pair").new(**PINS, bits=bits).to_coo()[1]
    assert counts.min() > 300
    for ring, wanted in (("times_pair", counts > 0), ("min_pair", counts > 0),
                         ("lor_pair", counts > 0), ("lxor_pair", counts % 2)):  # fmt: skip
        found = A.mxv(u, ring).new(**PINS, bits=bits)
        assert found.to_coo()[1].tolist() == wanted.tolist(), ring
        assert found.isequal(A.mxv(u, ring).new(), check_dtype=True), ring


@pytest.mark.parametrize("bits", [4, 32])
def test_parities_in_a_recorded_loop(placed, bits):
    def lights(**pins) -> gb.Vector:
        A = matrix(60, 60, 300)
        lit, round_ = gb.Vector.from_coo([0, 7, 31], True, size=60), gb.Scalar.from_value(0)

        def step():
            # A lamp is lit where an odd number of its neighbours' lamps are.
            found = A.mxv(lit, "lxor_pair").new(**pins)
            lit << found.select("valueeq", True)
            round_ << round_ + 1
            return round_ < 6

        gb.repeat(step, max_iterations=9)
        return lit

    found = lights(**PINS, bits=bits)
    assert 0 < found.nvals < 60
    assert found.isequal(lights(), check_dtype=True)


@every("bits", SIZES)
def test_any_takes_one_of_those_that_meet(placed, bits):
    A, u = matrix(50, 70, 400), vector(70, 0.5, 1)
    rows, found = A.mxv(u, "any_secondi").new(**PINS, bits=bits).to_coo()
    held = A.to_dense(fill_value=False)
    assert all(held[i, k] and k in u for i, k in zip(rows, found, strict=True))
    assert np.array_equal(rows, A.mxv(u, "any_pair").new().to_coo()[0])


def test_values_that_differ_are_refused(placed):
    if placed == "reference":
        pytest.skip("it runs every method by what it means")
    A = gb.Matrix.from_coo([0, 1], [1, 0], [1.0, 2.0], nrows=2, ncols=2)
    u = gb.Vector.from_dense([1.0, 2.0])
    with pytest.raises(gb.exceptions.PlanError, match=r"'b2sr' keeps no values.*pair"):
        A.mxv(u, "min_plus").new(**PINS, bits=8).wait()
    assert A.mxv(u, "min_second").new(**PINS, bits=8).isequal(A.mxv(u, "min_second").new())
    unit = gb.Matrix.from_coo([0, 1], [1, 0], 1.0, nrows=2, ncols=2)
    assert unit.mxv(u, "min_plus").new(**PINS, bits=8).isequal(unit.mxv(u, "min_plus").new())


def test_bits_alone_ask_for_the_method_and_push_stays(placed):
    A, u = matrix(50, 70, 400), gb.Vector.from_coo([3], 1, size=70)
    told = gb.explain(A.mxv(u, "any_pair"), bits=16)
    methods = [(each.name, each.storage) for each in told.plan.methods]
    # On a GPU the direction is settled beforehand.
    assert methods[-1] == ("pull", "b2sr")
    assert placed == "cuda" or methods[0] == ("push", "compressed")
    assert dict(told.plan.methods[-1].parameters) == {"bits": 16}
    assert gb.explain(A.mxv(u, "any_pair"), bits=None).plan.methods[-1].storage == "compressed"
    assert A.mxv(u, "any_pair").new(bits="auto").isequal(A.mxv(u, "any_pair").new())
    with pytest.raises(gb.exceptions.PlanError, match=r"bits=5 of method='b2sr'.*4, 8, 16, 32"):
        A.mxv(u, "any_pair").new(bits=5)
    with pytest.raises(gb.exceptions.InvalidValue, match="unknown option 'bits'"):
        A.mxv(u, "any_pair").new(method="pull", bits=8)


def test_tiles_are_kept_counted_and_dropped(placed):
    if placed == "reference":
        pytest.skip("it keeps nothing")
    A, u = matrix(50, 70, 400), vector(70, 0.5, 1)
    A.mxv(u, "any_pair").new(**PINS, bits=8).wait()
    kept = {name: size for name, size in A.memory_usage().items() if "b2sr" in name}
    assert len(kept) == 1
    cells = {(i // 8, j // 8) for i, j in zip(*A.to_coo(values=False)[:2], strict=True)}
    # Buffers of the GPU are whole multiples of 16 bytes.
    least = 4 * (7 + 1) + 10 * len(cells)
    assert least <= sum(kept.values()) <= least + 3 * 15 * (placed == "cuda")
    A[0, 0] = True
    A.mxv(u, "any_pair").new().wait()
    assert not any("b2sr" in name for name in A.memory_usage())


def levels(A: gb.Matrix, **pins) -> gb.Vector:
    frontier, level = gb.Vector.from_coo([0], True, size=A.nrows), gb.Vector(int, A.nrows)
    depth = gb.Scalar.from_value(0)

    def step():
        level(frontier.S) << depth
        depth << depth + 1
        frontier(~level.S, replace=True, **pins) << frontier.vxm(A, "any_pair")
        return frontier.nvals > 0

    gb.repeat(step, max_iterations=A.nrows)
    return level


@pytest.mark.parametrize("pins", [{"bits": 8}, {"bits": "auto", "direction": "pull"}])
def test_in_a_recorded_loop(placed, pins):
    A = matrix(60, 60, 150)
    assert levels(A, **pins).isequal(levels(A))


def test_small_iterations_of_the_cpu_push_and_say_so():
    with gb.device("cpu"):
        A = matrix(60, 60, 150)
        frontier, seen = gb.Vector.from_coo([0], True, size=60), gb.Vector(bool, 60)

        def step():
            seen(frontier.S) << True
            frontier(~seen.S, replace=True, bits=8) << frontier.vxm(A, "any_pair")
            return frontier.nvals > 0

        told = gb.repeat(step, max_iterations=60)
    assert {row.direction for row in told.trace} == {"push"}
    assert not any("b2sr" in name for name in A.memory_usage())
