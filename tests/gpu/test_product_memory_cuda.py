"""Products of matrices on a GPU with little memory: the right result, or nothing has changed."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from tests.gpu.test_matrices_cuda import MASKS
from tests.gpu.test_memory_cuda import bound, contents
from tests.gpu.test_products_cuda import of_lengths, slots_of
from tests.gpu.test_statements_cuda import mask_of, run
from tests.helpers.gpu_memory import Limited
from tests.helpers.rowwise import go

from semira.backends.cuda.backend import CudaBackend
from semira.backends.cuda.runtime import room
from semira.backends.cuda.staged import bins, rowwise
from semira.base.dtypes import FP64, INT8, INT64
from semira.base.errors import OutOfMemory
from semira.contract import Arg, Program, Statement
from semira.contract.hints import Hints
from semira.methods.equal_shares import cuda
from semira.ops.registry import binary, semiring
from semira.plan import plan_program

pytestmark = pytest.mark.gpu

#: Bytes of the GPU.
PLENTY = 1 << 28

#: What a refusal says: of what a product plans, or of what writes its result.
NAMED = r"needs \d+ bytes.* and \d+ are free; .*gb.estimate|\d+ bytes are needed, \d+ are free"

#: Entries of A's rows.
LENGTHS = (0, 4000, 1, 3000, *[1500] * 40, 4000)


@pytest.fixture
def backend(monkeypatch):
    """A backend of its own, whose requests are all looked at, and all seen; it counts first."""
    go(monkeypatch, "counted")
    made = CudaBackend()
    made.runtime.keeps_apart = True
    monkeypatch.setattr(room, "UNCHECKED", 0)
    return made


class Case:
    """A product, and what it runs on.

    Unless told otherwise rows of A have any length, and many entries in all; B has few columns, so
    that the result is small.
    """

    def __init__(
        self, backend, mask, accum, pins, name="plus_times", dtype=INT64, lengths=LENGTHS,
        columns=60,
    ) -> None:  # fmt: skip
        typed, inner = semiring[name].typed(dtype), 4000
        self.given = [
            of_lengths([8] * len(lengths), columns, typed.return_type, 1),
            of_lengths(lengths, inner, dtype, 2), of_lengths([2] * inner, columns, dtype, 3),
            of_lengths([30] * len(lengths), columns, INT8, 4),
        ]  # fmt: skip
        self.slots = slots_of(typed, dtype, dtype, INT8)
        statement = Statement(
            "mxm", 0, (Arg(1), Arg(2)), typed, mask=mask and mask_of(mask, 3),
            accum=accum and binary[accum].typed(typed.return_type), hints=Hints(**pins),
        )  # fmt: skip
        program = plan_program(Program(self.slots, (statement,)), backend.capabilities())
        self.backend, self.executable = backend, backend.prepare(program)
        self.expected = run("reference", self.slots, (statement,), self.given)

    def at(self, limit: int) -> tuple[str, int]:
        """Run with so many bytes beside the operands; return the refusal, and the bytes used."""
        runtime = self.backend.runtime
        inner, things = runtime.memory, bound(self.backend, self.given)
        for thing in things:
            thing.need("csr")
        before = contents(self.backend, things)
        runtime.memory = limited = Limited(inner, limit)
        try:
            self.backend.execute(self.executable, things)
            refusal = ""
        except OutOfMemory as error:
            refusal = str(error)
        finally:
            runtime.memory = inner
        if refusal:
            assert contents(self.backend, things) == before
        else:
            rows, columns, values = self.backend.get(things[0]).to_coo()
            assert list(zip(rows.tolist(), columns.tolist(), strict=True)) == self.expected[0]
            np.testing.assert_array_equal(values, self.expected[1])
        return refusal, limit - limited.least


@pytest.fixture
def windows(monkeypatch):
    """No table fits, so that longer rows go by windows; how these went is listed."""
    go(monkeypatch, "counted", tables=False)
    monkeypatch.setattr(bins, "WINDOW", 1 << 9)
    monkeypatch.setattr(rowwise, "BITMAP", 1 << 6)
    seen, plan = [], rowwise.plan_windows

    def planned(*given):
        made = plan(*given)
        # Without the buffer, which would live on.
        seen.append(replace(made, cursors=None))
        return made

    monkeypatch.setattr(rowwise, "plan_windows", planned)
    return seen


@pytest.mark.parametrize("accum", [None, "plus"])
@pytest.mark.parametrize("mask", [None, *MASKS[1:]])
def test_rows_go_in_rounds_where_cursors_of_all_do_not_fit(backend, windows, mask, accum):
    case = Case(backend, mask, accum, {"method": "hash"})
    refusal, used = case.at(PLENTY)
    assert not refusal
    assert {each.room for each in windows} == {0}
    assert len(windows) == 2
    rounds = set()
    for limit in np.linspace(used // 2, 0, 12).astype(int):
        windows.clear()
        refusal, used = case.at(int(limit))
        assert used <= limit
        rounds |= {each.blocks for each in windows if each.room and not refusal}
        if refusal:
            assert re.search(
                r"(needs \d+ bytes.* and \d+ are free; .*|\d+ bytes are needed)", refusal
            )
    # 45 rows in as many rounds as few blocks have to take; the last limits leave room for none.
    assert min(rounds) <= 3
    assert refusal


@pytest.mark.parametrize("name", ["plus_times", "min_firsti", "any_secondj"])
def test_rounds_know_their_rows(backend, windows, name):
    case = Case(backend, None, None, {"method": "hash", "deterministic": True}, name)
    _, used = case.at(PLENTY)
    windows.clear()
    refusal, _ = case.at(used - 200_000)
    assert not refusal
    assert {each.room for each in windows} == {4000}
    assert min(each.blocks for each in windows) < 8


def test_what_a_product_takes_is_bounded_by_rows_and_its_result(backend, windows):
    """Tables are in shared memory: no limit above the bound makes rounds, or needs any."""
    del windows
    case = Case(backend, None, None, {"method": "hash"}, dtype=FP64)
    nvals = len(case.expected[0])
    a = case.given[1]
    bound_bytes = rowwise.row_bytes(a.nrows) + 16 * nvals + 4 * (a.nrows + 1)
    least = bound_bytes + 4 * a.ncols
    slack = 16 * 40
    refusal, used = case.at(least + slack)
    assert not refusal, refusal
    assert used <= least + slack


def test_a_result_that_does_not_fit_is_refused_as_a_whole(backend):
    case = Case(backend, None, None, {"method": "hash"})
    nvals, nrows = len(case.expected[0]), case.given[0].nrows
    result = 16 * nvals + 4 * (nrows + 1)
    limit = rowwise.row_bytes(nrows) + result - 4096
    refusal, used = case.at(limit)
    assert re.search(rf"a product of {nvals} entries needs {result} bytes", refusal)
    assert "gb.estimate" in refusal
    assert "are free" in refusal
    assert used <= rowwise.row_bytes(nrows)


def test_rows_that_do_not_fit_are_refused_before_anything_is_launched(backend):
    case = Case(backend, None, None, {"method": "hash"})
    before = backend.runtime.statistics.launches
    refusal, used = case.at(rowwise.row_bytes(case.given[0].nrows) - 1)
    assert "a product of 45 rows needs" in refusal
    assert used == 0
    assert backend.runtime.statistics.launches == before


@pytest.mark.parametrize("mask", [None, *MASKS[1:]])
@pytest.mark.parametrize("name", ["plus_times", "min_firsti", "any_secondj"])
def test_long_rows_of_equal_shares_go_in_rounds(backend, monkeypatch, name, mask):
    """Short rows are everywhere between the long ones, whose columns take most of the memory."""
    lengths = [0, 700, 1, *[600, 30, 520] * 12, 0, 900, 2]
    case = Case(backend, mask, None, {"balance": "edges"}, name, lengths=lengths, columns=400_000)
    seen, plan = [], cuda.plan_rounds

    def planned(*given):
        made = plan(*given)
        seen.append(len(made.firsts))
        return made

    monkeypatch.setattr(cuda, "plan_rounds", planned)
    refusal, used = case.at(PLENTY)
    assert not refusal
    assert seen == [1]
    most = 0
    for limit in np.linspace(used, 0, 10).astype(int):
        seen.clear()
        refusal, used = case.at(int(limit))
        assert used <= limit
        most = most if refusal else max(most, *seen)
        assert not refusal or re.search(NAMED, refusal), refusal
    assert most >= 3
    assert refusal
