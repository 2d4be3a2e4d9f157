"""Written by ``python -m tests.helpers.operator_names``."""

# fmt: off
from semira.frontend.aggregators import Aggregator as Aggregator
from semira.frontend.aggregators import TypedAggregator as TypedAggregator
from semira.frontend.aggregators import find_aggregator
from types import ModuleType
from typing import Any

from_string = find_aggregator
ss: ModuleType

_aggregators: list[Aggregator]
(
    L0norm, L1norm, L2norm, Linfnorm, all, any, any_value, argmax, argmin, bitwise_all,
    bitwise_any, count, count_nonzero, count_zero, exists, first, first_index, geometric_mean,
    harmonic_mean, hypot, last, last_index, logaddexp, logaddexp2, max, mean, min, peak_to_peak,
    prod, root_mean_square, stdp, stds, sum, sum_of_inverses, sum_of_squares, varp, vars,
) = _aggregators
