"""Written by ``python -m tests.helpers.operator_names``."""

# fmt: off
from semira.frontend.namespaces import SubNamespace
from typing import Any

def from_string(text: str) -> Any: ...
numpy: SubNamespace
def register_anonymous(func: Any, name: str | None = None, *, parameterized: bool = False, is_udt: bool = False) -> Any: ...
def register_new(name: str, func: Any, *, parameterized: bool = False, is_udt: bool = False, lazy: bool = False) -> Any: ...
ss: SubNamespace
