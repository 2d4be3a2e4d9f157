"""Pairwise covers: few rows in which every two values of different axes meet."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

Row = dict[str, Any]
#: An axis and one of its values.
Item = tuple[str, Any]
Pair = tuple[Item, Item]
#: A number for each item: its bit in sets of them.
Numbers = dict[Item, int]

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
        except through axes that are still open, nor allow what it forbade in part.

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
    # Sets of items are bits of integers: hundreds of thousands are met.
    items = {(name, value): None for name in names for value in axes[name]}
    numbers: Numbers = {item: number for number, item in enumerate(items)}
    partners = [0] * len(numbers)
    possible = {pair: allowed(dict(pair)) for pair in open_pairs}
    # What cannot be shown attracts no row.
    for one, two in filter(possible.get, open_pairs):
        partners[numbers[one]] |= 1 << numbers[two]
        partners[numbers[two]] |= 1 << numbers[one]
    known = numbers, tuple(partners), partners
    rows: list[Row] = []
    while open_pairs:
        start = list(open_pairs)[int(rng.integers(len(open_pairs)))]
        tries = _CANDIDATES if possible[start] else 0
        best = max(
            (_filled(axes, start, known, rng, allowed) for _ in range(tries)),
            key=lambda found: found[1],
            default=(None, -1),
        )
        if best[0] is None:
            open_pairs[start] += 1
            if open_pairs[start] >= _PATIENCE:
                _close(start, open_pairs, numbers, partners)
            continue
        rows.append(best[0])
        for one, two in itertools.combinations(best[0].items(), 2):
            _close(_pair(*one, *two), open_pairs, numbers, partners)
    return rows


def _pair(first: str, a: Any, second: str, b: Any) -> Pair:
    one, two = (first, a), (second, b)
    return (one, two) if first <= second else (two, one)


def _close(pair: Pair, open_pairs: dict[Pair, int], numbers: Numbers, partners: list[int]) -> None:
    open_pairs.pop(pair, None)
    one, two = numbers[pair[0]], numbers[pair[1]]
    partners[one] &= ~(1 << two)
    partners[two] &= ~(1 << one)


def _filled(
    axes: Mapping[str, Sequence[Any]],
    start: Pair,
    known: tuple[Numbers, tuple[int, ...], list[int]],
    rng: np.random.Generator,
    allowed: Callable[[Row], bool],
) -> tuple[Row | None, int]:
    """Return a row that shows the pair `start`, and how many new pairs it shows; None if stuck."""
    numbers, possible, partners = known
    row, gained = dict(start), 1
    shown = sum(1 << numbers[item] for item in start)
    left = [name for name in axes if name not in row]
    for turn in rng.permutation(len(left)).tolist():
        name = left[turn]
        values = axes[name]
        at_values = [numbers[name, value] for value in values]
        new = [(partners[number] & shown).bit_count() for number in at_values]
        # Among equals the first of the permutation: few are asked whether they are allowed.
        order = sorted(rng.permutation(len(values)).tolist(), key=new.__getitem__, reverse=True)
        found = (
            at
            for at in order
            if not shown & ~possible[at_values[at]] and allowed({**row, name: values[at]})
        )
        at = next(found, None)
        if at is None:
            return None, -1
        row[name] = values[at]
        shown |= 1 << numbers[name, values[at]]
        gained += new[at]
    return row, gained
