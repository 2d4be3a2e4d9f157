"""Iterations that one block runs alone: the same results, whoever ran them."""

from __future__ import annotations

import os
import signal
import threading
from dataclasses import replace

import numpy as np
import pytest
from tests.gpu.test_bfs_cuda import dense, skewed, star, undirected
from tests.helpers.bfs_program import (
    LEVEL,
    LIMIT,
    bfs_bindings,
    bfs_program,
    iso_graph,
    levels_by_numpy,
)
from tests.helpers.every import every

import semira as gb
from semira.backends.cuda.backend import CudaBackend
from semira.backends.cuda.jit import render
from semira.backends.registry import backend_for
from semira.base.dtypes import INT64
from semira.base.errors import EmptyObject, IndexOutOfBound, InvalidValue, IterationLimit
from semira.contract import Arg, Loop, Program, Slot, Solo, Statement
from semira.engine import run, warm
from semira.formats import ScalarArrays, VectorArrays
from semira.ops.registry import binary, select
from semira.plan import chooser, plan_program

pytestmark = pytest.mark.gpu

#: Thresholds: the plan's own, some that are met again and again, always, never.
PLANNED, OFTEN, ALWAYS, NEVER = None, Solo(60, 200), Solo(2**31, 2**31), Solo(0, 0)
ROUNDS = [PLANNED, OFTEN, ALWAYS, NEVER]
NAMES = ["planned", "often", "always", "never"]


@pytest.fixture(params=[False, True], ids=["in order", "permuted"])
def permuted(request, monkeypatch):
    """Deal the numbers of blocks out in another order, in kernels compiled from now on."""
    if request.param:
        monkeypatch.setattr(render, "defines", ["SEMIRA_PERMUTED"])


@pytest.fixture
def backend():
    """A backend whose launches have many blocks, however small the objects are."""
    opened = CudaBackend()
    opened.blocks = 100
    return opened


def path(size: int):
    return undirected(size, np.arange(size - 1), np.arange(1, size))


def beads(blobs: int, length: int, size: int, edges: int):
    """Paths of `length` vertices with dense blobs of `size` in between, one behind the other."""
    rows, cols, at, rng = [], [], 0, np.random.default_rng(5)
    for _ in range(blobs):
        chain = np.arange(at, at + length)
        rows.append(chain)
        cols.append(chain + 1)
        at += length
        rows.append(rng.integers(at, at + size, edges))
        cols.append(rng.integers(at, at + size, edges))
        # Nobody is left out, and the last one leads on.
        rows.append(np.full(size - 1, at))
        cols.append(np.arange(at + 1, at + size))
        at += size - 1
    return undirected(at + 1, np.concatenate(rows), np.concatenate(cols))


def with_solo(program: Program, solo: Solo | None) -> Program:
    def changed(item):
        if not isinstance(item, Loop):
            return item
        bodies = tuple(tuple(changed(inner) for inner in body) for body in item.bodies)
        return replace(item, bodies=bodies, solo=item.solo if solo is None else solo)

    return replace(program, body=tuple(changed(item) for item in program.body))


def search(backend, graph, solo=None, *, source=0, limit=1_000_000, explicit=False, policy=None):
    program = bfs_program(backend.capabilities(), explicit_limit=explicit, policy=policy)
    bindings = bfs_bindings(
        backend, backend.put(iso_graph(*graph)), len(graph[0]) - 1, source, limit
    )
    outcome = backend.execute(backend.prepare(with_solo(program, solo)), bindings)
    return dense(backend.get(bindings[LEVEL])), outcome


# searches ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("size", [1, 2, 31, 32, 33, 500, 2047, 5000])
def test_a_path_is_walked_alone(permuted, backend, size):
    for blocks in (1, 2, 100, None):
        backend.blocks = blocks
        level, outcome = search(backend, path(size))
        assert np.array_equal(level, np.arange(size))
        assert outcome.loops[0].iterations == size
        if blocks in (2, 100):
            assert outcome.solo == size
        elif blocks == 1:
            assert outcome.solo == 0
        assert [row.frontier for row in outcome.trace] == [1] * size


@every("solo", ROUNDS, ids=NAMES)
@every("policy", ["auto", "beamer", "pushpull18"])
def test_work_that_grows_and_shrinks(permuted, backend, solo, policy):
    graph = beads(6, 40, 900, 9000)
    level, outcome = search(backend, graph, solo, policy=policy)
    assert np.array_equal(level, levels_by_numpy(*graph, 0))
    sizes = np.bincount(level)
    assert [row.frontier for row in outcome.trace] == sizes.tolist()
    assert [row.produced for row in outcome.trace] == [*sizes[1:].tolist(), 0]
    if solo is ALWAYS:
        assert outcome.solo == len(sizes)
    elif solo is NEVER or policy == "pushpull18":
        # That policy does not count the edges of the frontier.
        assert outcome.solo == 0
    else:
        assert 0 < outcome.solo < len(sizes)


