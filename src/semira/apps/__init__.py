"""Applications on graphs, a folder each: communities, walks, embeddings, locations.

A folder has kernels of its own if it needs them. ``registry`` has its functions, which are names of
this package, and its rows; a folder is loaded when one of its names is first used.
"""

from __future__ import annotations

import importlib
from typing import Any

from semira.apps.registry import functions, rows
from semira.base.text import did_you_mean

__all__ = ["functions", "rows"]


def __getattr__(name: str) -> Any:
    homes = functions()
    if name in homes:
        found = globals()[name] = getattr(importlib.import_module(homes[name]), name)
        return found
    hint = "" if name.startswith("_") else did_you_mean(name, homes)
    if name in importlib.import_module("semira.algorithms").__all__:
        hint = f"; there is semira.algorithms.{name}"
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")


def __dir__() -> list[str]:
    return sorted({*globals(), *functions()})
