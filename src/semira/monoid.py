"""The namespace ``semira.monoid``: operators by name.

Their names for type checkers are in ``monoid.pyi``.
"""

from __future__ import annotations

from semira.frontend.composed_operators import anonymous_monoid, register_monoid
from semira.frontend.namespaces import install
from semira.ops.registry import namespace_from_string

from_string = namespace_from_string("monoid")
register_new, register_anonymous = register_monoid, anonymous_monoid

__getattr__, __dir__ = install(__name__, "Monoid")
