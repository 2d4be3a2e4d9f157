"""Kinds of things that launches read beside the arrays of a matrix."""

from __future__ import annotations

from semira.backends.companions import Kind

#: The row of each entry, equal shares of rows and entries, rows that have entries.
ENTRY_ROWS = Kind("entry_rows", depends_on="pattern")
SLICES = Kind("slices", depends_on="pattern")
OCCUPIED = Kind("occupied", depends_on="pattern")
