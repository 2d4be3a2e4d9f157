"""Launches that find what the last one left: barrier, counters, table, planes (decision 17)."""

from __future__ import annotations

import os
import signal
import threading

import numpy as np
import pytest
from tests.gpu.test_bfs_cuda import grid
from tests.helpers.bfs_program import (
    LEVEL,
    bfs_bindings,
    bfs_program,
    iso_graph,
    levels_by_numpy,
)
from tests.helpers.every import every

from semira.backends.cuda import layout
from semira.base.dtypes import BOOL, FP64, INT8, INT32, INT64
from semira.base.errors import EmptyObject, IterationLimit
from semira.contract import Arg, IndexSpec, Mask, Program, Slot, Statement
from semira.formats import ScalarArrays, VectorArrays
from semira.ops.registry import binary, monoid, semiring, unary
from semira.plan import plan_program

pytestmark = pytest.mark.gpu


def dense(level) -> np.ndarray:
    found = np.full(level.size, -1, np.int64)
    found[level.entry_indices()] = level.entry_values()
    return found


def left_behind(backend, executable) -> np.ndarray:
    """What a launch left in its own memory, the barrier apart; checks the barrier."""
    size = executable.lowered.table.state_size
    words = backend.runtime.download(executable.state, np.uint32, 2 * size)
    assert words[0] == words[1], "the next launch would count from elsewhere"
    return words[2:]


def put_vector(backend, size, dtype, at, value=1):
    values = np.full(len(at), value, dtype.np_type)
    return backend.put(VectorArrays.sparse(size, dtype, np.array(at, np.int32), values))


def test_launches_of_any_size_follow_each_other(backend):
    graph, side = grid(40), 40
    executable = backend.prepare(bfs_program(backend.capabilities()))
    matrix = backend.put(iso_graph(*graph))
    for run, blocks in enumerate((1, 7, None, 3, None, 1, 20)):
        backend.blocks = blocks
        source = 97 * run % side**2
        bindings = bfs_bindings(backend, matrix, side**2, source, 10_000)
        backend.execute(executable, bindings)
        assert not left_behind(backend, executable).any()
        level = dense(backend.get(bindings[LEVEL]))
        assert np.array_equal(level, levels_by_numpy(*graph, source)), (run, blocks)


def test_a_program_that_failed_leaves_nothing_behind(backend):
    graph, side = grid(20), 20
    executable = backend.prepare(bfs_program(backend.capabilities()))
    matrix = backend.put(iso_graph(*graph))
    for _ in range(2):
        with pytest.raises(IterationLimit):
            backend.execute(executable, bfs_bindings(backend, matrix, side**2, 0, 5))
        assert not left_behind(backend, executable).any()
        bindings = bfs_bindings(backend, matrix, side**2, 0, 10_000)
        backend.execute(executable, bindings)
        assert np.array_equal(dense(backend.get(bindings[LEVEL])), levels_by_numpy(*graph, 0))


def test_a_search_after_ctrl_c_runs_to_its_end(backend):
    side = 1200
    graph = grid(side)
    backend.blocks = 1
    executable = backend.prepare(bfs_program(backend.capabilities()))
    matrix = backend.put(iso_graph(*graph))
    threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        backend.execute(executable, bfs_bindings(backend, matrix, side**2, 0, 10_000))
    backend.blocks = None
    bindings = bfs_bindings(backend, matrix, side**2, 0, 10_000)
    outcome = backend.execute(executable, bindings)
    assert outcome.loops[0].iterations == 2 * side - 1
    row, col = np.divmod(np.arange(side**2), side)
    assert np.array_equal(dense(backend.get(bindings[LEVEL])), row + col)


def test_a_table_in_device_memory_does_the_same(backend, monkeypatch):
    monkeypatch.setattr(layout, "MOST_PARAMETER_BYTES", 0)
    graph, side = grid(30), 30
    executable = backend.prepare(bfs_program(backend.capabilities()))
    matrix = backend.put(iso_graph(*graph))
    for source in (0, 431):
        bindings = bfs_bindings(backend, matrix, side**2, source, 10_000)
        backend.execute(executable, bindings)
        level = dense(backend.get(bindings[LEVEL]))
        assert np.array_equal(level, levels_by_numpy(*graph, source))
    assert executable.table is not None


@pytest.mark.parametrize("size", [50, 5000])
def test_warm_calls_see_new_contents_new_objects_and_new_literals(backend, size):
    slots = (Slot("vector", FP64, "inout"), Slot("vector", FP64), Slot("scalar", FP64))
    plus = binary["plus"].typed(FP64)
    program = plan_program(
        Program(slots, (Statement("apply", 0, (Arg(1), Arg(2)), plus),)), backend.capabilities()
    )
    executable = backend.prepare(program)
    first, second = (put_vector(backend, size, FP64, [k, 40], k) for k in (3, 4))
    for target, source, x in (
        (first, second, 1.0), (first, second, 2.0), (second, first, 0.5), (first, second, -1.0),
    ):  # fmt: skip
        before = backend.get(source)
        launches, uploads = backend.statistics().launches, backend.statistics().uploads
        backend.execute(executable, [target, source, np.float64(x)])
        assert backend.statistics().launches == launches + 1
        assert backend.statistics().uploads == uploads
        found = backend.get(target)
        assert np.array_equal(found.entry_indices(), before.entry_indices())
        assert np.array_equal(found.entry_values(), before.entry_values() + x)


