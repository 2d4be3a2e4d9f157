"""Rules evaluated, rendered to Python and rendered to CUDA."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TypeGuard

from semira.base.errors import InvalidValue
from semira.contract import Choose, Compare, Const, Count, Previous, Rule
from semira.contract.rule import COUNTS


def render_python(rule: Rule) -> str:
    """Return `rule` as a Python expression of ``count`` (a function of the name) and ``previous``.

    Examples
    --------
    >>> render_python(Compare(">", Count("frontier"), Const(3.0)))
    "(count('frontier') > 3.0)"
    """
    if isinstance(rule, Const):
        return repr(float(rule.value)) if math.isfinite(rule.value) else f"float('{rule.value}')"
    if isinstance(rule, Count):
        return f"count({rule.name!r})"
    if isinstance(rule, Choose):
        test, then, other = map(render_python, (rule.test, rule.then, rule.other))
        return f"({then} if {test} != 0 else {other})"
    if isinstance(rule, Compare):
        left, right = render_python(rule.left), render_python(rule.right)
        if rule.sign in ("and", "or"):
            return f"({left} != 0 {rule.sign} {right} != 0)"
        return f"({left} {rule.sign} {right})"
    return "previous"


def compile_rule(rule: Rule) -> Callable[[Callable[[str], float], int], float]:
    """Return a function of ``count``, which looks up a named count, and ``previous``.

    Only the counts that are needed are looked up.
    """
    function: Callable[[Callable[[str], float], int], float]
    function = eval(f"lambda count, previous: float({render_python(rule)})")  # noqa: S307
    return function


#: C text of each sign, of two double expressions.
_CUDA_SIGNS = {
    # A plain product could be contracted into a fused multiply-add, which rounds differently
    # from Python; the intrinsic never is.
    "*": "__dmul_rn({}, {})",
    "+": "({} + {})",
    "-": "({} - {})",
    "<": "(double)({} < {})",
    ">": "(double)({} > {})",
    "<=": "(double)({} <= {})",
    ">=": "(double)({} >= {})",
    "==": "(double)({} == {})",
    "and": "(double)({} != 0.0 && {} != 0.0)",
    "or": "(double)({} != 0.0 || {} != 0.0)",
}


def render_cuda_choice(rule: Rule, names: Mapping[str, str] | None = None) -> str:
    """Return `rule` as a CUDA C++ expression of type int: its value without its fraction.

    Conversions and selections of doubles that every thread would do are left out. Parameters and
    errors are those of `render_cuda`.

    Examples
    --------
    >>> few = Compare("<", Count("frontier"), Const(10))
    >>> render_cuda_choice(Choose(few, Const(0), Const(1)), {"frontier": "v2.nvals"})
    '((double)(v2.nvals) < 10.0 ? 0 : 1)'
    """
    if isinstance(rule, Choose):
        then, other = (render_cuda_choice(part, names) for part in (rule.then, rule.other))
        return f"({_cuda_test(rule.test, names)} ? {then} : {other})"
    if _is_whole(rule):
        return str(int(rule.value))
    if isinstance(rule, Compare) and rule.sign in _TESTS:
        return f"({_cuda_test(rule, names)} ? 1 : 0)"
    return f"(int)({render_cuda(rule, names)})"


#: Signs whose value is 0 or 1, in C++.
_TESTS = {**{sign: sign for sign in ("<", ">", "<=", ">=", "==")}, "and": "&&", "or": "||"}


def _cuda_test(rule: Rule, names: Mapping[str, str] | None) -> str:
    """Return whether `rule` is not 0, as an operand of ``?:`` or in brackets."""
    if isinstance(rule, Compare) and rule.sign in _TESTS:
        sides = (rule.left, rule.right)
        if rule.sign in ("and", "or"):
            texts = [f"({_cuda_test(side, names)})" for side in sides]
        elif rule.sign == "==" and isinstance(rule.left, Previous) and _is_whole(rule.right):
            texts = [(names or {}).get("previous", "previous"), str(int(rule.right.value))]
        else:
            texts = [render_cuda(side, names) for side in sides]
        return f" {_TESTS[rule.sign]} ".join(texts)
    return f"{render_cuda(rule, names)} != 0.0"


def _is_whole(rule: Rule) -> TypeGuard[Const]:
    return isinstance(rule, Const) and float(rule.value).is_integer() and abs(rule.value) < 2**31


def render_cuda(rule: Rule, names: Mapping[str, str] | None = None) -> str:
    """Return `rule` as a CUDA C++ expression of type double.

    Raises InvalidValue if the rule names an unknown count or sign, or holds a constant that is not
    finite.

    Parameters
    ----------
    rule : Rule
    names : mapping of str to str, optional
        C expression for a count, or for ``previous``; by default a variable of that name.
        Any arithmetic type will do: each is cast to double.

    Returns
    -------
    str
        Needs no further brackets as an operand. Its value equals that of `evaluate` bit for
        bit; ``&&``, ``||`` and ``?:`` leave unneeded counts unread, as there. Products are the
        device intrinsic ``__dmul_rn``: the text is for device code.

    Examples
    --------
    >>> render_cuda(Compare(">", Count("frontier"), Compare("*", Const(0.1), Count("n"))))
    '(double)((double)(frontier) > __dmul_rn(0.1, (double)(n)))'
    """
    given = names or {}
    if isinstance(rule, Const):
        if not math.isfinite(rule.value):
            raise InvalidValue(f"a rule holds the constant {rule.value}; constants are finite")
        text = repr(float(rule.value))
        return f"({text})" if text.startswith("-") else text
    if isinstance(rule, Count):
        if rule.name not in COUNTS:
            raise InvalidValue(f"{rule.name!r} is not a count; choose one of {', '.join(COUNTS)}")
        return f"(double)({given.get(rule.name, rule.name)})"
    if isinstance(rule, Choose):
        parts = (render_cuda(part, names) for part in (rule.test, rule.then, rule.other))
        return "({} != 0.0 ? {} : {})".format(*parts)
    if isinstance(rule, Compare):
        if rule.sign not in _CUDA_SIGNS:
            signs = ", ".join(_CUDA_SIGNS)
            raise InvalidValue(f"{rule.sign!r} is not a sign of rules; choose one of {signs}")
        sides = render_cuda(rule.left, names), render_cuda(rule.right, names)
        return _CUDA_SIGNS[rule.sign].format(*sides)
    return f"(double)({given.get('previous', 'previous')})"
