"""Two files of records: which cases became faster or slower, beyond the noise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from semira.bench.record import Record

#: Differences of medians below this are never reported, however quiet the samples.
MIN_CHANGE = 0.05


@dataclass(frozen=True, slots=True)
class Comparison:
    """One case before and after."""

    before: Record
    after: Record
    #: Median after / median before: above 1 is slower.
    ratio: float
    #: `low`, `high`: Ratio of quartiles at their closest and farthest: the band of noise.
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """``wrong``, ``slower``, ``faster`` or ``same``: a change beyond band and `MIN_CHANGE`."""
        if self.after.verified is False:
            return "wrong"
        if self.ratio > 1 + MIN_CHANGE and self.low > 1:
            return "slower"
        if self.ratio < 1 / (1 + MIN_CHANGE) and self.high < 1:
            return "faster"
        return "same"


def compare_pair(before: Record, after: Record) -> Comparison | None:
    """Compare two records of one case; None if one of them has no warm calls.

    Examples
    --------
    >>> from semira.bench.record import Dataset
    >>> def record(*times):
    ...     data = Dataset("ring", 3, 3, "00")
    ...     return Record("algorithm", "bfs", data, "semira", warm_s=list(times))
    >>> compare_pair(record(1.0, 1.1, 1.0), record(2.0, 2.1, 2.0)).verdict
    'slower'
    >>> compare_pair(record(1.0, 2.0, 3.0), record(1.5, 2.5, 3.0)).verdict
    'same'
    """
    medians = before.median_s, after.median_s
    quartiles = before.quartiles_s, after.quartiles_s
    if not medians[0] or not medians[1] or quartiles[0] is None or quartiles[1] is None:
        return None
    (low_before, high_before), (low_after, high_after) = quartiles[0], quartiles[1]
    return Comparison(
        before, after, medians[1] / medians[0], low_after / high_before, high_after / low_before
    )


@dataclass(frozen=True, slots=True)
class Changes:
    """What two sets of records have in common, and what not."""

    #: Largest ratio first.
    pairs: list[Comparison]
    #: `only_before`, `only_after`: Cases with times in one of the sets only.
    only_before: list[Record]
    only_after: list[Record]


def compare(before: Iterable[Record], after: Iterable[Record]) -> Changes:
    """Compare two sets of records case by case; of repeated cases the last counts."""
    old = {record.key: record for record in before if record.warm_s}
    new = {record.key: record for record in after}
    pairs, lost = [], []
    for key, record in old.items():
        other = new.get(key)
        pair = None if other is None else compare_pair(record, other)
        if pair is None:
            lost.append(record)
        else:
            pairs.append(pair)
    added = [record for key, record in new.items() if key not in old and record.warm_s]
    return Changes(sorted(pairs, key=lambda pair: -pair.ratio), lost, added)


def worsened(pairs: Sequence[Comparison]) -> list[Comparison]:
    """Return the cases that became slower or wrong."""
    return [pair for pair in pairs if pair.verdict in ("slower", "wrong")]
