"""The namespace ``semira.indexunary``: operators by name.

Their names for type checkers are in ``indexunary.pyi``.
"""

from __future__ import annotations

from semira.frontend.namespaces import install
from semira.frontend.user_operators import function_registrars
from semira.ops.registry import namespace_from_string

from_string = namespace_from_string("indexunary")
register_new, register_anonymous = function_registrars("IndexUnaryOp")

__getattr__, __dir__ = install(__name__, "IndexUnaryOp")
