"""Checks of GraphSAGE: features, weights, samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from semira.apps.arrays import as_given
from semira.apps.sampling.problem import check_int
from semira.exceptions import DimensionMismatch, InvalidValue

#: What `pool` and `join` call the aggregators.
MODES = {"max": 0, "mean": 1, "sum": 2}

Aggregator = str | Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Network:
    """Features and weights on the device, float32."""

    #: Array of float32 or float16, shape (n, F).
    X: Any
    Wf1: Any
    Wa1: Any
    Wf2: Any
    Wa2: Any
    aggregator: Aggregator

    @property
    def hidden(self) -> int:
        """Columns between the layers."""
        return int(self.Wf1.shape[1] + self.Wa1.shape[1])

    @property
    def is_narrow(self) -> bool:
        """Whether rows of X Wa1 are shorter than those of X."""
        return int(4 * self.Wa1.shape[1]) < int(self.X.dtype.itemsize * self.X.shape[1])

    @property
    def width(self) -> int:
        """Columns of an embedding."""
        return int(self.Wf2.shape[1] + self.Wa2.shape[1])


def network_of(
    n: int,
    features: Any,
    weights: dict[str, Any],
    feature_columns: int,
    dims: int,
    aggregator: Aggregator,
    seed: int,
    xp: Any,
) -> Network:
    """Return features and weights; those that are missing are random, a function of the seed.

    Raises InvalidValue if numbers are not finite or not real, and DimensionMismatch if shapes do
    not fit.
    """
    if not callable(aggregator) and aggregator not in MODES:
        raise InvalidValue(
            f"aggregator={aggregator!r} must be one of {', '.join(MODES)}, or a function"
        )
    rng = np.random.default_rng(seed)
    if features is None:
        columns = check_int(feature_columns, "feature_columns", 1)
        features = rng.random((n, columns), np.float32)
    keeps_half = getattr(features, "dtype", None) == np.float16
    X = _table(features, "features", xp, xp.float16 if keeps_half else xp.float32)
    if len(X) != n:
        raise DimensionMismatch(f"features has {len(X)} rows for {n} vertices")
    columns = check_int(dims, "dims", 1)
    made: dict[str, Any] = {}
    rows = X.shape[1]
    for layer in "12":
        for name in (f"Wf{layer}", f"Wa{layer}"):
            given = weights[name]
            if given is None:
                # As Glorot and Bengio draw them.
                bound = np.sqrt(6 / (rows + columns))
                given = rng.uniform(-bound, bound, (rows, columns)).astype(np.float32)
            made[name] = _table(given, name, xp)
            if made[name].shape[0] != rows and not (callable(aggregator) and name[1] == "a"):
                raise DimensionMismatch(
                    f"{name} has {made[name].shape[0]} rows; it multiplies {rows} columns"
                )
        rows = made[f"Wf{layer}"].shape[1] + made[f"Wa{layer}"].shape[1]
    return Network(X, **made, aggregator=aggregator)


def _table(given: Any, name: str, xp: Any, dtype: Any = np.float32) -> Any:
    array = as_given(given, name)
    if array.dtype.kind not in "iufb" or array.ndim != 2:
        raise InvalidValue(
            f"{name} must be a table of real numbers, got dtype {array.dtype}, shape {array.shape}"
        )
    array = xp.ascontiguousarray(xp.asarray(array, dtype))
    # A sum is finite only if all of it is, or it overflows, which squares would too.
    if array.size and not bool(xp.isfinite(array.sum(dtype=xp.float64))):
        raise InvalidValue(f"{name} must have finite numbers that float32 holds")
    return array


def samples_of(samples: Any, n: int, xp: Any) -> tuple[Any, Any] | None:
    """Return sample lists given by the caller: children (n, C) and leaves (n, C, L).

    Raises InvalidValue if they are no vertices, and DimensionMismatch if they are of other shapes.
    """
    if samples is None:
        return None
    children, leaves = (np.asarray(part) for part in samples)
    shape = children.shape
    if children.ndim != 2 or shape[0] != n or leaves.ndim != 3 or leaves.shape[:2] != shape:
        raise DimensionMismatch(
            f"samples must have shapes ({n}, C) and ({n}, C, L), got {shape} and {leaves.shape}"
        )
    for part in (children, leaves):
        if part.dtype.kind not in "iu" or (part.size == 0 and n > 0):
            raise InvalidValue("samples must be vertex numbers, at least one for each vertex")
        if part.size and (part.min() < 0 or part.max() >= n):
            raise InvalidValue(f"samples must be vertices from 0 to {n - 1}")
    dtype = xp.int32 if n < 2**31 else xp.int64
    return xp.asarray(children, dtype), xp.asarray(leaves, dtype)
