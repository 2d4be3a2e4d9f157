"""Entries by rank, and scans: compactify, scan, selectk and sort."""

from __future__ import annotations

from typing import Any

from semira.base.dtypes import BOOL
from semira.base.errors import (
    DomainMismatch,
    DtypeUnsupported,
    InvalidValue,
    NotImplementedException,
)
from semira.contract.rearrange import HOWS, Rearrangement
from semira.frontend.checks import bad_type
from semira.frontend.construct import is_rowwise
from semira.frontend.operators import as_binary, as_monoid
from semira.frontend.ss.lines import rearranged

#: Comparisons whose order NumPy sorts by in compiled code: whether it is descending.
_SORTED_BY = {"lt": False, "le": False, "gt": True, "ge": True}


def check_how(how: str, allowed: tuple[str, ...] = HOWS) -> None:
    """Check the name of a ranking; raises InvalidValue if there is no such ranking."""
    if how not in allowed:
        raise InvalidValue(f"`how` argument must be one of: {', '.join(allowed)}; got {how!r}")


def _check_values(item: Any, how: str) -> None:
    """Raise DtypeUnsupported for records: they lack the order that a ranking needs."""
    if how in ("smallest", "largest") and item.dtype.kind == "V":
        raise DtypeUnsupported(
            f"{how} does not work with {item.dtype}: records have no order; use sort with an "
            "operator made with is_udt=True"
        )


def check_count(k: Any) -> int:
    """Return the number of entries wanted.

    Raises InvalidValue if it is negative or not an integer.
    """
    if isinstance(k, bool) or not hasattr(k, "__index__"):
        raise InvalidValue(f"k must be an integer, got {k!r}")
    if int(k) < 0:
        raise InvalidValue(f"negative k is not allowed: {k}")
    return int(k)


def select_k(item: Any, how: str, k: Any, order: str, what: str) -> Any:
    """Return at most `k` entries of each line, where they are; see `MatrixExtensions.selectk`."""
    count = check_count(k)
    _check_values(item, how)
    request = Rearrangement("select", not is_rowwise(order), how=how, k=count)
    return rearranged(item, request, what)[0]


def compactify(
    item: Any, how: str, k: Any, order: str, what: str, *, reverse: bool, asindex: bool
) -> Any:
    """Return each line's entries moved to its front; see `MatrixExtensions.compactify`."""
    check_how(how)
    count = None if k is None else check_count(k)
    _check_values(item, how)
    request = Rearrangement(
        "compact", not is_rowwise(order), how=how, k=count, reverse=bool(reverse),
        as_index=bool(asindex),
    )  # fmt: skip
    return rearranged(item, request, what)[0]


def sort(
    item: Any, op: Any, order: str, what: str, *, values: bool, permutation: bool
) -> tuple[Any, Any]:
    """Return the sorted values and where they were; see `MatrixExtensions.sort`.

    Raises DomainMismatch if `op` is no binary operator, or not one that answers BOOL.
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
    found = rearranged(item, request, what)
    return found[0] if values else None, found[1] if permutation else None


def scan(item: Any, op: Any, order: str, where: str) -> Any:
    """Return the prefix scan of each line: entry p is the monoid over the line's first p + 1.

    `where` is the name of the method, for messages. Raises DomainMismatch if `op` is no monoid and
    has none, or does not work with the dtype.
    """
    by_columns = not is_rowwise(order)
    try:
        monoid = as_monoid(op, item.dtype)
    except NotImplementedException as error:
        raise DomainMismatch(f"{bad_type(op, 'Monoid', 'op', where)}\n{error}") from None
    request = Rearrangement("scan", by_columns, monoid)
    return rearranged(item, request, where)[0]
