"""Explanations, with the running example of Yang's thesis (section 7.1.9)."""

import numpy as np
import pytest
from tests.helpers.every import every
from tests.helpers.plans import ABLE, numbers, product, program

from semira.base.errors import PlanError
from semira.contract import Choose, Compare, Const, Count, Hints
from semira.plan import explain_statement, plan_program
from semira.plan.expressions import choice_text

#: Eight vertices, twenty edges. Vertices 0, 2, 3 are the frontier; 0, 1, 2, 3, 5 are visited.
OUT_OF_FRONTIER = [(0, 4), (0, 5), (0, 7), (2, 4), (2, 5), (2, 7), (3, 5), (3, 7)]
INTO_OPEN = [(1, 4), (1, 6), (5, 6), (5, 4), (6, 7)]
INTO_VISITED = [(1, 0), (1, 2), (1, 3), (4, 1), (6, 5), (7, 5), (7, 1)]
EDGES = [*OUT_OF_FRONTIER, *INTO_OPEN, *INTO_VISITED]
FRONTIER = [0, 2, 3]
VISITED = [0, 1, 2, 3, 5]


def thesis_counts():
    A = np.zeros((8, 8), dtype=bool)
    A[tuple(np.transpose(EDGES))] = True
    is_open = np.ones(8, dtype=bool)
    is_open[VISITED] = False
    reached = A[FRONTIER].any(axis=0)
    assert list(np.flatnonzero(reached)) == [4, 5, 7]
    assert list(np.flatnonzero(reached & is_open)) == [4, 7]
    return {
        "n": A.shape[0],
        "rows": A.shape[1],
        "nnz": int(A.sum()),
        "frontier": len(FRONTIER),
        "frontier_edges": int(A[FRONTIER].sum()),
        "open_rows": int(is_open.sum()),
        "open_edges": int(A[:, is_open].sum()),
    }


def above(bound, name="frontier"):
    return Compare(">", Count(name), Const(bound))


def below(bound):
    return Compare("<", Count("frontier"), Const(bound))


def explained(counts=None, *, statement=None, hints=None, previous=-1, policy=None):
    from dataclasses import replace

    given = product() if statement is None else statement
    given = given if hints is None else replace(given, hints=hints)
    (planned,) = plan_program(program(given), ABLE, policy).body
    return explain_statement(planned, counts, previous)


def test_running_example_of_the_thesis():
    explanation = explained(thesis_counts(), statement=product("vxm", "lor_land[BOOL]"))
    touched = {way.name: way.entries for way in explanation.touched if not way.is_estimate}
    assert touched == {
        "dense product": 64,
        "pull, every row (SpMV)": 20,
        "push (SpMSpV)": 8,
        "pull, open rows (masked SpMV)": 10,
    }
    text = str(explanation)
    assert "vxm: f<~m.S, replace> = f lor_land A" in text
    for figure in ("64", "20", "8", "10"):
        assert any(line.split()[-1] == figure for line in text.splitlines()), (figure, text)


def test_early_exit_is_an_estimate_below_the_masked_count():
    (estimate,) = [way for way in explained(thesis_counts()).touched if way.is_estimate]
    # three open rows, and 20 / 8 looks to meet the frontier in each
    assert estimate.entries == pytest.approx(7.5)
    assert "about 7.5" in str(explained(thesis_counts()))


def test_chosen_method_follows_the_counts_and_the_previous_method():
    assert explained(numbers(frontier_edges=499), policy="ligra").chosen.name == "push"
    assert explained(numbers(frontier_edges=501), policy="ligra").chosen.name == "pull"
    assert explained(numbers(frontier_edges=500), policy="ligra").chosen.name == "push"
    kept = explained(numbers(frontier_edges=500), policy="ligra", previous=1)
    assert kept.chosen.name == "pull"
    assert "chosen   pull" in str(kept)


def test_missing_counts_leave_the_choice_open():
    explanation = explained({"nnz": 10_000}, policy="ligra")
    assert explanation.chosen is None
    assert explanation.rule == "frontier_edges > 500"
    assert [way.name for way in explanation.touched] == ["pull, every row (SpMV)"]
    assert "open, by the rule: frontier_edges > 500" in str(explanation)


def test_reasons_are_sentences():
    text = str(explained(thesis_counts(), policy="beamer"))
    assert "policy beamer: from push to pull when frontier_edges > 0.0714286 * open_edges" in text
    assert "and rising; back when frontier < 0.0416667 * n and falling" in text
    assert "monoid.any[BOOL] any one will do" in text
    assert "they are not loaded" in text
    assert "{" not in text


def test_pins_are_named():
    text = str(explained(thesis_counts(), hints=Hints(direction="pull", vector_storage="bitmap")))
    assert "the direction pull is pinned" in text
    assert "push is not admissible: direction='pull' is pinned" in text
    assert "kept bitmap" in text


def test_formula_of_other_statements():
    unmasked = product("mxv", "plus_times[FP64]", transposed=True, mask=None, replace=False, out=1)
    assert explained(statement=unmasked).formula == "mxv: w = A.T plus_times f"
    assert explained(statement=product("mxm")).formula == "mxm: B = A any_pair B"


def test_mxm_counts_its_multiplications():
    explanation = explained({"frontier_edges": 36}, statement=product("mxm"))
    assert [(way.name, way.entries) for way in explanation.touched] == [
        ("row by row (Gustavson)", 36)
    ]
    assert explanation.chosen.name == "dense"


def test_statement_without_plan_is_an_error():
    with pytest.raises(PlanError, match="no plan yet"):
        explain_statement(product())


# in loops ----------------------------------------------------------------------------------------
def test_choices_are_told_apart_by_the_method_before():
    assert explained({"nnz": 10_000}, policy="ligra").choices == (
        "pull if frontier_edges > 500, else push",
        "after pull: push if frontier_edges < 500, else pull",
    )
    # Whether a frontier rises is not known, though at first it does.
    there, back = explained({"n": 1000}, policy="pushpull18").choices
    assert there == "pull if frontier > previous_frontier and frontier > 10, else push"
    assert back.startswith("after pull: push if frontier < previous_frontier and")


def test_brief_lines_have_methods_choices_and_reasons():
    found = explained({"nnz": 10_000}, policy="ligra")
    lines = found.brief()
    assert [line[:9].strip() for line in lines if line[:9].strip()] == [
        "method", "chosen", "because",
    ]  # fmt: skip
    assert len(lines) == 2 + 2 + len(found.reasons)
    assert found.brief(is_summed=True)[2] == "chosen   push, for only its sum is made"
    # One method needs no choice.
    pinned = explained(hints=Hints(direction="pull")).brief()
    assert not any(line.startswith("chosen") for line in pinned)


@every(
    ("rule", "text"),
    [
        (Compare("and", above(1), above(9)), "b if frontier > 9, else a"),
        (Compare("or", above(1), above(9)), "b if frontier > 1, else a"),
        (Compare("and", below(1), below(9)), "b if frontier < 1, else a"),
        (Compare("or", below(1), below(9)), "b if frontier < 9, else a"),
        (Compare("and", above(1), below(9)), "b if frontier > 1 and frontier < 9, else a"),
        (Compare("and", above(1), above(9, "n")), "b if frontier > 1 and n > 9, else a"),
        (Choose(above(1), Const(2), Const(0)), "c if frontier > 1, else a"),
        (
            Choose(above(1), above(9), Const(2)),
            "(b if frontier > 9, else a) if frontier > 1, else c",
        ),
    ],
)
def test_choices_in_words(rule, text):
    assert choice_text(rule, "abc") == text
