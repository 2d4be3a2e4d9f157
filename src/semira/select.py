"""The namespace ``semira.select``: operators by name, and comparisons that select."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semira.frontend.namespaces import install
from semira.frontend.selectors import column, index, row, value
from semira.frontend.user_operators import function_registrars
from semira.ops.registry import namespace_from_string

if TYPE_CHECKING:
    from semira.frontend.namespaces import SubNamespace
    from semira.ops.core import SelectOp

__all__ = [
    "column", "from_string", "index", "register_anonymous", "register_new", "row", "value",
]  # fmt: skip

from_string = namespace_from_string("select")
register_new, register_anonymous = function_registrars("SelectOp")

if TYPE_CHECKING:
    # Written by `python -m tests.helpers.operator_names`: the names for type checkers.
    numpy: SubNamespace
    ss: SubNamespace
    _selectops: list[SelectOp] = []
    (
        colgt, colle, diag, indexgt, indexle, offdiag, rowgt, rowle, tril, triu, valueeq, valuege,
        valuegt, valuele, valuelt, valuene,
    ) = _selectops  # fmt: skip
else:
    __getattr__, __dir__ = install(__name__, "SelectOp")
