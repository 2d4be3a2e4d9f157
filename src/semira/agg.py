"""The namespace ``semira.agg``: aggregators by name, such as ``agg.mean``."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from semira.base.nearest import did_you_mean
from semira.frontend.aggregators import Aggregator, TypedAggregator, find_aggregator
from semira.frontend.kinds import AGGREGATORS

__all__ = ["Aggregator", "TypedAggregator", "from_string", "ss"]

from_string = find_aggregator

ss = ModuleType(f"{__name__}.ss", "Aggregators by position in an object.")
vars(ss).update({name: row for name, row in AGGREGATORS.items() if row.space})
sys.modules[ss.__name__] = ss

if TYPE_CHECKING:
    # Written by `python -m tests.helpers.operator_names`: the names for type checkers.
    _aggregators: list[Aggregator] = []
    (
        L0norm, L1norm, L2norm, Linfnorm, all, any, any_value, argmax, argmin, bitwise_all,
        bitwise_any, count, count_nonzero, count_zero, exists, first, first_index, geometric_mean,
        harmonic_mean, hypot, last, last_index, logaddexp, logaddexp2, max, mean, min, peak_to_peak,
        prod, root_mean_square, stdp, stds, sum, sum_of_inverses, sum_of_squares, varp, vars,
    ) = _aggregators  # fmt: skip
else:

    def __getattr__(name: str) -> Any:
        try:
            return AGGREGATORS[name]
        except KeyError:
            hint = "" if name.startswith("_") else did_you_mean(name, AGGREGATORS)
            raise AttributeError(f"module 'semira.agg' has no aggregator {name!r}{hint}") from None


def __dir__() -> list[str]:
    return sorted({*__all__, *AGGREGATORS})
