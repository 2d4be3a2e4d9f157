"""A rule means the same evaluated in Python, rendered to CUDA, and folded."""

import math
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.helpers.c_expression import evaluate_c
from tests.helpers.plans import ABLE, plan_of, product
from tests.helpers.rules import evaluate

from semira.backends.rules import compile_rule, render_cuda, render_cuda_choice
from semira.base.errors import InvalidValue
from semira.contract import Choose, Compare, Const, Count, Previous
from semira.contract.rule import COUNTS
from semira.plan import POLICIES
from semira.plan.expressions import SIGNS, fold, rule_text

LEAVES = (
    st.floats(allow_nan=False, allow_infinity=False).map(Const)
    | st.integers(-3, 3).map(lambda value: Const(float(value)))
    | st.sampled_from(sorted(COUNTS)).map(Count)
    | st.just(Previous())
)
RULES = st.recursive(
    LEAVES,
    lambda inner: (
        st.builds(Compare, st.sampled_from(sorted(SIGNS)), inner, inner)
        | st.builds(Choose, inner, inner, inner)
    ),
    max_leaves=12,
)
SIZES = st.integers(0, 4) | st.integers(0, 2**40)
NUMBERS = st.fixed_dictionaries(dict.fromkeys(COUNTS, SIZES))
PREVIOUS = st.sampled_from([-1, 0, 1])


def same(left, right):
    return left == right or (math.isnan(left) and math.isnan(right))


@settings(max_examples=200, deadline=None)
@given(RULES, NUMBERS, PREVIOUS)
def test_cuda_text_equals_evaluate(rule, counts, previous):
    expected = evaluate(rule, counts.__getitem__, previous)
    assert same(compile_rule(rule)(counts.__getitem__, previous), expected)
    variables = counts | {"previous": previous}
    assert same(evaluate_c(render_cuda(rule), variables), expected)


@settings(max_examples=200, deadline=None)
@given(RULES, NUMBERS, PREVIOUS)
def test_a_choice_is_the_same_without_its_fraction(rule, counts, previous):
    expected = evaluate(rule, counts.__getitem__, previous)
    assume(abs(expected) < 2**31)
    variables = counts | {"previous": previous}
    assert evaluate_c(render_cuda_choice(rule), variables) == int(expected)


@settings(max_examples=200, deadline=None)
@given(RULES, NUMBERS, PREVIOUS)
def test_fold_equals_evaluate(rule, counts, previous):
    folded = fold(rule, counts, previous)
    assert isinstance(folded, Const)
    assert same(folded.value, evaluate(rule, counts.__getitem__, previous))


@settings(max_examples=200, deadline=None)
@given(RULES, NUMBERS, PREVIOUS, st.sets(st.sampled_from(sorted(COUNTS))))
def test_fold_with_some_counts_keeps_the_meaning(rule, counts, previous, known):
    rest = fold(rule, {name: counts[name] for name in known})
    expected = evaluate(rule, counts.__getitem__, previous)
    assert same(compile_rule(rule)(counts.__getitem__, previous), expected)
    assert same(evaluate(rest, counts.__getitem__, previous), expected)


STATEMENTS = [
    product(),
    product("mxv", "min_plus[FP64]"),
    product("vxm", "plus_times[FP64]", mask=None, replace=False),
]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda s: s.operator.name)
@pytest.mark.parametrize("cheap", [True, False])
@settings(max_examples=15, deadline=None)
@given(counts=NUMBERS, previous=PREVIOUS)
def test_rules_of_policies_agree_and_pick_a_method(policy, statement, cheap, counts, previous):
    plan = plan_of(statement, replace(ABLE, cheap_degrees=cheap), policy)
    expected = evaluate(plan.rule, counts.__getitem__, previous)
    assert expected in (0, 1)
    text = render_cuda(plan.rule)
    assert evaluate_c(text, counts | {"previous": previous}) == expected
    assert fold(plan.rule, counts, previous) == Const(float(expected))


def test_names_replace_counts_and_previous():
    rule = Compare("+", Count("nnz"), Previous())
    text = render_cuda(rule, {"nnz": "d->nnz", "previous": "state.method"})
    assert text == "((double)(d->nnz) + (double)(state.method))"


def test_unread_counts_are_not_read_in_c():
    rule = Choose(Compare("<", Count("frontier"), Const(1.0)), Const(0.0), Count("open_edges"))
    assert evaluate_c(render_cuda(rule), {"frontier": 0}) == 0
    guarded = Compare("and", Compare("<", Count("frontier"), Const(1.0)), Count("open_edges"))
    assert evaluate_c(render_cuda(guarded), {"frontier": 5}) == 0


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (Count("edges"), "'edges' is not a count"),
        (Compare("/", Const(1.0), Const(2.0)), "'/' is not a sign"),
        (Const(math.inf), "inf"),
        (Const(math.nan), "nan"),
    ],
)
def test_rules_that_cuda_cannot_mean_are_refused(rule, words):
    with pytest.raises(InvalidValue, match=words):
        render_cuda(rule)


def test_rule_text_sets_brackets_where_they_matter():
    n, one = Count("n"), Const(1.0)
    assert rule_text(Compare("*", Compare("+", n, one), n)) == "(n + 1) * n"
    assert rule_text(Compare("+", Compare("*", n, one), n)) == "n * 1 + n"
    assert rule_text(Compare("-", n, Compare("-", n, one))) == "n - (n - 1)"
    assert rule_text(Compare("<", Compare("<", n, one), one)) == "(n < 1) < 1"
