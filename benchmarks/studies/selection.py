"""Choosing cases by parts of their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from semira.base.errors import InvalidValue

T = TypeVar("T")


def choose_cases(known: Mapping[str, T], only: Sequence[str], what: str) -> dict[str, T]:
    """Return the cases whose name contains one of `only`; all cases if it is empty.

    Raises
    ------
    InvalidValue
        No name matches; the message lists all names.

    Examples
    --------
    >>> choose_cases({"mxm": 1, "mxm masked": 2, "mxv": 3}, ["mxm"], "operation")
    {'mxm': 1, 'mxm masked': 2}
    """
    chosen = {
        name: case for name, case in known.items() if not only or any(part in name for part in only)
    }
    if not chosen:
        raise InvalidValue(f"no {what} is called {', '.join(only)}; there are {', '.join(known)}")
    return chosen
