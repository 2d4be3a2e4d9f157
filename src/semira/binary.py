"""The namespace ``semira.binary``: operators by name.

Their names for type checkers are in ``binary.pyi``.
"""

from __future__ import annotations

from semira.frontend.namespaces import install
from semira.frontend.user_operators import function_registrars
from semira.ops.registry import namespace_from_string

from_string = namespace_from_string("binary")
register_new, register_anonymous = function_registrars("BinaryOp")

__getattr__, __dir__ = install(__name__, "BinaryOp")
