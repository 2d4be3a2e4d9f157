"""Pairwise covers: few rows in which every two values of different axes meet."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

Row = dict[str, Any]

#: Fillings tried per row; the one that covers most pairs is kept.
_CANDIDATES = 12
#: Rows without a new pair before a pair counts as impossible.
_PATIENCE = 6


def pairwise(
    axes: Mapping[str, Sequence[Any]],
    seed: int,
    allowed: Callable[[Row], bool] = lambda row: True,
) -> list[Row]:
    """Return rows that show every allowed pair of values of two axes.

    Greedy: each row starts from a pair nobody has shown yet; the other axes, in random order,
    take the value that shows most further pairs (Cohen, Dalal, Fredman, Patton, "The AETG
    system", IEEE TSE 23(7), 1997, section 3).

    Parameters
    ----------
    axes : mapping of name to hashable values
    seed : int
        The same seed gives the same rows.
    allowed : callable
        Whether a (possibly partial) row may be run; it must not forbid what it allowed in part,
        except through axes that are still open.

    Notes
    -----
    A pair for which no allowed row was found after several tries is left out.

    Examples
    --------
    >>> rows = pairwise({"x": (0, 1), "y": "ab", "z": (True, False)}, seed=1)
    >>> len(rows) < 8, {(row["x"], row["y"]) for row in rows} == {*itertools.product((0, 1), "ab")}
    (True, True)
    """
    rng = np.random.default_rng(seed)
    names = list(axes)
    open_pairs = {
        _pair(first, a, second, b): 0
        for first, second in itertools.combinations(names, 2)
        for a in axes[first]
        for b in axes[second]
    }
    rows: list[Row] = []
    while open_pairs:
        start = list(open_pairs)[int(rng.integers(len(open_pairs)))]
        best = max(
            (_filled(axes, start, open_pairs, rng, allowed) for _ in range(_CANDIDATES)),
            key=lambda found: found[1],
        )
        if best[0] is None:
            open_pairs[start] += 1
            if open_pairs[start] >= _PATIENCE:
                del open_pairs[start]
            continue
        rows.append(best[0])
        for pair in _pairs(best[0]):
            open_pairs.pop(pair, None)
    return rows


def _pair(first: str, a: Any, second: str, b: Any) -> tuple[tuple[str, Any], tuple[str, Any]]:
    low, high = sorted(((first, a), (second, b)), key=lambda item: item[0])
    return low, high


def _pairs(row: Row) -> list[Any]:
    return [_pair(*one, *two) for one, two in itertools.combinations(row.items(), 2)]


def _filled(
    axes: Mapping[str, Sequence[Any]],
    start: Any,
    open_pairs: Mapping[Any, int],
    rng: np.random.Generator,
    allowed: Callable[[Row], bool],
) -> tuple[Row | None, int]:
    """Return a row that shows the pair `start`, and how many new pairs it shows; None if stuck."""
    row = dict(start)
    if not allowed(row):
        return None, -1
    gained = 1
    for name in rng.permutation([name for name in axes if name not in row]):
        choices = []
        for at in rng.permutation(len(axes[name])):
            value = axes[name][at]
            if allowed({**row, name: value}):
                new = sum(_pair(name, value, *item) in open_pairs for item in row.items())
                choices.append((new, value))
        if not choices:
            return None, -1
        new, value = max(choices, key=lambda choice: choice[0])
        row[str(name)] = value
        gained += new
    return row, gained
