"""Loops as machine code: random statements agree with the reference, and loops with themselves."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest
from tests.helpers.every import every

import semira as gb
from semira import algorithms, binary, monoid, select, semiring, unary
from semira.backends import interpreter
from semira.backends.cpu.loops import native
from semira.backends.interpreter import interpreted_only

SIZE = 200

DENSITIES = (0.01, 0.3, 1.0)


class Case:
    """Objects of one random program, on the device in force."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.vectors = [self.vector(rng, dtype) for dtype in ("INT64", "INT64", "INT32", "BOOL")]
        key = np.unique(rng.integers(0, SIZE * SIZE, 3 * SIZE))
        values = rng.integers(1, 9, len(key))
        self.matrix = gb.Matrix.from_coo(
            key // SIZE, key % SIZE, values, nrows=SIZE, ncols=SIZE, dtype="INT64"
        )
        positions = rng.integers(0, SIZE, SIZE)
        self.index = gb.Vector.from_coo(range(SIZE), positions, size=SIZE, dtype="INT64")
        self.scalar = gb.Scalar.from_value(3, "INT64")
        self.turns = gb.Scalar.from_value(0, "INT64")

    @staticmethod
    def vector(rng: np.random.Generator, dtype: str) -> gb.Vector:
        where = np.flatnonzero(rng.random(SIZE) < rng.choice(DENSITIES))
        values = rng.integers(0, 5, len(where))
        return gb.Vector.from_coo(where, values, size=SIZE, dtype=dtype)

    def found(self) -> list[Any]:
        objects = [vector.to_dict() for vector in self.vectors]
        return [*objects, self.scalar.value, self.turns.value]


def expressions(case: Case, draw: random.Random) -> Any:
    """Return a random expression over the objects of a case."""
    u, v = draw.choice(case.vectors[:3]), draw.choice(case.vectors)
    A = draw.choice((case.matrix, case.matrix.T))
    ring = draw.choice((semiring.plus_times, semiring.min_plus, semiring.max_second,
                        semiring.any_pair, semiring.plus_first, semiring.max_secondi))  # fmt: skip
    return draw.choice(
        (
            lambda: u.ewise_add(v, draw.choice((monoid.plus, monoid.max, binary.minus))),
            lambda: u.ewise_mult(v, draw.choice((binary.times, binary.lt, binary.first))),
            lambda: u.ewise_union(v, binary.minus, left_default=2, right_default=7),
            lambda: u.apply(draw.choice((unary.ainv, unary.abs, unary.one, unary.positioni))),
            lambda: u.apply(draw.choice((binary.plus, binary.minus)), right=case.scalar),
            lambda: u.apply(binary.minus, left=5),
            lambda: u.select(draw.choice((select.valuegt, select.indexle)), draw.randrange(9)),
            lambda: u.vxm(A, ring),
            lambda: A.mxv(u, ring),
            lambda: u.gather(case.index),
        )
    )()


def write(case: Case, draw: random.Random) -> None:
    """Run a random statement."""
    target, mask = draw.choice(case.vectors), draw.choice(case.vectors)
    chosen = draw.choice((None, mask.S, mask.V, ~mask.S, ~mask.V))
    options: dict[str, Any] = {}
    if chosen is not None:
        options = {"mask": chosen, "replace": draw.random() < 0.4}
    accum = draw.choice((None, None, binary.plus, binary.min, binary.second))
    if accum is not None:
        options["accum"] = accum
    kind = draw.randrange(12)
    if kind == 3:
        case.vectors[0].scatter(case.index, case.vectors[1], draw.choice((monoid.min, monoid.plus)))
    elif kind == 0:
        target(**options) << draw.randrange(6)
    elif kind == 1:
        case.scalar << draw.choice(case.vectors[:3]).reduce(monoid.max, allow_empty=False)
    elif kind == 2:
        target(**options) << draw.choice(case.vectors)
    else:
        try:
            made = expressions(case, draw)
        except NotImplementedError:
            return
        target(**options) << made


def run(seed: int, statements: int, device: str) -> list[Any]:
    with gb.device(device):
        case = Case(seed)

        def step() -> Any:
            draw = random.Random(seed)
            for _ in range(statements):
                write(case, draw)
            case.turns << case.turns + 1
            return case.turns < 6

        gb.repeat(step)
        return case.found()


@every("seed", range(16))
def test_random_statements_agree_with_the_reference(seed) -> None:
    assert run(seed, 4, "cpu") == run(seed, 4, "reference")


@pytest.fixture
def by_turns(monkeypatch) -> None:
    """Let the interpreter run every other iteration."""
    advance = native.Iterations.advance
    turns = itertools.count()

    def one(self: Any, done: int, limit: int) -> Any:
        return (done, False) if next(turns) % 2 else advance(self, done, min(limit, done + 1))

    monkeypatch.setattr(native.Iterations, "advance", one)


@pytest.mark.parametrize("seed", range(8))
def test_statements_by_turns_agree_with_the_reference(by_turns, seed) -> None:
    assert run(seed, 4, "cpu") == run(seed, 4, "reference")


