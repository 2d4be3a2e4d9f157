"""Written by ``python -m tests.helpers.operator_names``."""

# fmt: off
from semira.frontend.composed_operators import anonymous_monoid
from semira.frontend.composed_operators import register_monoid
from semira.frontend.namespaces import SubNamespace
from semira.ops.core import Monoid
from typing import Any

def from_string(text: str) -> Any: ...
numpy: SubNamespace
register_anonymous = anonymous_monoid
register_new = register_monoid
ss: SubNamespace

_monoids: list[Monoid]
(
    any, band, bor, bxnor, bxor, eq, land, lor, lxnor, lxor, max, min, plus, times,
) = _monoids
