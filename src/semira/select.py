"""The namespace ``semira.select``: operators by name, and comparisons that select.

Their names for type checkers are in ``select.pyi``.
"""

from __future__ import annotations

from semira.frontend.namespaces import install
from semira.frontend.selectors import column, index, row, value
from semira.frontend.user_operators import function_registrars
from semira.ops.registry import namespace_from_string

__all__ = [
    "column", "from_string", "index", "register_anonymous", "register_new", "row", "value",
]  # fmt: skip

from_string = namespace_from_string("select")
register_new, register_anonymous = function_registrars("SelectOp")

__getattr__, __dir__ = install(__name__, "SelectOp")
