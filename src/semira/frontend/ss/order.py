"""Entries by rank: compactify, selectk and sort."""

from __future__ import annotations

from functools import cmp_to_key
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.base.dtypes import BOOL
from semira.base.errors import DomainMismatch, DtypeUnsupported, InvalidValue
from semira.formats import MatrixArrays
from semira.frontend.operators import as_binary
from semira.frontend.ss.lines import entry_lines, entry_places, picked

HOWS = ("first", "last", "smallest", "largest", "random")

#: Comparisons whose order NumPy sorts by in compiled code: whether it is descending.
_SORTED_BY = {"lt": False, "le": False, "gt": True, "ge": True}


def check_how(how: str, allowed: tuple[str, ...] = HOWS) -> None:
    """Check the name of a ranking.

    Raises
    ------
    InvalidValue
        There is no such ranking.
    """
    if how not in allowed:
        raise InvalidValue(f"`how` argument must be one of: {', '.join(allowed)}; got {how!r}")


def check_count(k: Any) -> int:
    """Return the number of entries wanted.

    Raises
    ------
    InvalidValue
        It is negative or not an integer.
    """
    if isinstance(k, bool) or not hasattr(k, "__index__"):
        raise InvalidValue(f"k must be an integer, got {k!r}")
    if int(k) < 0:
        raise InvalidValue(f"negative k is not allowed: {k}")
    return int(k)


def _sorted_by_value(lines: MatrixArrays, *, descending: bool = False) -> NDArray[np.intp]:
    """Return the entries by line, then value, then place."""
    line = entry_lines(lines)
    if lines.iso:
        return np.arange(lines.nvals)
    if not descending:
        return np.lexsort((lines.values, line))
    # The reverse of a stable sort of the reverse is descending and stable.
    by_value = lines.nvals - 1 - np.argsort(lines.values[::-1], kind="stable")[::-1]
    return by_value[np.argsort(line[by_value], kind="stable")]


def _reversed_in_lines(lengths: NDArray[Any], entries: NDArray[Any]) -> NDArray[Any]:
    ends = np.cumsum(lengths)
    mirror = np.repeat(ends - lengths + ends - 1, lengths)
    return entries[mirror - np.arange(len(entries))]


def _ranked(lines: MatrixArrays, how: str) -> NDArray[Any]:
    """Return all entries, line by line, the most wanted first."""
    entries = np.arange(lines.nvals)
    if how == "random":
        return np.lexsort((np.random.default_rng().random(lines.nvals), entry_lines(lines)))
    if how in ("smallest", "largest"):
        if lines.dtype.kind == "V":
            raise DtypeUnsupported(
                f"{how} does not work with {lines.dtype}: records have no order; use sort with "
                "an operator made with is_udt=True"
            )
        entries = _sorted_by_value(lines)
    if how in ("last", "largest"):
        return _reversed_in_lines(np.diff(lines.indptr), entries)
    return entries


def _best(lines: MatrixArrays, how: str, k: int | None) -> NDArray[Any]:
    """Return the k most wanted entries of each line, line by line."""
    ranked = _ranked(lines, how)
    if k is not None:
        ranked = ranked[entry_places(lines) < k]
    # Which entries is random, not their order.
    return np.sort(ranked) if how == "random" else ranked


def select_k(lines: MatrixArrays, how: str, k: Any) -> MatrixArrays:
    """Return at most `k` entries of each line, where they are; see `MatrixExtensions.selectk`."""
    chosen = np.sort(_best(lines, how, check_count(k)))
    return picked(lines, chosen, lines.indices[chosen], lines.nminor)


def compactify(
    lines: MatrixArrays, how: str, k: Any, *, reverse: bool, asindex: bool
) -> MatrixArrays:
    """Return each line's entries moved to its front; see `MatrixExtensions.compactify`."""
    k = None if k is None else check_count(k)
    lengths = np.diff(lines.indptr)
    length = int(lengths.max(initial=0)) if k is None else k
    chosen = _best(lines, how, k)
    kept = np.minimum(lengths, length)
    if reverse:
        chosen = _reversed_in_lines(kept, chosen)
    places = entry_places(lines)
    values = lines.indices[chosen].astype(np.uint64) if asindex else None
    return picked(lines, chosen, places[places < length], length, values)


def _compared(lines: MatrixArrays, op: Any) -> NDArray[Any]:
    """Return the entries of each line sorted by a user's comparison, one call per pair."""
    less, values = op.scalar_function, lines.entry_values().astype(op.type.array_dtype, copy=False)

    def compare(a: int, b: int) -> int:
        if less(values[a], values[b], 0, 0, 0):
            return -1
        return 1 if less(values[b], values[a], 0, 0, 0) else 0

    order = np.arange(lines.nvals)
    for start, end in zip(lines.indptr[:-1].tolist(), lines.indptr[1:].tolist(), strict=True):
        order[start:end] = sorted(range(start, end), key=cmp_to_key(compare))
    return order


def sort_lines(
    lines: MatrixArrays, op: Any, *, values: bool, permutation: bool
) -> tuple[MatrixArrays | None, MatrixArrays | None]:
    """Return the sorted values and where they were; see `MatrixExtensions.sort`.

    Raises
    ------
    DomainMismatch
        `op` is no binary operator, or not one that answers BOOL.
    """
    typed = as_binary(op, lines.dtype, lines.dtype)
    if typed.return_type is not BOOL:
        raise DomainMismatch(
            f"sort needs a comparison, a binary operator that returns BOOL such as lt or gt; "
            f"{typed.name}[{typed.type}] returns {typed.return_type}"
        )
    built_in = typed.orig_func is None and typed.type is lines.dtype
    if built_in and typed.name in _SORTED_BY:
        order = _sorted_by_value(lines, descending=_SORTED_BY[typed.name])
    else:
        order = _compared(lines, typed)
    places, length = entry_places(lines), lines.nminor
    origin = lines.indices[order].astype(np.uint64)
    return (
        picked(lines, order, places, length) if values else None,
        picked(lines, order, places, length, origin) if permutation else None,
    )
