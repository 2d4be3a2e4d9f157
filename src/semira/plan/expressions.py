"""Building rules: ratios without division, comparisons, and partial evaluation.

Rules have no division, so that Python and CUDA cannot differ in it. A quantity with a
denominator is a `Ratio`; comparing two ratios multiplies crosswise.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from semira.contract import Choose, Compare, Const, Count, Previous, Rule

ONE = Const(1.0)
ZERO = Const(0.0)

#: Meaning of each sign of `semira.contract.Compare`.
SIGNS: dict[str, Callable[[float, float], float]] = {
    "*": operator.mul,
    "+": operator.add,
    "-": operator.sub,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "and": lambda a, b: a != 0 and b != 0,
    "or": lambda a, b: a != 0 or b != 0,
}
#: Result of an ``and`` or ``or`` whose left side decides: ``and`` is decided by a false left
#: side, ``or`` by a true one, and both are then equal to it.
_DECIDED = {"and": ZERO, "or": ONE}


def times(left: Rule, right: Rule) -> Rule:
    """Return ``left * right``; a factor of one is left out."""
    if left == ONE:
        return right
    return left if right == ONE else Compare("*", left, right)


def plus(left: Rule, right: Rule) -> Rule:
    """Return ``left + right``; a term of zero is left out."""
    if left == ZERO:
        return right
    return left if right == ZERO else Compare("+", left, right)


def both(left: Rule, right: Rule) -> Rule:
    """Return ``left and right``."""
    return Compare("and", left, right)


def either(left: Rule, right: Rule) -> Rule:
    """Return ``left or right``."""
    return Compare("or", left, right)


@dataclass(frozen=True, slots=True)
class Ratio:
    """A quotient of two rules; the denominator is never negative."""

    numerator: Rule
    denominator: Rule = ONE

    def __add__(self, other: Ratio) -> Ratio:
        return Ratio(
            plus(
                times(self.numerator, other.denominator), times(other.numerator, self.denominator)
            ),
            times(self.denominator, other.denominator),
        )

    def __mul__(self, other: Ratio) -> Ratio:
        return Ratio(
            times(self.numerator, other.numerator), times(self.denominator, other.denominator)
        )

    def __truediv__(self, other: Ratio) -> Ratio:
        return self * Ratio(other.denominator, other.numerator)


def compare(sign: str, left: Ratio, fraction: float, right: Ratio) -> Rule:
    """Return the rule ``left sign fraction * right``, multiplied crosswise."""
    return Compare(
        sign,
        times(left.numerator, right.denominator),
        times(Const(fraction), times(right.numerator, left.denominator)),
    )


def fold(rule: Rule, counts: Mapping[str, float], previous: int | None = None) -> Rule:
    """Put known counts into `rule` and reduce what they decide; to a `Const` if that is all.

    Other counts stay symbols. `previous` is the index of the method used last time, None: unknown.

    Examples
    --------
    >>> from semira.contract import Compare, Const, Count
    >>> rule = Compare(">", Count("frontier"), Compare("*", Const(0.1), Count("n")))
    >>> fold(rule, {"frontier": 30, "n": 100})
    Const(value=1.0)
    """
    if isinstance(rule, Count):
        return Const(float(counts[rule.name])) if rule.name in counts else rule
    if isinstance(rule, Previous):
        return rule if previous is None else Const(float(previous))
    if isinstance(rule, Choose):
        return _fold_choice(rule, counts, previous)
    if isinstance(rule, Compare):
        return _fold_comparison(rule, counts, previous)
    return rule


def _fold_choice(rule: Choose, counts: Mapping[str, float], previous: int | None) -> Rule:
    test = fold(rule.test, counts, previous)
    if isinstance(test, Const):
        return fold(rule.then if test.value else rule.other, counts, previous)
    then, other = fold(rule.then, counts, previous), fold(rule.other, counts, previous)
    return then if then == other else Choose(test, then, other)


def _fold_comparison(rule: Compare, counts: Mapping[str, float], previous: int | None) -> Rule:
    left = fold(rule.left, counts, previous)
    if rule.sign in _DECIDED and isinstance(left, Const):
        decided = _DECIDED[rule.sign]
        if bool(left.value) == bool(decided.value):
            return decided
    right = fold(rule.right, counts, previous)
    if isinstance(left, Const) and isinstance(right, Const):
        return Const(float(SIGNS[rule.sign](left.value, right.value)))
    return Compare(rule.sign, left, right)


_PRECEDENCE = {"or": 1, "and": 2, "*": 5, "+": 4, "-": 4}


def rule_text(rule: Rule) -> str:
    """Return `rule` as a line for people.

    Examples
    --------
    >>> from semira.contract import Compare, Const, Count
    >>> rule_text(Compare(">", Count("frontier"), Compare("*", Const(0.1), Count("n"))))
    'frontier > 0.1 * n'
    """
    if isinstance(rule, Const):
        return f"{rule.value:.6g}"
    if isinstance(rule, Count):
        return rule.name
    if isinstance(rule, Choose):
        parts = (rule_text(part) for part in (rule.test, rule.then, rule.other))
        return "(if {} then {} else {})".format(*parts)
    if isinstance(rule, Compare):
        own = _PRECEDENCE.get(rule.sign, 3)
        left, right = _operand_text(rule.left, own), _operand_text(rule.right, own, strict=True)
        return f"{left} {rule.sign} {right}"
    return "previous"


def choice_text(rule: Rule, names: Sequence[str]) -> str:
    """Return what a rule picks, for people: the names of methods in the place of their indices.

    Examples
    --------
    >>> from semira.contract import Compare, Const, Count
    >>> choice_text(Compare(">", Count("frontier"), Const(9.0)), ("push", "pull"))
    'pull if frontier > 9, else push'
    """
    if isinstance(rule, Const):
        return names[int(rule.value)]
    if isinstance(rule, Choose):
        then = choice_text(rule.then, names)
        then = then if isinstance(rule.then, Const) else f"({then})"
        test = rule_text(_tightened(rule.test))
        return f"{then} if {test}, else {choice_text(rule.other, names)}"
    return f"{names[1]} if {rule_text(_tightened(rule))}, else {names[0]}"


def _tightened(rule: Rule) -> Rule:
    """Return a test in which two bounds of one count are one."""
    if not isinstance(rule, Compare) or rule.sign not in _DECIDED:
        return rule
    left, right = _tightened(rule.left), _tightened(rule.right)
    if isinstance(left, Compare) and isinstance(right, Compare):
        bounds = left.right, right.right
        is_same = (left.sign, left.left) == (right.sign, right.left) and left.sign in "<>"
        if is_same and isinstance(bounds[0], Const) and isinstance(bounds[1], Const):
            larger = (rule.sign == "and") == (left.sign == ">")
            pick = max if larger else min
            return Compare(left.sign, left.left, Const(pick(bounds[0].value, bounds[1].value)))
    return Compare(rule.sign, left, right)


def _operand_text(rule: Rule, outer: int, *, strict: bool = False) -> str:
    """Return `rule` in brackets where the operator outside binds as tightly or more."""
    text = rule_text(rule)
    if not isinstance(rule, Compare):
        return text
    own = _PRECEDENCE.get(rule.sign, 3)
    needs = own < outer or (own == outer and (strict or own == 3))
    return f"({text})" if needs else text