def test_searches_by_turns_find_the_same(by_turns) -> None:
    n, side = 2500, 50
    at = np.arange(n)
    right, down = at[at % side < side - 1], at[: n - side]
    rows, cols = np.r_[right, down], np.r_[right + 1, down + side]
    with gb.device("cpu"):
        A = gb.Matrix.from_coo(rows, cols, 1 + rows % 7, nrows=n, ncols=n)
        B = gb.Matrix.from_coo(np.r_[rows, cols], np.r_[cols, rows], 1.0, nrows=n, ncols=n)
        calls = {
            "bfs": lambda: _field(products(B, 0)),
            "sssp": lambda: _field(algorithms.sssp(A, 0, algorithm="window")),
            "components": lambda: _field(algorithms.connected_components(B, algorithm="spread")),
            "cores": lambda: _field(algorithms.core_number(B, algorithm="peel")),
            "strong": lambda: _field(
                algorithms.strongly_connected_components(A, algorithm="colours")
            ),
        }
        found = {name: call() for name, call in calls.items()}
        assert found["bfs"] == (n, {i: i % side + i // side for i in range(n)})
        with interpreted_only():
            assert found == {name: call() for name, call in calls.items()}


@pytest.fixture
def counted(monkeypatch) -> list[int]:
    """Numbers of iterations that ran natively, call by call."""
    found: list[int] = []
    advance = native.Iterations.advance

    def noted(self: Any, done: int, limit: int) -> Any:
        after = advance(self, done, limit)
        found.append(after[0] - done)
        return after

    monkeypatch.setattr(native.Iterations, "advance", noted)
    return found


def products(A: gb.Matrix, source: int) -> Any:
    """Search by a loop of products, which an option asks for."""
    return algorithms.bfs(A, source, deterministic=True)


def path(n: int) -> gb.Matrix:
    i = np.arange(n - 1)
    return gb.Matrix.from_coo(np.r_[i, i + 1], np.r_[i + 1, i], 1, nrows=n, ncols=n)


def test_small_iterations_run_natively_and_large_ones_do_not(monkeypatch, counted) -> None:
    with gb.device("cpu"):
        found = products(path(500), 0)
        assert counted == [500]
        assert found.level.to_dense().tolist() == list(range(500))
        assert [row.iteration for row in found.trace] == list(range(500))
        assert {row.touched for row in found.trace} == {1, 2}
        counted.clear()
        # Sixteen vertices at the end of the path see everything: an iteration of many entries.
        n, ends = 300, range(284, 300)
        i = np.arange(n - 17)
        rows = np.r_[i, np.repeat(ends, n), n - 17 - 1 + 0 * np.arange(16)]
        cols = np.r_[i + 1, np.tile(np.arange(n), 16), np.arange(284, 300)]
        A = gb.Matrix.from_coo(rows, cols, 1, nrows=n, ncols=n, dup_op="first")
        monkeypatch.setattr(native, "PARALLEL_ENTRIES", 1000)
        found = products(A, 0)
        assert sum(counted) < found.iterations
    with gb.device("reference"):
        assert found.level.to_dict() == products(A.to("reference"), 0).level.to_dict()


@pytest.mark.parametrize("most", [3, 20, 200])
def test_loops_that_leave_and_come_back_find_the_same(monkeypatch, most) -> None:
    rng = np.random.default_rng(most)
    n = 60
    r, c = rng.integers(0, n, 200), rng.integers(0, n, 200)
    A = gb.Matrix.from_coo(
        np.r_[r, c], np.r_[c, r], rng.integers(1, 9, 200).repeat(1).tolist() * 2,
        nrows=n, ncols=n, dup_op="min",
    )  # fmt: skip
    with gb.device("cpu"):
        calls = {
            "level": lambda: products(A, 0),
            "distance": lambda: algorithms.sssp(A, 0),
            "component": lambda: algorithms.connected_components(A, algorithm="spread"),
            "core": lambda: algorithms.core_number(A, algorithm="peel"),
            "diameter": lambda: algorithms.diameter(A),
        }
        whole = {name: _field(call()) for name, call in calls.items()}
        monkeypatch.setattr(native, "PARALLEL_ENTRIES", most)
        for name, call in calls.items():
            assert _field(call()) == whole[name], name
        with interpreted_only():
            assert _field(calls["level"]()) == whole["level"]


def _field(found: Any) -> Any:
    for name in ("level", "distance", "label", "core"):
        if hasattr(found, name):
            vector = getattr(found, name)
            return vector.nvals, vector.to_dict()
    return int(found.value) if hasattr(found, "value") else found.to_dict()


def test_an_index_out_of_bounds_leaves_the_iterations_before(counted) -> None:
    with gb.device("cpu"):
        u = gb.Vector.from_dense([0, 1, 2])
        at = gb.Vector.from_dense([0, 1, 2])
        turns = gb.Scalar.from_value(0, "INT64")

        def step() -> Any:
            turns << turns + 1
            u << u.gather(at)
            at << at + 1
            return turns < 5

        with pytest.raises(gb.exceptions.IndexOutOfBound, match="nothing was written"):
            gb.repeat(step)
        assert turns.value == 1
        assert at.to_dense().tolist() == [1, 2, 3]
        assert counted == [0, 0]


def test_searches_inside_of_a_loop_stay_native_whatever_they_take(monkeypatch) -> None:
    n, side = 2500, 50
    at = np.arange(n)
    right, down = at[at % side < side - 1], at[: n - side]
    rows, cols = np.r_[right, down], np.r_[right + 1, down + side]
    interpreted: list[int] = []
    iteration = interpreter._run_iteration

    def noted(*args: Any) -> None:
        interpreted.append(1)
        iteration(*args)

    monkeypatch.setattr(interpreter, "_run_iteration", noted)
    with gb.device("cpu"):
        A = gb.Matrix.from_coo(np.r_[rows, cols], np.r_[cols, rows], True, nrows=n, ncols=n)
        # A search takes more than one statement should, from a hundred levels of few vertices.
        assert algorithms.eccentricity(A, searches=3).diameter[0] == 2 * (side - 1)
    assert interpreted == []
