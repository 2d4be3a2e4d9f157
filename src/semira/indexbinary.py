"""The namespace ``semira.indexbinary``: operators on two entries and their positions.

Their names for type checkers are in ``indexbinary.pyi``.
"""

from __future__ import annotations

from semira.frontend.namespaces import install
from semira.frontend.user_operators import function_registrars
from semira.ops.registry import namespace_from_string

from_string = namespace_from_string("indexbinary")
register_new, register_anonymous = function_registrars("IndexBinaryOp")

__getattr__, __dir__ = install(__name__, "IndexBinaryOp")
