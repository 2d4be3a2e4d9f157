"""Results do not depend on the number of blocks, nor on which block does what."""

from __future__ import annotations

import numpy as np
import pytest
from tests.gpu.test_bfs_cuda import GRAPHS, dense, search
from tests.gpu.test_memory_cuda import OPERATIONS, bound, contents, slots_of
from tests.helpers.bfs_program import levels_by_numpy
from tests.helpers.every import every

from semira.backends.cuda.backend import CudaBackend
from semira.backends.cuda.jit import render
from semira.contract import Program
from semira.plan import plan_program

pytestmark = pytest.mark.gpu

#: Blocks of a launch; None: as many as fit.
BLOCKS = [1, 7, 40, None]


@pytest.fixture(params=[False, True], ids=["in order", "permuted"])
def permuted(request, monkeypatch):
    """Deal the numbers of blocks out in another order, in kernels compiled from now on."""
    if request.param:
        monkeypatch.setattr(render, "defines", ["SEMIRA_PERMUTED"])
    return request.param


@every("blocks", BLOCKS)
@every("name", OPERATIONS)
def test_statements(permuted, name, blocks):
    kinds, statement, give = OPERATIONS[name]
    given = give()
    results = []
    for number, order in ((None, []), (blocks, render.defines)):
        render.defines, backend = order, CudaBackend()
        backend.blocks = number
        program = plan_program(Program(slots_of(kinds), (statement,)), backend.capabilities())
        bindings = bound(backend, given)
        backend.execute(backend.prepare(program), bindings)
        results.append(contents(backend, bindings))
    assert results[0] == results[1]


@every("blocks", BLOCKS)
@every("name", ["grid", "star", "skewed"])
def test_loops(permuted, name, blocks):
    backend = CudaBackend()
    backend.blocks = blocks
    level, _ = search(backend, GRAPHS[name])
    assert np.array_equal(dense(level), levels_by_numpy(*GRAPHS[name], 0))
