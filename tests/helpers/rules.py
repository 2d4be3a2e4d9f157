"""What a rule means, apart from how backends render and compile it."""

from __future__ import annotations

from collections.abc import Callable

from semira.contract import Choose, Compare, Const, Count, Rule

_SIGNS: dict[str, Callable[[float, float], float]] = {
    "*": lambda a, b: a * b,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "<": lambda a, b: float(a < b),
    ">": lambda a, b: float(a > b),
    "<=": lambda a, b: float(a <= b),
    ">=": lambda a, b: float(a >= b),
    "==": lambda a, b: float(a == b),
    "and": lambda a, b: float(a != 0 and b != 0),
    "or": lambda a, b: float(a != 0 or b != 0),
}


def evaluate(rule: Rule, count: Callable[[str], float], previous: int) -> float:
    """Return the value of `rule`; `count` looks a named count up, and only those needed."""
    if isinstance(rule, Const):
        return rule.value
    if isinstance(rule, Count):
        return float(count(rule.name))
    if isinstance(rule, Choose):
        taken = rule.then if evaluate(rule.test, count, previous) else rule.other
        return evaluate(taken, count, previous)
    if isinstance(rule, Compare):
        left = evaluate(rule.left, count, previous)
        if rule.sign == "and" and left == 0:
            return 0.0
        if rule.sign == "or" and left != 0:
            return 1.0
        return _SIGNS[rule.sign](left, evaluate(rule.right, count, previous))
    return float(previous)
