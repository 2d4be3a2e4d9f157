"""Checks of the generators' parameters; every message names the value and the limits."""

from __future__ import annotations

import math
import operator

from semira.base.errors import InvalidValue
from semira.formats.index import MAX_SIZE


def check_count(name: str, value: int, low: int = 0, high: int = MAX_SIZE) -> int:
    """Return `value` as a Python integer in [low, high].

    Raises InvalidValue if it is no integer, or outside the limits.
    """
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidValue(f"{name}={value!r} must be an integer") from None
    if not low <= number <= high:
        raise InvalidValue(f"{name}={number} must lie in [{low}, {high}]")
    return number


def check_seed(seed: int) -> int:
    """Return `seed` as a Python integer in [0, 2**64).

    Raises InvalidValue if it is no integer, or outside the limits.
    """
    return check_count("seed", seed, 0, 2**64 - 1)


def check_real(name: str, value: float, low: float = 0.0, high: float = math.inf) -> float:
    """Return `value` as a finite float in [low, high].

    Raises InvalidValue if it is no number, not finite, or outside the limits.
    """
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InvalidValue(f"{name}={value!r} must be a number") from None
    if not (math.isfinite(number) and low <= number <= high):
        raise InvalidValue(f"{name}={number} must be finite and lie in [{low}, {high}]")
    return number


def check_weights(weights: str | None, *known: str) -> None:
    """Check that `weights` is None or one of `known`; raises InvalidValue if it is neither."""
    if weights is not None and weights not in known:
        names = ", ".join(repr(name) for name in known)
        raise InvalidValue(f"weights={weights!r} is unknown; use None or one of {names}")
