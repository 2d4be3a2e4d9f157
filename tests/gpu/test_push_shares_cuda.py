"""Rows that a push expands by a warp, by a block or by the whole grid, against the reference."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.gpu.test_balance_cuda import RINGS
from tests.gpu.test_statements_cuda import compare, mask_of, random_vector

import semira as gb
from semira.backends.cuda.runtime import kernel_choice, primitives
from semira.backends.cuda.runtime.launch import CHUNK_EDGES
from semira.base.dtypes import BOOL, INT64
from semira.contract import Arg, Hints, Program, Slot, Statement
from semira.formats import VectorArrays, coo_to_matrix
from semira.ops.registry import semiring
from semira.plan import plan_program

pytestmark = pytest.mark.gpu

#: What a warp scatters at once, and the longest row that a block expands (kernels/vxm/push.cuh).
BATCH, LONGEST = 128, 8192

#: Rows just below, at and above each threshold, and some that fill the lanes between them.
AROUND = [
    0, 1, 31, 32, 33, BATCH - 1, BATCH, BATCH + 1, CHUNK_EDGES - 1, CHUNK_EDGES, CHUNK_EDGES + 1,
    5, LONGEST - 1, LONGEST, LONGEST + 1,
]  # fmt: skip


@pytest.fixture(params=[False, True], ids=["int", "long long"])
def _wide(request, monkeypatch):
    """Offsets of either type."""
    if request.param:
        monkeypatch.setattr(primitives, "WIDE_ENTRIES", 0)


def matrix_of_rows(degrees, columns: int, dtype):
    """Rows of given lengths; those of neighbours overlap."""
    rows = np.repeat(np.arange(len(degrees)), degrees)
    places = np.concatenate([np.arange(d) for d in degrees])
    cols = (places + 7 * rows) % columns
    order = np.lexsort((cols, rows))
    values = (np.arange(len(rows)) % 5).astype(dtype.np_type)
    return coo_to_matrix(len(degrees), columns, rows[order], cols[order], values)


def pushed(ring, accum=None, mask=None) -> Statement:
    """`out<mask> accum= u' A`, pushed."""
    replaces = mask is not None and accum is None
    hints = Hints(direction="push")
    return Statement(
        "vxm", 0, (Arg(1), Arg(2)), ring, mask_of(mask, 3), accum, replaces, hints=hints
    )


@pytest.mark.usefixtures("_wide")
@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.parametrize("name", [*RINGS, "user"])
def test_rows_around_every_threshold(name, blocks, backend):
    backend.blocks = blocks
    if name == "user":
        multiply = gb.binary.register_anonymous(lambda x, y: 3 * x + y)
        ring = gb.semiring.register_anonymous(gb.monoid.plus, multiply)[INT64]
        dtype, accum = INT64, None
    else:
        ring, dtype, accum = RINGS[name]
    columns = LONGEST + 100
    slots = (
        Slot("vector", ring.return_type, "inout"), Slot("vector", dtype),
        Slot("matrix", dtype), Slot("vector", BOOL),
    )  # fmt: skip
    given = [random_vector(columns, ring.return_type, 1, 0.5),
             random_vector(len(AROUND), dtype, 2, 1.0), matrix_of_rows(AROUND, columns, dtype),
             random_vector(columns, BOOL, 4, 0.6)]  # fmt: skip
    for mask in (None, (False, True)):
        compare(slots, (pushed(ring, accum, mask),), given)


#: Lengths of the rows that one block pushes; how many chunks it leaves to the grid: none, all of
#: those that the rows have, or some.
FRONTIERS = {
    "a hub among leaves": ([336] + [3] * 400, "none"),
    "some hubs": ([CHUNK_EDGES + 1] * 15 + [20] * 90, "none"),
    "the longest row": ([LONGEST], "none"),
    "longer": ([LONGEST + 1], "all"),
    "no row is long": ([200] * 300, "none"),
    "a hub where many have left edges": ([200] * 100 + [CHUNK_EDGES + 1], "none"),
    "more hubs than a block keeps": ([300] * 96, "some"),
}


@pytest.mark.usefixtures("_wide")
@pytest.mark.parametrize("name", FRONTIERS)
def test_who_expands_a_row(name, backend):
    backend.blocks = 1
    degrees, share = FRONTIERS[name]
    runtime, columns = backend.runtime, max(degrees) + 7 * len(degrees)
    ring = semiring["plus_times"].typed(INT64)
    slots = (Slot("vector", INT64, "inout"), Slot("vector", INT64), Slot("matrix", INT64))
    program = plan_program(Program(slots, (pushed(ring),)), backend.capabilities())
    matrix = matrix_of_rows(degrees, columns, INT64)
    ones = random_vector(len(degrees), INT64, 1, 1.0)
    bound = [backend.put(each) for each in (VectorArrays.empty(columns, INT64), ones, matrix)]
    executable = backend.prepare(program)
    for _ in range(2):
        # What stands in the queue tells who was there.
        if executable.memory:
            need, (rows, _) = executable.memory["q0"]
            runtime.upload(np.full(need, -1, np.int32), rows)
        outcome = backend.execute(executable, bound)
        assert [row.touched for row in outcome.trace] == [sum(degrees)]
    queued = np.count_nonzero(runtime.download(rows, np.int32, need) >= 0)
    every = sum(-(-d // CHUNK_EDGES) for d in degrees if d > CHUNK_EDGES)
    assert {"none": queued == 0, "all": queued == every, "some": 0 < queued < every}[share]
    expected = np.zeros(columns, np.int64)
    entries = np.repeat(ones.entry_values(), degrees) * matrix.to_coo()[2]
    np.add.at(expected, matrix.to_coo()[1], entries)
    found = backend.get(bound[0])
    np.testing.assert_array_equal(found.entry_values(), expected[found.entry_indices()])
    assert set(found.entry_indices()) == set(matrix.to_coo()[1])


def stars(sizes):
    """A vertex with edges to and from the centres of stars of given sizes."""
    centres = np.arange(1, len(sizes) + 1)
    leaves = np.arange(len(sizes) + 1, len(sizes) + 1 + sum(sizes))
    ends = np.concatenate([np.zeros(len(sizes), int), np.repeat(centres, sizes)])
    others = np.concatenate([centres, leaves])
    return 1 + len(sizes) + sum(sizes), np.append(ends, others), np.append(others, ends)


@pytest.mark.parametrize("blocks", [1, 5])
@pytest.mark.parametrize("sizes", [[128, 255, 256, 257, 1000], [300] * 70 + [2] * 200, [8300, 9]])
def test_inside_loops(sizes, blocks, backend):
    backend.blocks = blocks
    size, rows, cols = stars(sizes)
    values = 1.0 + (rows + 3 * cols) % 11
    found = {}
    for device in ("reference", "cuda"):
        with gb.device(device):
            A = gb.Matrix.from_coo(rows, cols, values, nrows=size, ncols=size)
            opts = {"direction": "push"} if device == "cuda" else {}
            searches = [gb.algorithms.bfs(A, source, **opts) for source in (0, size - 1)]
            tree = gb.algorithms.bfs(A, 0, parents=True, **opts)
            # From the first vertex a star's leaves are more new entries than a block lists.
            paths = [gb.algorithms.sssp(A, source, **opts) for source in (0, size - 1)]
            found[device] = [
                *((each.level.to_dict(), each.iterations) for each in searches),
                # All edges lead to or from a centre, so there is one tree.
                (tree.parent.to_dict(), tree.level.to_dict()),
                *((each.distance.to_dict(), each.iterations) for each in paths),
            ]
            if device == "cuda":
                _check_counts(searches[0].trace, A)
    for ours, expected in itertools.zip_longest(found["cuda"], found["reference"]):
        assert ours == expected


@pytest.mark.parametrize("sizes", [[300] * 70 + [2] * 200, [8300, 9]])
def test_inside_loops_over_large_matrices(monkeypatch, sizes, backend):
    monkeypatch.setattr(kernel_choice, "gathers_many", lambda *_: True)
    test_inside_loops(sizes, 5, backend)


def _check_counts(trace, A) -> None:
    """Every vertex was in one frontier, so all edges were touched once."""
    rows = [row for row in trace if row.method == "push"]
    assert sum(row.touched for row in rows) == A.nvals
    assert sum(row.frontier for row in rows) == A.nrows
