"""Prefix scans along lines."""

from __future__ import annotations

from typing import Any

from semira.base.errors import DomainMismatch, NotImplementedException
from semira.contract.rearrange import Rearrangement
from semira.frontend.checks import bad_type
from semira.frontend.construct import is_rowwise
from semira.frontend.operators import as_monoid
from semira.frontend.ss.lines import rearranged


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
