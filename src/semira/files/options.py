"""What a caller may ask of a reader, in one place."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from semira.base.errors import InvalidValue
from semira.formats.index import MAX_SIZE

#: Options that only the edge-list reader understands.
TEXT_OPTIONS = ("base", "relabel", "delimiter", "header", "columns", "size")


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How a file is read and what is done to its edges afterwards.

    Attributes
    ----------
    drop_self_loops : bool
        Remove edges from a vertex to itself.
    symmetrise : bool
        Add the reverse of every edge.
    random_weights : bool
        Replace all values by random integers 1..64, equal for both directions of an edge.
    seed : int
        Seed of the random weights, 0 <= seed < 2**64.
    dup_op : str or None
        Name of the operator that merges repeated edges. Merging happens when the matrix is
        built; readers only carry the name, as ``meta["dup_op"]``.
    progress : bool
        Show a bar for files that take longer than a second (on a terminal).
    base : {0, 1}
        Edge lists: the least vertex number.
    relabel : bool or None
        Edge lists: number vertices in order of first appearance and keep their names as
        labels. None decides by the names (see `semira.files.edgelist.read_edgelist`).
    delimiter : str or None
        Edge lists: the character between columns; None finds it in the first line.
    header : bool or None
        Edge lists: whether the first line names the columns; None looks for known names.
    columns : tuple of 2 or 3 int, or None
        Edge lists: positions (from 0) of source, target and weight.
    size : int or None
        Edge lists: number of vertices; None takes the largest number + 1.
    """

    drop_self_loops: bool = False
    symmetrise: bool = False
    random_weights: bool = False
    seed: int = 0
    dup_op: str | None = None
    progress: bool = True
    base: int = 0
    relabel: bool | None = None
    delimiter: str | None = None
    header: bool | None = None
    columns: tuple[int, ...] | None = None
    size: int | None = None

    def __post_init__(self) -> None:
        if self.base not in (0, 1):
            raise InvalidValue(f"base={self.base}; vertex numbers start at 0 or at 1")
        if not 0 <= self.seed < 2**64:
            raise InvalidValue(f"seed={self.seed} must lie in [0, 2**64)")
        if self.size is not None and not 0 <= self.size <= MAX_SIZE:
            raise InvalidValue(f"size={self.size} must lie in [0, 2**60]")
        if self.size is not None and self.relabel:
            raise InvalidValue("relabel=True finds the size itself; leave out size")
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\n\r'):
            raise InvalidValue(f"delimiter={self.delimiter!r} must be one character, no quote")
        columns = self.columns
        if columns is not None and (
            len(columns) not in (2, 3) or min(columns) < 0 or len(set(columns)) != len(columns)
        ):
            raise InvalidValue(
                f"columns={columns} must be 2 or 3 different positions, such as (0, 1)"
            )

    def changed(self, overrides: dict[str, Any]) -> ReadOptions:
        """Return the options with fields replaced.

        Raises
        ------
        InvalidValue
            An option has no such name, or its value is out of range.
        """
        known = [field.name for field in fields(self)]
        for name in overrides:
            if name not in known:
                raise InvalidValue(f"unknown option {name!r}; options: {', '.join(known)}")
        return replace(self, **overrides) if overrides else self

    def text_options_set(self) -> list[str]:
        """Return the names of the edge-list options that differ from their defaults."""
        defaults = {field.name: field.default for field in fields(self)}
        return [name for name in TEXT_OPTIONS if getattr(self, name) != defaults[name]]
