"""The namespace ``semira.semiring``: operators by name.

Their names for type checkers are in ``semiring.pyi``.
"""

from __future__ import annotations

from semira.frontend.composed_operators import anonymous_semiring, get_semiring, register_semiring
from semira.frontend.namespaces import install
from semira.ops.registry import namespace_from_string

__all__ = ["from_string", "get_semiring", "register_anonymous", "register_new"]

from_string = namespace_from_string("semiring")
register_new, register_anonymous = register_semiring, anonymous_semiring

__getattr__, __dir__ = install(__name__, "Semiring")
