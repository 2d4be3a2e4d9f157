"""Prefix scans along lines."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.base.errors import DomainMismatch, NotImplementedException
from semira.contract.rearrange import Rearrangement
from semira.formats import MatrixArrays
from semira.frontend.checks import bad_type
from semira.frontend.construct import FOLDS, is_rowwise
from semira.frontend.operators import as_monoid
from semira.frontend.ss.lines import rearranged
from semira.ops import TypedMonoid
from semira.ops.meaning import cast_array

#: Monoids that are a NumPy function in compiled code.
_FUNCTIONS = {**FOLDS, "eq": np.equal, "lxnor": np.equal}

#: Lines with more entries are scanned one at a time: there are few of them.
LONG_LINE = 4096


def _scan_long(values: NDArray[Any], starts: Any, ends: Any, function: Any) -> None:
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        values[start:end] = function.accumulate(values[start:end])


def _scan_short(values: NDArray[Any], starts: Any, lengths: Any, function: Any) -> None:
    """Scan many lines side by side: step p does the entry at place p of all that have one."""
    order = np.argsort(lengths, kind="stable")
    starts, lengths = starts[order], lengths[order]
    for place in range(1, int(lengths.max(initial=0))):
        at = starts[np.searchsorted(lengths, place, side="right") :] + place
        values[at] = function(values[at - 1], values[at])


def _scan_by_calls(values: NDArray[Any], starts: Any, ends: Any, function: Any) -> None:
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        for at in range(start + 1, end):
            values[at] = function(values[at - 1], values[at], 0, 0, 0)


def scan(item: Any, op: Any, order: str, where: str) -> Any:
    """Return the prefix scan of each line: entry p is the monoid over the line's first p + 1.

    Parameters
    ----------
    item : Matrix or Vector
    op : Monoid, binary operator with a monoid, or str
    order : "rowwise" or "columnwise"
    where : str
        Name of the method, for messages.

    Raises
    ------
    DomainMismatch
        `op` is no monoid and has none, or does not work with the dtype.
    """
    by_columns = not is_rowwise(order)
    try:
        monoid = as_monoid(op, item.dtype)
    except NotImplementedException as error:
        raise DomainMismatch(f"{bad_type(op, 'Monoid', 'op', where)}\n{error}") from None
    request = Rearrangement("scan", by_columns, monoid)
    return rearranged(item, request, where, lambda lines: [scan_lines(lines, monoid)])[0]


def scan_lines(lines: MatrixArrays, monoid: TypedMonoid) -> MatrixArrays:
    """Return the prefix scan of each line, on the host.

    Notes
    -----
    From left to right within a line, so floating-point results are those of a loop. O(nvals);
    an operator that is a Python function is called once per entry.
    """
    out = monoid.return_type
    values = np.array(cast_array(lines.entry_values(), out.array_dtype))
    starts, ends = lines.indptr[:-1].astype(np.int64), lines.indptr[1:].astype(np.int64)
    lengths = ends - starts
    with np.errstate(all="ignore"):
        if monoid.is_any:
            values = values[np.repeat(starts, lengths)]
        elif monoid.op.orig_func is None and monoid.name in _FUNCTIONS:
            function, is_long = _FUNCTIONS[monoid.name], lengths > LONG_LINE
            _scan_long(values, starts[is_long], ends[is_long], function)
            _scan_short(values, starts[~is_long], lengths[~is_long], function)
        else:
            _scan_by_calls(values, starts, ends, monoid.op.scalar_function)
    return replace(lines, dtype=out, values=values, iso=False, symmetric=None)
