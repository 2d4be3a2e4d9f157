"""Written by ``python -m tests.helpers.operator_names``."""

# fmt: off
from semira._semirings import *  # noqa: F403 - hundreds of names
from semira.frontend.composed_operators import anonymous_semiring
from semira.frontend.composed_operators import get_semiring as get_semiring
from semira.frontend.composed_operators import register_semiring
from semira.frontend.namespaces import SubNamespace
from typing import Any

def from_string(text: str) -> Any: ...
numpy: SubNamespace
register_anonymous = anonymous_semiring
register_new = register_semiring
ss: SubNamespace
