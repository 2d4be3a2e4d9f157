"""The namespace ``semira.op``: every operator, whatever its class."""

from __future__ import annotations

from typing import Any

from semira.ops import registry

_ORDER = ("unary", "binary", "monoid", "semiring", "indexunary", "select")


def __getattr__(name: str) -> Any:
    for namespace in _ORDER:
        try:
            return registry.namespace_attribute(namespace, name)
        except AttributeError:
            continue
    raise AttributeError(f"module 'semira.op' has no operator {name!r}")


def __dir__() -> list[str]:
    return sorted({name for namespace in _ORDER for name in getattr(registry, namespace)})
