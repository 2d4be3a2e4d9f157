"""The namespace ``semira.indexbinary``: operators on two entries and their positions.

Their names for type checkers are in ``indexbinary.pyi``.
"""

from __future__ import annotations

from semira.frontend.index_binary_operators import register_anonymous, register_new
from semira.frontend.namespaces import install
from semira.ops.registry import namespace_from_string

__all__ = ["from_string", "register_anonymous", "register_new"]

from_string = namespace_from_string("indexbinary")

__getattr__, __dir__ = install(__name__, "IndexBinaryOp")
