"""Memory that runs out, at every request in turn: operands as before, and a second try works."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.gpu.test_matrices_cuda import random_matrix
from tests.gpu.test_statements_cuda import mask_of, random_vector
from tests.gpu.test_statements_cuda import random_matrix as skewed_matrix
from tests.helpers.bfs_program import LEVEL, bfs_bindings, bfs_program, iso_graph, levels_by_numpy
from tests.helpers.gpu_memory import Failing, be_exact

import semira as gb
from semira.backends.cuda.backend import CudaBackend
from semira.backends.cuda.runtime import objects
from semira.base.dtypes import FP32, INT8, INT64
from semira.base.errors import OutOfMemory
from semira.contract import Arg, Hints, IndexSpec, Program, Slot, Statement
from semira.ops.registry import binary, indexunary, monoid, semiring, unary
from semira.plan import plan_program

pytestmark = [
    pytest.mark.gpu,
    # CuPy's sorts drop the exception of a refused request; it is raised after them.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

#: More requests than any statement here makes.
MOST_REQUESTS = 400

PLUS, TIMES = binary["plus"].typed(INT64), semiring["plus_times"].typed(INT64)
LIST = np.array([9, 3, 31, 0], np.int64)


@pytest.fixture
def backend():
    """A backend of its own: what fails here fails for nobody else."""
    return CudaBackend()


def vectors(*seeds):
    return [random_vector(300, INT64, seed, 0.3) for seed in seeds]


def matrices(*seeds):
    return [random_matrix(40, 40, INT64, seed) for seed in seeds]


def slots_of(kinds: str):
    """Return slots: v and A hold INT64, m is a mask, i a list of positions, s a number."""
    names = {"v": "vector", "A": "matrix", "i": "index", "s": "scalar", "m": "vector"}
    return tuple(
        Slot(names[kind], INT8 if kind == "m" else INT64, "inout" if at == 0 else "input")
        for at, kind in enumerate(kinds)
    )


#: Slots, statement, and what the slots are bound to.
OPERATIONS = {
    "apply": (
        "vv", Statement("apply", 0, (Arg(1),), unary["ainv"].typed(INT64)),
        lambda: vectors(1, 2),
    ),
    "accumulated union": (
        "vvv", Statement("ewise_add", 0, (Arg(1), Arg(2)), PLUS, accum=PLUS),
        lambda: vectors(1, 2, 3),
    ),
    "push": (
        "vvA", Statement("vxm", 0, (Arg(1), Arg(2)), TIMES, hints=Hints(direction="push")),
        lambda: [*vectors(1, 2), skewed_matrix(300, INT64, 3)],
    ),
    "pull, masked": (
        "vvAm",
        Statement("vxm", 0, (Arg(1), Arg(2)), TIMES, mask=mask_of((True, True), 3), replace=True,
                  hints=Hints(direction="pull")),
        lambda: [*vectors(1, 2), skewed_matrix(300, INT64, 3), random_vector(300, INT8, 4, 0.5)],
    ),
    "assign to a list": (
        "vsi", Statement("assign", 0, (Arg(1),), indices=(IndexSpec("list", 2),)),
        lambda: [*vectors(1), 7, LIST],
    ),
    "matrix union": (
        "AAA", Statement("ewise_add", 0, (Arg(1), Arg(2)), PLUS, accum=PLUS),
        lambda: matrices(1, 2, 3),
    ),
    "transpose": ("AA", Statement("copy", 0, (Arg(1, transposed=True),)), lambda: matrices(1, 2)),
    "select": (
        "AAs", Statement("select", 0, (Arg(1), Arg(2)), indexunary["tril"].typed(INT64)),
        lambda: [*matrices(1, 2), 0],
    ),
    "product": ("AAA", Statement("mxm", 0, (Arg(1), Arg(2)), TIMES), lambda: matrices(1, 2, 3)),
    "masked product": (
        "AAAA", Statement("mxm", 0, (Arg(1), Arg(2)), TIMES, mask=mask_of((True, False), 3)),
        lambda: matrices(1, 2, 3, 4),
    ),
    "extract": (
        "AAii",
        Statement("extract", 0, (Arg(1),), indices=(IndexSpec("list", 2), IndexSpec("list", 3))),
        lambda: [random_matrix(4, 4, INT64, 1), *matrices(2), LIST, LIST],
    ),
    "assign to a region": (
        "AAii",
        Statement("assign", 0, (Arg(1),), indices=(IndexSpec("list", 2), IndexSpec("list", 3))),
        lambda: [*matrices(1), random_matrix(4, 4, INT64, 2), LIST, LIST],
    ),
    "sums of rows": (
        "vA", Statement("reduce_rows", 0, (Arg(1),), monoid["plus"].typed(INT64)),
        lambda: [random_vector(40, INT64, 1, 0.3), *matrices(2)],
    ),
}  # fmt: skip


def bound(backend, given):
    return [backend.put(thing) if hasattr(thing, "validate") else thing for thing in given]


def contents(backend, bindings):
    """Return the entries of every object, to be compared."""
    found = []
    for handle in bindings:
        if not hasattr(handle, "kind"):
            continue
        arrays = backend.get(handle)
        arrays.validate()
        if handle.kind == "matrix":
            rows, cols, values = arrays.to_coo()
            order = np.lexsort((cols, rows))
            found.append([part[order].tolist() for part in (rows, cols, values)])
        else:
            found.append([arrays.entry_indices().tolist(), arrays.entry_values().tolist()])
    return found


def failures(backend, make, act):
    """Let `act(made)` fail at each of its requests in turn; yield what `make` returned and how.

    The last one did not fail.
    """
    inner = backend.runtime.memory
    for number in range(MOST_REQUESTS):
        made = make()
        backend.runtime.memory = failing = Failing(inner, number)
        try:
            act(made)
            error = None
        except OutOfMemory as raised:
            error = raised
        finally:
            backend.runtime.memory = inner
        assert (error is not None) == failing.has_failed
        yield made, error
        if error is None:
            return
    pytest.fail(f"still failing at request {MOST_REQUESTS}")


def assert_named(error) -> None:
    """The message has what is needed and what is free."""
    assert re.search(r"\d+ bytes are needed, \d+ are free", str(error))


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_statement_that_runs_out_of_memory_changes_nothing(backend, name):
    kinds, statement, give = OPERATIONS[name]
    program = plan_program(Program(slots_of(kinds), (statement,)), backend.capabilities())
    given = give()
    first = bound(backend, given)
    backend.execute(backend.prepare(program), first)
    expected = contents(backend, first)
    before = contents(backend, bound(backend, given))

    def make():
        # Prepared anew: what an executable keeps from one run to the next is asked for again.
        return backend.prepare(program), bound(backend, given)

    count = 0
    for (executable, bindings), error in failures(
        backend, make, lambda made: backend.execute(*made)
    ):
        if error is not None:
            count += 1
            assert_named(error)
            assert contents(backend, bindings) == before, count
            backend.execute(executable, bindings)
        assert contents(backend, bindings) == expected, count
    assert count > 0


def test_a_loop_that_runs_out_of_memory_has_not_begun(backend):
    rng = np.random.default_rng(1)
    present = np.triu(rng.random((200, 200)) < 0.03, 1)
    present |= present.T
    indptr = np.concatenate(([0], np.cumsum(present.sum(axis=1)))).astype(np.int32)
    indices = np.nonzero(present)[1].astype(np.int32)
    program = bfs_program(backend.capabilities())
    expected = levels_by_numpy(indptr, indices, 0)

    def make():
        matrix = backend.put(iso_graph(indptr, indices))
        return backend.prepare(program), bfs_bindings(backend, matrix, 200, 0, 1000)

    count = 0
    for (executable, bindings), error in failures(
        backend, make, lambda made: backend.execute(*made)
    ):
        if error is not None:
            count += 1
            assert_named(error)
            assert backend.get(bindings[LEVEL]).nvals == 0
            backend.execute(executable, bindings)
        level = backend.get(bindings[LEVEL])
        found = np.full(200, -1)
        found[level.entry_indices()] = level.entry_values()
        assert np.array_equal(found, expected)
    assert count > 0


@pytest.mark.parametrize("kind", ["vector", "matrix"])
def test_putting_and_copying_may_fail_and_leave_nothing_behind(backend, kind):
    (arrays,) = vectors(1) if kind == "vector" else matrices(1)
    for _, error in failures(backend, lambda: None, lambda made: backend.put(arrays)):
        if error is not None:
            assert_named(error)
    if kind == "matrix":  # copies share the arrays
        return
    for handle, error in failures(
        backend, lambda: backend.put(arrays), lambda made: backend.convert(made, "copy")
    ):
        if error is not None:
            assert_named(error)
        assert contents(backend, [handle]) == contents(backend, [backend.put(arrays)])


def test_the_second_orientation_is_there_or_not(backend):
    (arrays,) = matrices(5)
    for handle, error in failures(
        backend, lambda: backend.put(arrays), lambda made: backend.convert(made, "csc")
    ):
        assert set(handle.orientations) >= {"csr"}
        if error is not None:
            assert_named(error)
            assert set(handle.orientations) == {"csr"}
            assert handle.symmetric is None
            backend.convert(handle, "csc")
        assert set(handle.orientations) == {"csr", "csc"}
        assert contents(backend, [handle]) == contents(backend, [backend.put(arrays)])


@pytest.mark.parametrize("name", OPERATIONS)
def test_results_are_the_same_with_one_exact_allocation_for_each_buffer(backend, name):
    kinds, statement, give = OPERATIONS[name]
    program = plan_program(Program(slots_of(kinds), (statement,)), backend.capabilities())
    results = []
    for is_exact in (False, True):
        if is_exact:
            be_exact(backend.runtime)
        bindings = bound(backend, give())
        backend.execute(backend.prepare(program), bindings)
        results.append(contents(backend, bindings))
    assert results[0] == results[1]


def test_what_was_asked_for_is_counted(backend):
    before = backend.statistics()
    backend.put(random_vector(320, FP32, 1, 0.3))
    after = backend.statistics()
    assert after.allocations - before.allocations >= 1
    # Values, presence and positions of 320 entries; the state of the vector.
    assert after.bytes_allocated - before.bytes_allocated >= 320 * 4 + 40 + 320 * 4


def test_a_request_larger_than_the_device_is_refused_by_the_driver(backend):
    needed = 1 << 50
    with pytest.raises(OutOfMemory, match=f"{needed} bytes are needed, [1-9][0-9]* are free"):
        backend.runtime.allocate(needed)
    assert contents(backend, bound(backend, vectors(1)))


def test_a_result_that_nobody_has_counted_may_be_told_to_be_symmetric(monkeypatch):
    monkeypatch.setattr(objects, "WASTED", 1 << 15)
    n = 12_500
    with gb.device("cuda"):
        near, far = np.arange(n - 1), np.arange(1, n)
        ends = np.concatenate((near, far)), np.concatenate((far, near))
        A = gb.Matrix.from_coo(*ends, True, nrows=n, ncols=n)
        edges = A.ewise_add(A.T, "any").new()
        edges, pattern = edges.ewise_add(edges.T, "any").new(), gb.Matrix(bool, n, n)
        pattern(edges.S) << True
        pattern.symmetric = True
        # Counting gives back what was allocated for more entries.
        assert pattern.nvals == 2 * (n - 1)
        assert pattern.symmetric
        assert pattern.isequal(A)
