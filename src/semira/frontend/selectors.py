"""Selecting by a comparison: ``select.value(A > 3)``, ``select.row(A <= 5)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from semira.engine.calls import Literal
from semira.frontend.expr import Expression
from semira.ops.registry import select

#: For positions, "< t" is "<= t - 1" and ">= t" is "> t - 1".
_ONE_LESS = {"lt": "le", "ge": "gt"}


def comparison_selector(name: str, prefix: str) -> Callable[[Any], Any]:
    """Return the function ``select.<name>``: it takes a comparison with a scalar.

    The name is what the scalar is compared with: "value", "row", "column" or "index". Names of the
    select operators begin with `prefix`.
    """

    def select_where(expr: Any) -> Any:
        """Return the entries for which a comparison with a scalar holds.

        Parameters
        ----------
        expr : expression such as ``A > 3``

        Raises
        ------
        TypeError
            It is no comparison of an object with a scalar.
        ValueError
            Positions cannot be selected by this comparison.

        Examples
        --------
        >>> from semira import Vector
        >>> v = Vector.from_coo([0, 1, 4], [5, 1, 7])
        >>> comparison_selector("value", "value")(v > 4).new().to_dict()
        {0: 5, 4: 7}
        """
        x, compared, thunk = _parts(expr, name)
        if name != "value" and compared in _ONE_LESS:
            compared, thunk = _ONE_LESS[compared], thunk - 1
        method = f"{prefix}{compared}"
        if method not in select:
            raise ValueError(f"Unknown or unregistered select method: {method}")
        return x.select(select[method], thunk)

    select_where.__name__ = name
    return select_where


def _parts(expr: Any, name: str) -> tuple[Any, str, Any]:
    """Return the object, the name of the comparison and the scalar of ``x < t``."""
    template = expr._template if isinstance(expr, Expression) else None
    if (
        template is None
        or template.op != "apply"
        or ("side", "right") not in template.params
        or template.operator.parent.name not in ("eq", "ne", "lt", "le", "gt", "ge")
    ):
        raise TypeError(
            f"select.{name} takes a comparison with a scalar, such as select.{name}(A > 3); "
            f"got {type(expr).__name__}"
        )
    x, thunk = template.args
    bound = thunk.value if isinstance(thunk, Literal) else thunk
    return x, template.operator.parent.name, bound


value = comparison_selector("value", "value")
row = comparison_selector("row", "row")
column = comparison_selector("column", "col")
index = comparison_selector("index", "index")
