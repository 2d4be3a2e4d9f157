"""Entries at other places: what an object's extensions ask of a device, one object at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from semira.base.dtypes import DataType

KINDS = ("scan", "select", "compact", "sort", "reshape")

#: Which entries of a line come first.
HOWS = ("first", "last", "smallest", "largest", "random")


@dataclass(frozen=True, slots=True)
class Rearrangement:
    """What is to be made of a vector or matrix. *Lines* are its rows or columns; a vector is one.

    Attributes
    ----------
    kind : str
        ``scan``: the running result of a monoid along each line. ``select``: at most `k` entries
        of each line, where they are. ``compact``: those moved to the front of lines of length `k`
        (of the fullest line's if None). ``sort``: each line in order and moved to its front;
        values, then where they were. ``reshape``: the same entries, positions counted along lines.
    by_columns : bool
        Lines are columns.
    operator : TypedMonoid or TypedOp or None
        Of ``scan``; of ``sort``, a comparison that says whether its first operand comes before.
    how : str
        One of `HOWS`, for ``select`` and ``compact``; ``smallest`` and ``largest`` instead of an
        operator for ``sort``, by value.
    k : int or None
    reverse, as_index : bool
        Of ``compact``: turn around what was kept; values are where entries were (UINT64).
    shape : tuple of int
        Of ``reshape``: the new one, of as many positions.
    """

    kind: str
    by_columns: bool = False
    operator: Any = None
    how: str = "first"
    k: int | None = None
    reverse: bool = False
    as_index: bool = False
    shape: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Rearranged:
    """An object that was made: its handle, shape and dtype."""

    handle: Any
    shape: tuple[int, ...]
    dtype: DataType
