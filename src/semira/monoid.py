"""The namespace ``semira.monoid``: operators by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semira.frontend.composed_operators import anonymous_monoid, register_monoid
from semira.frontend.namespaces import install
from semira.ops.registry import namespace_from_string

if TYPE_CHECKING:
    from semira.frontend.namespaces import SubNamespace
    from semira.ops import Monoid

from_string = namespace_from_string("monoid")
register_new, register_anonymous = register_monoid, anonymous_monoid

if TYPE_CHECKING:
    # Written by `python -m tests.helpers.operator_names`: the names for type checkers.
    numpy: SubNamespace
    ss: SubNamespace
    _monoids: list[Monoid] = []
    (
        any, band, bor, bxnor, bxor, eq, land, lor, lxnor, lxor, max, min, plus, times,
    ) = _monoids  # fmt: skip
else:
    __getattr__, __dir__ = install(__name__, "Monoid")