def test_an_empty_scalar_is_found_each_time(backend):
    slots = (Slot("vector", FP64, "inout"), Slot("vector", FP64), Slot("scalar", FP64))
    plus = binary["plus"].typed(FP64)
    program = plan_program(
        Program(slots, (Statement("apply", 0, (Arg(1), Arg(2)), plus),)), backend.capabilities()
    )
    executable = backend.prepare(program)
    out, given = (put_vector(backend, 30, FP64, [1]) for _ in range(2))
    empty, full = (backend.put(ScalarArrays(FP64, x)) for x in (None, np.float64(2)))
    for _ in range(2):
        with pytest.raises(EmptyObject):
            backend.execute(executable, [out, given, empty])
        backend.execute(executable, [out, given, full])
        assert backend.get(out).entry_values().tolist() == [3.0]


def test_a_reduction_is_right_for_changing_numbers_of_blocks(backend):
    slots = (Slot("scalar", FP64, "inout"), Slot("vector", FP64))
    total = Statement("reduce", 0, (Arg(1),), monoid["plus"].typed(FP64))
    executable = backend.prepare(plan_program(Program(slots, (total,)), backend.capabilities()))
    out = backend.put(ScalarArrays(FP64, None))
    for blocks, size in ((1, 100), (9, 100_000), (3, 100_000), (None, 7), (None, 100_000)):
        backend.blocks = blocks
        given = backend.put(VectorArrays.full(FP64, np.arange(size, dtype=np.float64)))
        backend.execute(executable, [out, given])
        assert backend.get(out).value == size * (size - 1) / 2


@every("size", [1, 31, 33, 300, 5000, 70_001])
@every("dtype", [BOOL, INT8, INT32, FP64])
def test_vectors_come_back_as_they_went(backend, size, dtype):
    one = np.ones(1, dtype.np_type)
    full = backend.put(VectorArrays(size, dtype, "full", one, nvals=size, iso=True))
    assert full.count_entries() == size
    assert (backend.get(full).entry_values() == one[0]).all()
    for nvals in {0, 1, size // 2}:
        at = np.sort(np.random.default_rng(nvals).choice(size, nvals, replace=False))
        handle = put_vector(backend, size, dtype, at)
        for one in (handle, backend.convert(handle, "copy")):
            assert one.count_entries() == nvals
            assert np.array_equal(backend.get(one).entry_indices(), at)


def test_listed_positions_are_there_when_the_kernel_reads_them(backend):
    slots = (Slot("vector", FP64, "inout"), Slot("vector", FP64), Slot("index", INT64))
    read = Statement("extract", 0, (Arg(1),), indices=(IndexSpec("list", 2),))
    executable = backend.prepare(plan_program(Program(slots, (read,)), backend.capabilities()))
    size, draw = 50_000, np.random.default_rng(5)
    source = backend.put(VectorArrays.full(FP64, np.arange(size, dtype=np.float64)))
    out = put_vector(backend, 1000, FP64, [])
    for _ in range(20):
        positions = draw.choice(size, 1000, replace=False)
        backend.execute(executable, [out, source, positions])
        put_vector(backend, 1000, INT32, [1])
        assert np.array_equal(backend.get(out).entry_values(), positions.astype(np.float64))


def test_a_plane_added_by_another_program_is_seen(backend):
    """The product gives its output a second plane and makes it the one in use."""
    size = 5000
    any_pair = semiring["any_pair"].typed(BOOL)
    copied = (Slot("vector", BOOL, "inout"), Slot("vector", BOOL))
    copy = backend.prepare(
        plan_program(
            Program(copied, (Statement("apply", 0, (Arg(1),), unary["identity"].typed(BOOL)),)),
            backend.capabilities(),
        )
    )
    slots = (Slot("vector", BOOL, "inout"), Slot("matrix", BOOL), Slot("vector", BOOL))
    mask = Mask(2, structural=True, complement=True)
    step = Statement("vxm", 0, (Arg(0), Arg(1)), any_pair, mask=mask, replace=True)
    product = backend.prepare(plan_program(Program(slots, (step,)), backend.capabilities()))
    ring = np.arange(size, dtype=np.int32)
    graph = backend.put(
        iso_graph(np.arange(size + 1, dtype=np.int32), (ring + 1) % size, symmetric=None)
    )
    front, out, seen = (put_vector(backend, size, BOOL, at) for at in ([7], [], []))
    for step_number in range(4):
        backend.execute(copy, [out, front])
        assert backend.get(out).entry_indices().tolist() == [7 + step_number]
        backend.execute(product, [front, graph, seen])
