"""Dot products or row by row, chosen by counts on the GPU; the results are the same."""

from __future__ import annotations

import numpy as np
import pytest
from tests.gpu.test_products_cuda import of_lengths, of_lists, slots_of, transposed
from tests.gpu.test_statements_cuda import compare, mask_of, random_matrix

import semira as gb
from semira import semiring as public_semiring
from semira.backends.cuda.staged import choice
from semira.backends.registry import backend_for
from semira.base.dtypes import INT8, INT64
from semira.contract import Arg, Hints, Program, Statement, TraceRow
from semira.engine import run as engine_run
from semira.engine import warm
from semira.formats import MatrixArrays
from semira.ops.registry import semiring
from semira.plan import plan_program, rules_product
from semira.plan.policy import Number

pytestmark = pytest.mark.gpu

TYPED = semiring["plus_times"].typed(INT64)


@pytest.fixture(autouse=True)
def counted(monkeypatch):
    """Count, however small the operands are."""
    monkeypatch.setattr(rules_product, "WORTH_COUNTING", Number(0.0, "a test"))
    # Plans with the rule as it was are not taken up again.
    monkeypatch.setattr(engine_run, "_prepared", type(engine_run._prepared)(64))
    monkeypatch.setattr(warm, "_known", {})


def body_of(flags=(True, False), *, right=False, **fields) -> Statement:
    mask = mask_of(flags, 3)
    return Statement("mxm", 0, (Arg(1), Arg(2, right)), TYPED, mask=mask, **fields)


def ran(body: Statement, given) -> TraceRow:
    """Return the row of the trace."""
    backend, slots = backend_for("cuda"), slots_of(TYPED, INT64, INT64, INT8)
    program = plan_program(Program(slots, (body,)), backend.capabilities())
    outcome = backend.execute(backend.prepare(program), [backend.put(one) for one in given])
    (row,) = outcome.trace
    return row


def operands(long_mask: bool):
    """Return an empty output, A, B and a mask that is long or short beside the products."""
    a = of_lists([[k % 60] for k in range(40)], 60, INT64, 1)
    b = of_lengths([k % 3 for k in range(60)], 500, INT64, 2)
    count = 400 if long_mask else 1
    mask = of_lengths([count if k % 5 else 0 for k in range(40)], 500, INT8, 3)
    return [MatrixArrays.empty(40, 500, INT64), a, b, mask]


@pytest.mark.parametrize("flags", [(True, False), (False, False)])
@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("long_mask", [True, False])
def test_the_mask_decides(flags, right, long_mask):
    given = operands(long_mask)
    if right:
        given[2] = transposed(given[2])
    body = body_of(flags, right=right)
    compare(slots_of(TYPED, INT64, INT64, INT8), (body,), given)
    assert ran(body, given).method == ("hash" if long_mask else "dot")
    accumulated = body_of(flags, right=right, accum=gb.binary.plus["INT64"])
    given[0] = of_lengths([k % 7 for k in range(40)], 500, INT64, 4)
    compare(slots_of(TYPED, INT64, INT64, INT8), (accumulated,), given)


def test_a_pinned_method_is_kept():
    for method in ("dot", "hash"):
        for long_mask in (True, False):
            row = ran(body_of(hints=Hints(method=method)), operands(long_mask))
            assert row.method == method


def test_full_operands_have_dot_products():
    given = operands(long_mask=True)
    given[2] = of_lists([range(500)] * 60, 500, INT64, 2)
    assert ran(body_of(), given).method == "dot"


@pytest.mark.parametrize("by_columns", [False, True])
@pytest.mark.parametrize("symmetric", [False, True])
def test_the_counts_are_those_of_the_operands(monkeypatch, by_columns, symmetric):
    """Whichever orientation is there; B is square, so that it may be symmetric."""
    seen: list[list[int]] = []
    work = choice._work
    monkeypatch.setattr(choice, "_work", lambda job: seen.append(work(job)) or seen[-1])
    a, b, mask = (random_matrix(70, dtype, k) for k, dtype in enumerate((INT64, INT64, INT8)))
    dense = np.zeros((70, 70), bool)
    rows, columns, _ = b.to_coo()
    dense[rows, columns] = True
    if symmetric:
        dense |= dense.T
        b = of_lists([np.flatnonzero(line) for line in dense], 70, INT64, 1)
    backend = backend_for("cuda")
    bound = [backend.put(one) for one in (MatrixArrays.empty(70, 70, INT64), a, b, mask)]
    if by_columns:
        backend.convert(bound[2], "csc")
    program = Program(slots_of(TYPED, INT64, INT64, INT8), (body_of(right=by_columns),))
    backend.execute(backend.prepare(plan_program(program, backend.capabilities())), bound)
    right = dense.T if by_columns else dense
    left_rows, inner, _ = a.to_coo()
    at, to, _ = mask.to_coo()
    searches = 8 * np.bincount(left_rows, minlength=70)
    looks = np.minimum(right.sum(axis=0)[to], searches[at]).sum()
    pairs = right.sum(axis=1)[inner[np.isin(left_rows, at)]].sum()
    assert seen == [[looks, pairs]]


def test_explain_and_run_agree():
    rng = np.random.default_rng(3)
    with gb.device("cuda"):
        keys = rng.choice(80 * 300, 9000, replace=False)
        mask = gb.Matrix.from_coo(keys // 300, keys % 300, True, nrows=80, ncols=300)
        a = gb.Matrix.from_coo(np.arange(80), np.arange(80) % 50, 1, nrows=80, ncols=50)
        b = gb.Matrix.from_coo(np.arange(50), 6 * np.arange(50), 1, nrows=50, ncols=300)
    made = gb.Matrix("INT64", 80, 300).to("cuda")
    product = a.mxm(b, public_semiring.plus_times)
    assert gb.explain(product, mask=mask.S).chosen.name == "hash"
    with gb.tracing() as traced:
        made(mask.S) << product
    assert [row.method for row in traced.rows] == ["hash"]
    expected = a.to("cpu").mxm(b.to("cpu")).new(mask=mask.to("cpu").S)
    assert made.to("cpu").isequal(expected)


def test_a_sum_of_dots_is_not_counted(monkeypatch):
    monkeypatch.setattr(choice, "_work", lambda job: pytest.fail("it was counted"))
    with gb.device("cuda"):
        graph = gb.Matrix.from_dense(np.ones((6, 6)) - np.eye(6), missing_value=0)
    assert gb.algorithms.triangle_count(graph, symmetric=True).count == 20