def test_rows_of_the_trace_do_not_depend_on_who_ran_the_iteration(backend):
    graph = beads(4, 30, 700, 6000)
    traces = [tuple(search(backend, graph, solo)[1].trace) for solo in ROUNDS]
    kept = [[(r.iteration, r.method, r.frontier, r.produced) for r in rows] for rows in traces]
    assert kept[1:] == kept[:-1]
    pushed = [[row.touched for row in rows if row.method == "push"] for rows in traces]
    assert pushed[1:] == pushed[:-1]


def test_a_hub_calls_the_others(permuted, backend):
    graph = star(20_000)
    level, outcome = search(backend, graph, source=7)
    assert np.array_equal(level, levels_by_numpy(*graph, 7))
    # The leaf alone; its hub has too many edges, and so have the other leaves together.
    assert outcome.solo == 1
    level, outcome = search(backend, graph, ALWAYS, source=7)
    assert np.array_equal(level, levels_by_numpy(*graph, 7))
    assert outcome.solo == 3


@pytest.mark.parametrize("solo", ROUNDS, ids=NAMES)
def test_many_sources_warm(backend, solo):
    graph = skewed(4000, 3000, 2)
    size, matrix = len(graph[0]) - 1, backend.put(iso_graph(*graph))
    executable = backend.prepare(with_solo(bfs_program(backend.capabilities()), solo))
    for source in range(0, size, 97):
        bindings = bfs_bindings(backend, matrix, size, source, 10_000)
        backend.execute(executable, bindings)
        level = dense(backend.get(bindings[LEVEL]))
        assert np.array_equal(level, levels_by_numpy(*graph, source)), source


def test_small_objects_get_one_block(backend):
    backend.blocks = None
    level, outcome = search(backend, path(1500))
    assert np.array_equal(level, np.arange(1500))
    assert outcome.solo == 0


# ends --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("solo", [OFTEN, ALWAYS])
def test_limits_are_reached_alone(permuted, backend, solo):
    for _ in range(3):
        with pytest.raises(IterationLimit, match="max_iterations"):
            search(backend, path(300), solo, limit=5)
        level, outcome = search(backend, path(300), solo, limit=5, explicit=True)
        assert outcome.loops[0].stopped_by == "limit"
        assert outcome.solo == outcome.loops[0].iterations == 5
        assert (level >= 0).sum() == 5
        with pytest.raises(InvalidValue, match="at least 1"):
            search(backend, path(300), solo, limit=0)


def test_the_loops_of_a_program_part_and_meet_in_turn(permuted, backend):
    program = with_solo(bfs_program(backend.capabilities(), explicit_limit=True), OFTEN)
    (loop,) = program.body
    thrice = backend.prepare(replace(program, body=(loop, loop, loop)))
    graph = beads(2, 40, 900, 9000)
    bindings = bfs_bindings(backend, backend.put(iso_graph(*graph)), len(graph[0]) - 1, 0, 0)
    bindings[LIMIT] = 27
    outcome = backend.execute(thrice, bindings)
    expected = levels_by_numpy(*graph, 0)
    assert np.array_equal(
        dense(backend.get(bindings[LEVEL])), np.where(expected < 81, expected, -1)
    )
    assert [report.iterations for report in outcome.loops] == [27, 27, 27]
    assert 0 < outcome.solo < 81


def shifting_program(solo: Solo) -> Program:
    """Look up one place further in each iteration, until there is none."""
    slots = (
        Slot("vector", INT64, "inout"), Slot("vector", INT64), Slot("vector", INT64, "inout"),
        Slot("scalar", INT64), Slot("scalar", INT64),
    )  # fmt: skip
    plus = binary["plus"].typed(INT64)
    body = (
        Statement("gather", 0, (Arg(1), Arg(2))),
        Statement("apply", 2, (Arg(2), Arg(3)), plus),
    )
    program = Program(slots, (Loop((body,), (None,), 4, explicit_limit=True),))
    return with_solo(plan_program(program, CudaBackend().capabilities()), solo)


@pytest.mark.parametrize("solo", [ALWAYS, NEVER])
def test_a_wrong_position_ends_the_program_alone(permuted, backend, solo):
    size, steps = 50, 9
    executable = backend.prepare(shifting_program(solo))
    for _ in range(3):
        index = np.arange(size - steps, dtype=np.int64)
        bindings = [
            backend.put(VectorArrays.empty(size - steps, INT64)),
            backend.put(VectorArrays.full(INT64, np.arange(size, dtype=np.int64) ** 2)),
            backend.put(VectorArrays.full(INT64, index)),
            1,
            1000,
        ]
        with pytest.raises(IndexOutOfBound, match=f"index {size} "):
            backend.execute(executable, bindings)
        found = backend.get(bindings[0]).entry_values()
        assert np.array_equal(found, (index + steps) ** 2)


