"""Entries by rank: compactify, selectk and sort."""

from __future__ import annotations

from functools import cmp_to_key
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.base.dtypes import BOOL
from semira.base.errors import DomainMismatch, DtypeUnsupported, InvalidValue
from semira.contract.rearrange import HOWS, Rearrangement
from semira.formats import MatrixArrays
from semira.frontend.construct import is_rowwise
from semira.frontend.operators import as_binary
from semira.frontend.ss.lines import entry_lines, entry_places, picked, rearranged

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


def _check_values(item: Any, how: str) -> None:
    """Check that values have the order that a ranking needs.

    Raises
    ------
    DtypeUnsupported
        They are records.
    """
    if how in ("smallest", "largest") and item.dtype.kind == "V":
        raise DtypeUnsupported(
            f"{how} does not work with {item.dtype}: records have no order; use sort with an "
            "operator made with is_udt=True"
        )


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


def select_k(item: Any, how: str, k: Any, order: str, what: str) -> Any:
    """Return at most `k` entries of each line, where they are; see `MatrixExtensions.selectk`."""
    count = check_count(k)
    _check_values(item, how)
    request = Rearrangement("select", not is_rowwise(order), how=how, k=count)
    return rearranged(item, request, what, lambda lines: [_selected(lines, how, count)])[0]


def _selected(lines: MatrixArrays, how: str, k: int) -> MatrixArrays:
    chosen = np.sort(_best(lines, how, k))
    return picked(lines, chosen, lines.indices[chosen], lines.nminor)


def compactify(
    item: Any, how: str, k: Any, order: str, what: str, *, reverse: bool, asindex: bool
) -> Any:
    """Return each line's entries moved to its front; see `MatrixExtensions.compactify`."""
    count = None if k is None else check_count(k)
    _check_values(item, how)
    request = Rearrangement(
        "compact", not is_rowwise(order), how=how, k=count, reverse=bool(reverse),
        as_index=bool(asindex),
    )  # fmt: skip

    def on_host(lines: MatrixArrays) -> list[MatrixArrays]:
        return [_compacted(lines, how, count, reverse=reverse, asindex=asindex)]

    return rearranged(item, request, what, on_host)[0]


def _compacted(
    lines: MatrixArrays, how: str, k: int | None, *, reverse: bool, asindex: bool
) -> MatrixArrays:
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


def sort(
    item: Any, op: Any, order: str, what: str, *, values: bool, permutation: bool
) -> tuple[Any, Any]:
    """Return the sorted values and where they were; see `MatrixExtensions.sort`.

    Raises
    ------
    DomainMismatch
        `op` is no binary operator, or not one that answers BOOL.
    """
    by_columns = not is_rowwise(order)
    typed = as_binary(op, item.dtype, item.dtype)
    if typed.return_type is not BOOL:
        raise DomainMismatch(
            f"sort needs a comparison, a binary operator that returns BOOL such as lt or gt; "
            f"{typed.name}[{typed.type}] returns {typed.return_type}"
        )
    by_value = typed.orig_func is None and typed.type is item.dtype and typed.name in _SORTED_BY
    how = "largest" if by_value and _SORTED_BY[typed.name] else "smallest"
    request = Rearrangement("sort", by_columns, None if by_value else typed, how)

    def on_host(lines: MatrixArrays) -> list[MatrixArrays]:
        if by_value:
            ranked = _sorted_by_value(lines, descending=how == "largest")
        else:
            ranked = _compared(lines, typed)
        places, length = entry_places(lines), lines.nminor
        origin = lines.indices[ranked].astype(np.uint64)
        return [
            picked(lines, ranked, places, length),
            picked(lines, ranked, places, length, origin),
        ]

    found = rearranged(item, request, what, on_host)
    return found[0] if values else None, found[1] if permutation else None
