"""Lines of entries one after the other: scans, and orders by a comparison."""

from __future__ import annotations

from functools import cmp_to_key
from typing import Any

import numpy as np

from semira.backends.cpu.compressed import Array
from semira.backends.cpu.host.reduce import ufunc_of
from semira.ops import TypedMonoid, TypedOp
from semira.ops.meaning import cast_array
from semira.ops.registry import binary

#: Lines with more entries are scanned one at a time: there are few of them.
LONG_LINE = 4096


def scanned(monoid: TypedMonoid, values: Array, heads: Array) -> Array:
    """Return the running results of a monoid; a head starts anew.

    From left to right within a line, so floating-point results are those of a loop. An operator
    that is a Python function is called once per entry.
    """
    values = np.array(cast_array(values, monoid.return_type.array_dtype))
    starts = np.flatnonzero(heads)
    ends = np.append(starts[1:], len(values))[: len(starts)]
    function = np.equal if monoid.op.parent is binary["eq"] else ufunc_of(monoid)
    with np.errstate(all="ignore"):
        if function is None:
            _scan_by_calls(values, starts, ends, monoid.op.scalar_function)
        else:
            lengths = ends - starts
            is_long = lengths > LONG_LINE
            for start, end in zip(starts[is_long].tolist(), ends[is_long].tolist(), strict=True):
                values[start:end] = function.accumulate(values[start:end])
            _scan_short(values, starts[~is_long], lengths[~is_long], function)
    return values


def _scan_short(values: Array, starts: Array, lengths: Array, function: Any) -> None:
    """Scan many lines side by side: step p does the entry at place p of all that have one."""
    order = np.argsort(lengths, kind="stable")
    starts, lengths = starts[order], lengths[order]
    for place in range(1, int(lengths.max(initial=0))):
        at = starts[np.searchsorted(lengths, place, side="right") :] + place
        values[at] = function(values[at - 1], values[at])


def _scan_by_calls(values: Array, starts: Array, ends: Array, function: Any) -> None:
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        for at in range(start + 1, end):
            values[at] = function(values[at - 1], values[at], 0, 0, 0)


def ranked(before: TypedOp, values: Array, starts: Array, lengths: Array) -> Array:
    """Return the entries of each line sorted by a comparison, one call per pair.

    `starts` and `lengths` tell, for each value, of its line.
    """
    less, values = before.scalar_function, values.astype(before.type.array_dtype, copy=False)

    def compare(a: int, b: int) -> int:
        if less(values[a], values[b], 0, 0, 0):
            return -1
        return 1 if less(values[b], values[a], 0, 0, 0) else 0

    order = np.arange(len(values))
    firsts = np.flatnonzero(starts == order)
    for start, length in zip(firsts.tolist(), lengths[firsts].tolist(), strict=True):
        order[start : start + length] = sorted(
            range(start, start + length), key=cmp_to_key(compare)
        )
    return order
