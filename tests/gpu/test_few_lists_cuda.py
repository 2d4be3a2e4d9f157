"""Rows of a product of matrices that name few others: a lane merges them, on the GPU."""

from __future__ import annotations

import numpy as np
import pytest
from tests.gpu.test_products_cuda import SEMIRINGS, of_lengths, of_lists, slots_of
from tests.gpu.test_statements_cuda import compare
from tests.helpers.every import every
from tests.helpers.rowwise import go

from semira.backends.cuda.backend import CudaBackend
from semira.base.dtypes import BOOL, FP64, INT64
from semira.contract import Arg, Mask, Program, Slot, Statement
from semira.formats import MatrixArrays
from semira.ops.registry import semiring
from semira.plan import plan_program

pytestmark = pytest.mark.gpu

COLUMNS = 90

#: Of rows of B: nothing, single entries, whole rows, more than a lane takes with others like it.
LENGTHS = [0, 1, 2, 3, 5, 8, 13, 40, 90, 1, 0, 4, 17, 6, 2, 30]


@pytest.fixture(autouse=True, params=["unread", "counted"])
def way(request, monkeypatch) -> str:
    """Rows that are made once, and rows that are counted first; lanes merge, few as they are."""
    go(monkeypatch, request.param)
    return request.param


def operands(dtype, rows: int = 300):
    """Return A, whose rows name 0 to 10 rows of B, and B."""
    rng = np.random.default_rng(3)
    named = [
        np.sort(rng.choice(len(LENGTHS), rng.integers(0, 11), replace=False)) for _ in range(rows)
    ]
    return of_lists(named, len(LENGTHS), dtype, 1), of_lengths(LENGTHS, COLUMNS, dtype, 2)


@every("mask", [None, Mask(3, structural=True, complement=True)])
@every(("name", "dtype"), SEMIRINGS)
def test_every_number_of_lists(name, dtype, mask):
    typed = semiring[name].typed(dtype)
    a, b = operands(dtype)
    opened = of_lengths([7] * a.nrows, COLUMNS, BOOL, 5)
    slots = (*slots_of(typed, dtype, dtype), Slot("matrix", BOOL))
    body = (Statement("mxm", 0, (Arg(1), Arg(2)), typed, mask=mask),)
    nothing = MatrixArrays.empty(a.nrows, COLUMNS, typed.return_type)
    compare(slots, body, [nothing, a, b, opened])


def test_lanes_make_short_rows_and_nobody_else(way):
    typed, used = semiring["plus_times"].typed(FP64), {}
    backend = CudaBackend()
    body = (Statement("mxm", 0, (Arg(1), Arg(2)), typed),)
    program = plan_program(Program(slots_of(typed, FP64, FP64), body), backend.capabilities())
    for lists in (8, 9):
        a = of_lengths([lists] * 40, 50, FP64, 1)
        b = of_lengths([5] * 50, COLUMNS, FP64, 2)
        nothing = MatrixArrays.empty(40, COLUMNS, FP64)
        bound = [backend.put(each) for each in (nothing, a, b)]
        with backend.profiled() as profile:
            backend.execute(backend.prepare(program), bound)
        used[lists] = {use.name.rpartition(":")[2] for use in profile.kernels()}
    if way == "unread":
        # Every bin is started, whatever is in it.
        assert used[8] == used[9]
        assert "t_by_lane" in used[8]
        return
    assert {"semira_count_by_lane", "t_by_lane"} <= used[8]
    assert "t_by_table8" not in used[8]
    assert not {"semira_count_by_lane", "t_by_lane"} & used[9]


def test_wide_offsets():
    a, b = operands(INT64)
    typed = semiring["plus_times"].typed(INT64)
    backend, found = CudaBackend(), []
    body = (Statement("mxm", 0, (Arg(1), Arg(2)), typed),)
    program = plan_program(Program(slots_of(typed, INT64, INT64), body), backend.capabilities())
    for is_wide in (False, True):
        nothing = MatrixArrays.empty(a.nrows, COLUMNS, INT64)
        bound = [backend.put(each) for each in (nothing, a, b)]
        if is_wide:
            for handle in bound[1:]:
                handle.widen()
        backend.execute(backend.prepare(program), bound)
        made = backend.get(bound[0])
        found.append((made.to_coo()[1].tolist(), made.to_coo()[2].tolist()))
    assert found[0] == found[1]
