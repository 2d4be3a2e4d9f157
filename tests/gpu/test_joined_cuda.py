"""Pulls of short rows inside the phase of the statements behind them, against the reference."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers.every import every

import semira as gb
from semira.backends.cuda.lower import LaunchShape
from semira.backends.cuda.runtime import kernel_choice

pytestmark = pytest.mark.gpu

#: Lengths of rows: short ones, some with none or up to 32 entries, and others that are shared out.
LENGTHS = {
    "one row": [3],
    "none": [0] * 70,
    "short": np.random.default_rng(1).integers(0, 9, 1500).tolist(),
    "one each": [1] * 1001,
    "nearly short": [*[0, 1, 31, 32, 0, 2] * 3, *[1, 0, 4] * 400],
    "of thirty-three": [*[0, 1, 31, 32, 33], *[2] * 700],
    "long": [0, 1, 1100, 33, *[5] * 1100, 1000, *[0] * 40],
}

#: Options of a product that never pushes.
PULL = {"direction": "pull"}


def wrapped(x, y):
    """Return a small number that depends on both."""
    return (3 * x + y) % 101


def graph(lengths) -> gb.Matrix:
    """Return a square matrix whose rows have so many entries."""
    rng, n = np.random.default_rng(5), len(lengths)
    lengths = np.minimum(lengths, n)
    drawn = [np.sort(rng.choice(n, length, replace=False)) for length in lengths]
    rows = np.repeat(np.arange(n), lengths)
    values = rng.integers(1, 5, len(rows))
    return gb.Matrix.from_coo(rows, np.concatenate(drawn), values, nrows=n, ncols=n)


def some(n: int, seed: int, density: float) -> gb.Vector:
    """Return a vector with some entries."""
    rng = np.random.default_rng(seed)
    places = np.flatnonzero(rng.random(n) < density)
    return gb.Vector.from_coo(places, rng.integers(1, 9, len(places)), dtype="INT64", size=n)


def rotate(device: str, lengths, ring: str, density: float, kind: str):
    """Run a loop whose operand is made anew from what the product gave; return what is left."""
    A, n = graph(lengths).to(device), len(lengths)
    x, scale = some(n, 1, density).to(device), some(n, 2, density).to(device)
    y, old = gb.Vector("INT64", n).to(device), some(n, 3, 0.5).to(device)
    total = gb.Scalar("INT64")
    fold = gb.binary.register_anonymous(wrapped)
    shut = some(n, 4, 0.5).to(device)
    mask = {"mask": ~shut.S} if kind == "masked" else {}

    def step():
        y << 7
        y(accum=gb.binary.plus, **PULL, **mask) << A.mxv(x, ring)
        total << y.ewise_mult(old, gb.binary.minus).reduce(gb.monoid.plus)
        old << y
        if kind == "kept":
            # Not all of the operand is new: it has to stay where it is.
            x(scale.S) << y.ewise_mult(scale, fold)
        elif kind == "apart":
            shut << y.ewise_mult(scale, fold)
        else:
            x << y.ewise_mult(scale, fold)

    loop = gb.repeat(step, max_iterations=5)
    # How many results there are before a mask depends on when it is looked at.
    rows = [
        (row.frontier, row.touched, None if mask else row.produced)
        for row in loop.trace
        if row.method
    ]
    return rows, [v.to_dict() for v in (x, y, old, shut)], total.get(None)


@every("lengths", LENGTHS)
@every("density", [1.0, 0.4])
@every("kind", ["anew", "kept", "masked", "apart"])
def test_a_loop_that_multiplies_and_goes_on_by_position(lengths, density, kind):
    for ring in ("plus_times", "min_plus", "plus_pair"):
        expected = rotate("reference", LENGTHS[lengths], ring, density, kind)
        assert rotate("cuda", LENGTHS[lengths], ring, density, kind) == expected


@every("lengths", [*LENGTHS, "of four", "of five", "of sixteen"])
@every("density", [1.0, 0.4])
@every("kind", ["anew", "kept", "masked", "apart"])
def test_large_matrices_whose_rows_are_short(monkeypatch, lengths, density, kind):
    """One or two lanes a row, and equal shares where rows are not short."""
    drawn = np.random.default_rng(2).integers
    others = {
        "of four": drawn(0, 5, 1500), "of five": [*drawn(3, 8, 1500), 31],
        "of sixteen": [*drawn(8, 25, 900), 64, 0, 0, *drawn(8, 25, 90)],
    }  # fmt: skip
    chosen = LENGTHS | others
    expected = [
        rotate("reference", chosen[lengths], ring, density, kind)
        for ring in ("plus_times", "plus_pair")
    ]
    monkeypatch.setattr(kernel_choice, "gathers_many", lambda *_: True)
    asked, shape = set(), LaunchShape.for_short_rows
    monkeypatch.setattr(LaunchShape, "for_short_rows", lambda n: asked.add(n) or shape(n))
    found = [
        rotate("cuda", chosen[lengths], ring, density, kind) for ring in ("plus_times", "plus_pair")
    ]
    assert found == expected
    lanes = {"of four": {1}, "of five": {2}, "of sixteen": set(), "of thirty-three": set()}
    assert asked == lanes.get(lengths, asked)


def test_the_operand_can_be_used_by_whoever_comes_next():
    """The plane that was left behind is empty again when the program ends."""
    found = []
    for device in ("reference", "cuda"):
        A = graph(LENGTHS["short"]).to(device)
        n = A.nrows
        x, y = some(n, 1, 1.0).to(device), gb.Vector("INT64", n).to(device)
        few = some(n, 9, 0.01).to(device)

        def step(A=A, x=x, y=y):
            y << 1
            y(accum=gb.binary.plus, **PULL) << A.mxv(x, "min_plus")
            x << y.apply(gb.binary.minus, right=2)

        for count in (1, 2, 3):
            gb.repeat(step, max_iterations=count)
            # Into the other plane, by a push and by a pull.
            x << few.vxm(A, "any_second")
            found.append((device, x.to_dict()))
            x << A.mxv(y, "min_plus")
            found.append((device, x.to_dict()))
    half = len(found) // 2
    keys = [[sorted(each) for _, each in part] for part in (found[:half], found[half:])]
    assert keys[0] == keys[1]
    assert [e for _, e in found[1:half:2]] == [e for _, e in found[half + 1 :: 2]]


@pytest.mark.parametrize("name", ["road:20x20", "grid:12x12", "kron:7"])
@pytest.mark.parametrize("dtype", ["FP32", "FP64"])
@pytest.mark.parametrize("options", [{}, {"adaptive": True}, {"weighted": True}])
def test_pagerank_of_short_and_of_long_rows(name, dtype, options):
    found = []
    for device in ("reference", "cuda"):
        result = gb.algorithms.pagerank(
            gb.io.read(name).to(device), tol=0, max_iterations=7, dtype=dtype, **options
        )
        found.append(result.rank.to_dense())
    np.testing.assert_allclose(found[1], found[0], rtol=1e-4 if dtype == "FP32" else 1e-11)


def come_and_go(device: str, lengths, value: int | None, aside: float):
    """Run a loop whose vectors are full in some iterations and not in others."""
    A, n = graph(lengths).to(device), len(lengths)
    x, y = some(n, 1, 1.0).to(device), gb.Vector("INT64", n).to(device)
    turn, low = gb.Scalar.from_value(0), gb.Scalar("INT64")
    start = gb.Scalar("INT64") if value is None else gb.Scalar.from_value(value)
    total, old = gb.Scalar("INT64"), some(n, 3, 1.0).to(device)
    fold = gb.binary.register_anonymous(wrapped)
    # Read, never written: the entries that others have not, as a vector of vertices without edges.
    lost, rest = some(n, 4, aside).to(device), gb.Scalar("INT64")

    def step():
        y << start
        y(accum=gb.binary.plus, **PULL) << A.mxv(x, "plus_times")
        total(accum=gb.binary.plus) << y.ewise_mult(old, fold).reduce(gb.monoid.plus)
        rest(accum=gb.binary.plus) << y.ewise_mult(lost, fold).reduce(gb.monoid.plus)
        old << y.ewise_mult(x, fold)
        turn << turn + 1
        # Every third time some go; they come back with the next product.
        low << (turn // 3 * 3 == turn) * 60
        x << y.apply(fold, right=turn).select(gb.select.valuege, low)

    traces = []
    for count in (1, 2, 5):
        loop = gb.repeat(step, max_iterations=count)
        traces += [(row.frontier, row.produced) for row in loop.trace if row.method]
    return traces, [v.to_dict() for v in (x, y, old)], total.get(None), rest.get(None)


@pytest.mark.parametrize("lengths", ["of four", "of five", "without rows"])
@pytest.mark.parametrize("start", [7, None])
@pytest.mark.parametrize("aside", [0.0, 0.4, 1.0])
def test_vectors_that_are_full_now_and_then(monkeypatch, lengths, start, aside):
    drawn = np.random.default_rng(2).integers
    chosen = {
        "of four": drawn(0, 5, 1501), "of five": [*drawn(3, 8, 1500), 31],
        "without rows": [*drawn(0, 2, 300), *[0] * 700, 4],
    }[lengths]  # fmt: skip
    expected = come_and_go("reference", chosen, start, aside)
    assert len({frontier for frontier, _ in expected[0]}) > 2
    monkeypatch.setattr(kernel_choice, "gathers_many", lambda *_: True)
    assert come_and_go("cuda", chosen, start, aside) == expected
