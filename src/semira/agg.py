"""The namespace ``semira.agg``: aggregators by name, such as ``agg.mean``.

Their names for type checkers are in ``agg.pyi``.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from semira.base.text import did_you_mean
from semira.frontend.aggregators import Aggregator, TypedAggregator, find_aggregator
from semira.frontend.kinds import AGGREGATORS

__all__ = ["Aggregator", "TypedAggregator", "from_string", "ss"]

from_string = find_aggregator

ss = ModuleType(f"{__name__}.ss", "Aggregators by position in an object.")
vars(ss).update({name: row for name, row in AGGREGATORS.items() if row.space})
sys.modules[ss.__name__] = ss


def __getattr__(name: str) -> Any:
    try:
        return AGGREGATORS[name]
    except KeyError:
        hint = "" if name.startswith("_") else did_you_mean(name, AGGREGATORS)
        raise AttributeError(f"module 'semira.agg' has no aggregator {name!r}{hint}") from None


def __dir__() -> list[str]:
    return sorted({*__all__, *AGGREGATORS})