@pytest.mark.parametrize("solo", [ALWAYS, NEVER])
def test_an_empty_scalar_ends_the_program_alone(permuted, backend, solo):
    slots = (
        Slot("vector", INT64, "inout"), Slot("scalar", INT64), Slot("scalar", INT64, "inout"),
        Slot("scalar", INT64), Slot("scalar", INT64),
    )  # fmt: skip
    plus = binary["plus"].typed(INT64)
    # The scalar counts up; from 5 on nothing is selected, and the vector wants a value.
    body = (
        Statement("apply", 0, (Arg(0), Arg(2)), plus),
        Statement("apply", 2, (Arg(2), Arg(1)), plus),
        Statement("select", 2, (Arg(2), Arg(3)), select["valuelt"].typed(INT64)),
    )
    program = Program(slots, (Loop((body,), (None,), 4, explicit_limit=True),))
    program = with_solo(plan_program(program, backend.capabilities()), solo)
    executable = backend.prepare(program)
    for _ in range(3):
        total = backend.put(VectorArrays.full(INT64, np.zeros(70, np.int64)))
        count = backend.put(ScalarArrays(INT64, np.int64(0)))
        with pytest.raises(EmptyObject):
            backend.execute(executable, [total, 1, count, 5, 1000])
        assert np.array_equal(backend.get(total).entry_values(), np.full(70, 0 + 1 + 2 + 3 + 4))


@pytest.mark.hardware(reason="Ctrl-C in the middle of a launch")
def test_ctrl_c_ends_what_one_block_runs(backend):
    size = 3_000_000
    graph = path(size)
    executable = backend.prepare(bfs_program(backend.capabilities()))
    # Compiles it.
    small = backend.put(iso_graph(*path(9)))
    backend.execute(executable, bfs_bindings(backend, small, 9, 0, 100))
    bindings = bfs_bindings(backend, backend.put(iso_graph(*graph)), size, 0, 10**9)
    threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        backend.execute(executable, bindings)
    level = dense(backend.get(bindings[LEVEL]))
    reached = level.max()
    assert 0 < reached < size - 1
    assert np.array_equal(level, np.where(np.arange(size) <= reached, np.arange(size), -1))
    level, outcome = search(backend, path(500))
    assert outcome.solo == 500


# algorithms --------------------------------------------------------------------------------------
def weighted(graph, device: str):
    indptr, indices = graph
    size = len(indptr) - 1
    rows = np.repeat(np.arange(size), np.diff(indptr))
    # The same length both ways.
    lengths = 1.0 + (rows + indices) % 17
    made = gb.Matrix.from_coo(rows, indices, lengths, nrows=size, ncols=size, dtype=gb.dtypes.FP64)
    return made.to(device)


#: Blocks of each launch on device cuda, and thresholds of each loop.
LAUNCHES = {"as it is": (None, None), "many blocks": (100, None), "alone": (100, ALWAYS)}


@pytest.fixture(params=LAUNCHES)
def launches(request, monkeypatch):
    opened = backend_for("cuda")
    before = opened.blocks
    opened.blocks, solo = LAUNCHES[request.param]
    if solo is not None:
        monkeypatch.setattr(chooser, "_SOLO", solo)
        monkeypatch.setattr(run, "_prepared", type(run._prepared)(64))
        monkeypatch.setattr(warm, "_known", type(warm._known)(64))
    yield
    opened.blocks = before


SHAPES = {
    "path": path(700),
    "longer path": path(3000),
    "beads": beads(3, 100, 400, 600),
    "sparse": skewed(1000, 700, 2),
    "star": star(1500),
    "hub": star(9000),
    "dense": skewed(3000, 40_000, 1),
    "one vertex": (np.zeros(2, np.int32), np.zeros(0, np.int32)),
    "small": path(90),
}


@every("name", SHAPES)
def test_algorithms_give_what_the_cpu_gives(launches, name):
    graphs = [weighted(SHAPES[name], device) for device in ("cuda", "cpu")]
    for algorithm in (
        lambda A: gb.algorithms.bfs(A, 0).level,
        lambda A: gb.algorithms.sssp(A, 0, algorithm="bellman_ford").distance,
        lambda A: gb.algorithms.sssp(A, 0, algorithm="delta_stepping", delta=6.0).distance,
        lambda A: gb.algorithms.connected_components(A).label,
    ):
        ours, theirs = (algorithm(graph).to_dict() for graph in graphs)
        assert ours == theirs
    for options in ({}, {"adaptive": True}, {"deterministic": True}):
        ranks = [gb.algorithms.pagerank(graph, **options).rank.to_dense() for graph in graphs]
        assert np.allclose(*ranks, rtol=1e-5, atol=1e-6), options
