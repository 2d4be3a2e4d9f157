"""The namespace ``semira.unary``: operators by name."""

from __future__ import annotations

from typing import Any

from semira.ops import registry

from_string = registry.namespace_from_string("unary")


def __getattr__(name: str) -> Any:
    return registry.namespace_attribute("unary", name)


def __dir__() -> list[str]:
    return sorted([*registry.unary, "from_string"])
