"""Written by ``python -m tests.helpers.operator_names``."""

# fmt: off
from semira.frontend.index_binary_operators import register_anonymous as register_anonymous
from semira.frontend.index_binary_operators import register_new as register_new
from semira.frontend.namespaces import SubNamespace
from typing import Any

def from_string(text: str) -> Any: ...
numpy: SubNamespace
ss: SubNamespace
