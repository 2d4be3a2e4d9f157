"""``explain``: which plan an expression would get, what each alternative would read, and why."""

from __future__ import annotations

from typing import Any

from semira.base.errors import InvalidValue
from semira.engine.explain import explain_call
from semira.engine.lean import lean_hints
from semira.engine.values import Value
from semira.frontend.expr import Expression, require_operator
from semira.frontend.hints import parse_hints
from semira.frontend.mask import as_mask


def explain(expression: Any, *, mask: Any = None, **opts: Any) -> Any:
    """Return the plan of an expression, the entries each alternative touches, and the reasons.

    Parameters
    ----------
    expression : Matrix-, Vector- or ScalarExpression
        Nothing is computed.
    mask : Mask or BOOL object, optional
        The mask it would be written through.
    **opts
        Options of the call (``direction="pull"``, ``policy="beamer"``, ...).

    Returns
    -------
    Explanation
        ``str()`` is the text; fields hold the figures.

    Raises
    ------
    PlanError
        A pinned choice cannot be met.

    Examples
    --------
    >>> import semira as gb
    >>> A = gb.io.read("grid:9x9")
    >>> f = gb.Vector.from_coo([0], True, size=A.nrows)
    >>> gb.explain(f.vxm(A, "any_pair")).chosen.name
    'push'
    """
    if not isinstance(expression, Expression):
        raise InvalidValue(f"explain takes an expression, got {type(expression).__name__}")
    template = expression._template
    require_operator(template)
    checked = None if mask is None else as_mask(mask)
    out = Value(template.kind, template.dtype, template.shape)
    args = tuple(
        arg._operand() if hasattr(arg, "_operand") else (arg, False) for arg in template.args
    )
    hints = lean_hints(template.op, args, parse_hints(opts))
    return explain_call(template, out, args, None if checked is None else checked.triple, hints)
