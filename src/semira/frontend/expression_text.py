"""Expressions as they are written: ``A.mxm(B, op=semiring.plus_times[INT64])``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from semira.frontend.expr import Expression

#: How the name of an object is shown.
Markup = Callable[[str], str]

_SIGNS = {"add": "|", "mult": "&", "matmul": "@"}
_INFIX_CLASSES = {"add": "EwiseAddExpr", "mult": "EwiseMultExpr", "matmul": "MatMulExpr"}
_INFIX_METHODS = {"add": "ewise_add", "mult": "ewise_mult"}
_INFIX_EXAMPLES = {"add": "plus", "mult": "times", "matmul": "plus_times"}

#: Positions of a list that are shown, and the length up to which all are.
_SHOWN, _ALL_SHOWN = 3, 5

#: What stands for an operand that has no text.
UNKNOWN = "..."


def is_indexed(item: Expression) -> bool:
    """Whether it is ``x[...]``, which can be read and written."""
    return getattr(item, "_target", None) is not None


def class_name(item: Expression) -> str:
    """Return the kind of an expression, such as ``VectorEwiseAddExpr``."""
    kind = item.kind.capitalize()
    if is_indexed(item):
        return f"{kind}IndexExpr"
    infix = item._template.infix
    return f"{kind}{'Expression' if infix is None else _INFIX_CLASSES[infix]}"


def infix_method(item: Expression) -> tuple[str, str]:
    """Return the method that an infix expression stands for, and an operator for it."""
    template = item._template
    assert template.infix is not None
    own = "inner" if template.op == "reduce" else template.op
    return _INFIX_METHODS.get(template.infix, own), _INFIX_EXAMPLES[template.infix]


def infix_sides(item: Expression) -> tuple[Any, Any]:
    """Return the two operands of an infix expression."""
    template = item._template
    if template.op == "reduce":
        template = template.args[0].source._template
    return template.args[0], template.args[1]


def expression_text(item: Expression, markup: Markup) -> str:
    """Return an expression as a call of a method, an index or an infix expression."""
    template = item._template
    source = getattr(template.args[0], "source", None) if template.args else None
    if template.infix is not None:
        left, right = (argument_text(side, markup) for side in infix_sides(item))
        return f"{left} {_SIGNS[template.infix]} {right}"
    if template.op == "copy" and isinstance(source, Expression):
        return expression_text(source, markup)
    return _WRITTEN.get(template.op, _method)(item, markup)


def argument_text(argument: Any, markup: Markup) -> str:
    """Return an operand: its name, its text if it is an expression, its value if a number."""
    argument = getattr(argument, "source", None) or argument
    if isinstance(argument, Expression):
        return expression_text(argument, markup)
    if getattr(argument, "_is_transposed", False):
        return f"{markup(argument._matrix.name)}.T"
    name = getattr(argument, "name", None)
    if name:
        return markup(str(name))
    value = getattr(argument, "value", argument)
    return str(value) if isinstance(value, (int, float, complex, np.generic)) else UNKNOWN


def _method(item: Expression, markup: Markup) -> str:
    template = item._template
    operator = template.operator
    if template.op == "ewise_add":
        # The union is meant for a monoid: its name says more.
        operator = getattr(operator, "monoid", None) or operator
    return _call(template.op, template.args, operator, markup)


def _call(method: str, args: tuple[Any, ...], operator: Any, markup: Markup) -> str:
    texts = [argument_text(argument, markup) for argument in args]
    if operator is not None:
        texts.append(f"op={operator!r}")
    return f"{texts[0] if texts else UNKNOWN}.{method}({', '.join(texts[1:])})"


def _copy(item: Expression, markup: Markup) -> str:
    (source,) = item._template.args
    call = getattr(source, "call", None)
    if call is not None:
        method, args, operator = call
        return _call(method, args, operator, markup)
    text = argument_text(source, markup)
    return text if text == UNKNOWN else f"{text}.dup()"


def _apply(item: Expression, markup: Markup) -> str:
    template = item._template
    texts = [argument_text(argument, markup) for argument in template.args]
    side = dict(template.params).get("side", "right")
    if side == "left":
        texts.reverse()
    bound = "".join(f", {side}={text}" for text in texts[1:])
    return f"{texts[0]}.apply({template.operator!r}{bound})"


def _select(item: Expression, markup: Markup) -> str:
    template = item._template
    x, thunk = (argument_text(argument, markup) for argument in template.args)
    return f"{x}.select({template.operator!r}, thunk={thunk})"


def _reduce(item: Expression, markup: Markup) -> str:
    template = item._template
    (x,) = template.args
    met = getattr(x, "source", None)
    if isinstance(met, Expression):
        left, right = (argument_text(one, markup) for one in met._template.args)
        monoid, times = template.operator, met._template.operator
        return f"{left}.inner({right}, op=semiring.{monoid.name}_{times.name}[{times.type}])"
    method = "reduce_scalar" if x.kind == "matrix" else "reduce"
    return f"{argument_text(x, markup)}.{method}({template.operator!r})"


def _reduce_rows(item: Expression, markup: Markup) -> str:
    (matrix,) = item._template.args
    method = "reduce_rowwise"
    if matrix._is_transposed:
        matrix, method = matrix._matrix, "reduce_columnwise"
    return f"{argument_text(matrix, markup)}.{method}({item._template.operator!r})"


def _mode_rows(item: Expression, markup: Markup) -> str:
    matrix, keys, *others = (argument_text(one, markup) for one in item._template.args)
    names = [name for name, _ in item._template.params]
    words = {"prefers": "prefer", "draws": "seed"}
    values = [*others, "True"] if "counts" in names else others
    pairs = zip(names, values, strict=True)
    given = [keys, *(f"{words.get(name, 'count')}={text}" for name, text in pairs)]
    return f"{matrix}.mode_rowwise({', '.join(given)})"


def _extract(item: Expression, markup: Markup) -> str:
    template = item._template
    (x,) = template.args
    parts = (_region(one, size) for one, size in zip(template.regions, x.shape, strict=True))
    return f"{argument_text(x, markup)}[{', '.join(parts)}]"


def _region(region: Any, size: int) -> str:
    if region.kind == "all":
        return ":"
    if region.kind == "range":
        start, stop, step = region.numbers
        first, past = (0, size) if step > 0 else (size - 1, -1)
        parts = ["" if start == first else str(start), "" if stop == past else str(stop)]
        return ":".join([*parts, str(step)] if step != 1 else parts)
    if region.kind == "one":
        return str(int(region.numbers[0]))
    positions = [str(int(each)) for each in region.numbers[: _ALL_SHOWN + 1]]
    if len(positions) > _ALL_SHOWN:
        positions = [*positions[:_SHOWN], UNKNOWN]
    return f"[{', '.join(positions)}]"


_WRITTEN: dict[str, Callable[[Expression, Markup], str]] = {
    "apply": _apply,
    "copy": _copy,
    "select": _select,
    "reduce": _reduce,
    "reduce_rows": _reduce_rows,
    "mode_rows": _mode_rows,
    "extract": _extract,
}
