"""The namespace ``semira.binary``: operators by name."""

from __future__ import annotations

from typing import Any

from semira.ops import registry

from_string = registry.namespace_from_string("binary")


def __getattr__(name: str) -> Any:
    return registry.namespace_attribute("binary", name)


def __dir__() -> list[str]:
    return sorted([*registry.binary, "from_string"])
