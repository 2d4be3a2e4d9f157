"""Products of matrices with an operand that has every entry: their plan in words and numbers."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from tests.helpers.plans import A, plan_of, product

import semira as gb
from semira.backends.cuda.backend import CAPABILITIES
from semira.backends.cuda.staged import full as staged
from semira.contract import Hints, Mask, packs_of
from semira.plan import explain_statement
from semira.plan.reasons import Code, sentence
from semira.plan.rules_full import PIECES

CLOSED = Mask(A, structural=True, complement=True)


def counts(lines: int, nvals: int, cols: int = 64, inner: int = 10_000) -> dict[str, float]:
    """Return the counts of a sparse matrix times a full one, as high as it is wide."""
    return {
        "block": inner, "shared": 32, "n": inner * inner, "cols": cols, "rows": inner * cols,
        "nnz": inner * inner * cols, "frontier": nvals, "frontier_edges": nvals * cols,
        "open_rows": inner * cols, "open_edges": inner * inner * cols, "lines": lines,
    }  # fmt: skip


def planned(hints: Hints | None = None, **fields):
    statement = product("mxm", "plus_times[FP32]", **{"mask": None, "replace": False} | fields)
    statement = replace(statement, hints=hints or Hints())
    return replace(statement, plan=plan_of(statement, CAPABILITIES))


@pytest.mark.parametrize("balance", [None, "rows", "edges", "thread"])
def test_what_is_explained_is_what_is_done(balance):
    statement, wanted = planned(Hints(balance=balance)), balance or "pieces"
    found = explain_statement(statement, counts(10_000, 40_000, 64))
    assert found.chosen.balance == staged.balance_of(SimpleNamespace(statement=statement)) == wanted
    assert f"work shared by {wanted}" in str(found)
    assert any(f"shared out by {wanted}: " in text for text in found.reasons)


def test_a_pinned_balance_is_explained_as_pinned():
    for balance in ("rows", "edges", "thread", "pieces"):
        found = explain_statement(planned(Hints(balance=balance)), counts(1_000, 4_000))
        assert found.chosen.balance == balance
        assert f"work is shared out by {balance}: it is pinned" in found.reasons


def test_nothing_is_weighed_beside_a_full_operand():
    low = counts(4, 9_000) | {"block": 4}
    for mask in (None, CLOSED):
        found = explain_statement(planned(mask=mask), low)
        assert [method.name for method in found.plan.methods] == ["hash"]
        text = " ".join(found.reasons)
        assert "the right operand has every entry" in text
        assert "block" not in text
        assert "accumulator" not in text
        assert "policy" not in text
    assert found.chosen.mask_order == "after"
    assert "after multiplying: rows are whole" in text


def test_named_results_have_a_worker_each():
    named = Mask(A, structural=True, complement=False)
    given = counts(50, 9_000) | {"n": 10_000, "nnz": 640_000, "open_rows": 10, "open_edges": 300}
    found = explain_statement(planned(mask=named), given)
    assert found.chosen.name == "dot"
    text = " ".join(found.reasons)
    assert "one dot product for each" in text
    assert "each entry of the mask has a worker" in text
    assert "merged" not in text


def test_without_counts_or_with_gaps_the_plan_is_as_it_was():
    statement = planned()
    sentences = [sentence(given) for given in statement.plan.reasons]
    assert "an operand that has every entry is read where it lies instead" in sentences
    assert list(explain_statement(statement).reasons) == sentences
    gaps = counts(1_000, 4_000)
    found = explain_statement(statement, gaps | {"nnz": gaps["nnz"] - 10_000})
    assert set(sentences) - set(found.reasons) == {
        "an operand that has every entry is read where it lies instead"
    }
    assert "hash accumulator" in str(found)
    # Formats have ways of their own.
    walked = planned(Hints(matrix_storage="coo"))
    assert Code.FULL_OPERANDS not in [given.code for given in walked.plan.reasons]


def test_backends_that_do_not_read_in_place_do_not_say_so():
    statement = planned()
    plain = replace(statement, plan=plan_of(statement, replace(CAPABILITIES, reads_full=False)))
    assert "every entry" not in str(explain_statement(plain, counts(1_000, 4_000)))


@pytest.mark.parametrize("name", ["cpu", "cuda"])
def test_explain_sees_which_operand_is_full(name):
    grid = gb.io.read("grid:20x20")
    tall = gb.Matrix.from_dense(np.ones((400, 3)))
    every = gb.Matrix.from_dense(np.ones((400, 400)))
    text = str(gb.explain(grid.mxm(tall, "plus_times"), device=name))
    assert "the right operand has every entry" in text
    assert "table" in text
    assert "by pieces: a thread a row" in text or name == "cpu"
    # 30 rows are no block of 400 columns.
    low = gb.Matrix.from_dense(np.ones((30, 400)))
    text = str(gb.explain(low.mxm(grid, "plus_times"), device=name))
    assert "the left operand has every entry" in text
    assert "accumulator" not in text
    # A block is kept as bits by many threads.
    text = str(gb.explain(tall.T.mxm(grid, "plus_times"), device=name))
    assert ("the left operand has every entry" in text) == (name == "cpu")
    text = str(gb.explain(every.mxm(tall, "plus_times"), device=name))
    assert ("tiles of them" in text) == (name == "cuda")
    assert "every entry" not in str(gb.explain(grid.mxm(grid, "plus_pair"), device=name))


def test_shares_are_part_of_a_plan():
    plan = planned().plan
    assert plan.methods[0].full == PIECES
    assert [packs_of(8, size) for size in (1, 4, 8, 16)] == [2, 2, 4, 8]
    assert [packs_of(6, size) for size in (1, 4, 8, 16)] == [3, 3, 3, 6]
