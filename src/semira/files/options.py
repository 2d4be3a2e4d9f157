"""What a caller may ask of a reader, in one place."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from numbers import Integral, Real
from typing import Any

from semira.base.errors import InvalidValue
from semira.base.text import did_you_mean
from semira.formats.index import MAX_SIZE

#: Options that only the edge-list reader understands.
TEXT_OPTIONS = (
    "base", "ids", "delimiter", "header", "columns", "size", "missing", "encoding", "decimal",
)  # fmt: skip

#: What readers and `semira.io.read_graph` say in ``meta``; a file says nothing under these names.
READING_FACTS = frozenset({
    "file", "format", "ids", "header", "delimiter", "unnamed_vertices", "possible_header",
    "guesses", "dropped_missing", "replaced_missing", "dropped_self_loops", "repeated_edges",
    "dup_op",
})  # fmt: skip

#: What other libraries call our options.
_SYNONYMS = {
    "sep": "delimiter", "separator": "delimiter", "usecols": "columns", "names": "columns",
    "na_values": "missing", "directed": "symmetrise", "weight": "columns",
}  # fmt: skip

#: What `ids=` may say of vertices: found by what they are, numbers, or names.
IDS = ("auto", "index", "name")


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
        built; readers only carry the name, as ``meta["dup_op"]``. None: the reader's default,
        ``min`` for ``.gr`` and ``first`` for all others.
    progress : bool
        On a terminal, show a bar for files that take longer than a second, and a line that says
        what was guessed or lost.
    base : {0, 1} or None
        Edge lists: the least vertex number, 0 if None. Giving it means ``ids="index"``.
    ids : {"auto", "index", "name"}
        Edge lists: whether vertices are numbers or names. ``"index"``: integers are vertex
        numbers, anything else is an error. ``"name"``: every one is a name; names are numbered
        in order of first appearance and kept as labels. ``"auto"`` decides by what they are, see
        `semira.files.edgelist.read_edgelist`.
    delimiter : str or None
        Edge lists: the character between columns, ``" "`` for any run of blanks and tabs; None
        finds it in the first lines.
    header : bool or None
        Edge lists: whether the first line names the columns; None finds out.
    columns : tuple of 2 or 3 int or str, or None
        Edge lists: source, target and weight, by position (from 0) or by name; names need a
        header.
    size : int or None
        Edge lists: number of vertices; None takes the largest number + 1. Giving it means
        ``ids="index"``.
    missing : "drop", number or None
        Edge lists: what to do with an edge whose weight is empty, ``NA``, ``N/A``, ``null``,
        ``None`` or ``NaN``. None: an error (``NaN`` is read as it is); ``"drop"``: leave the
        edge out; a number: take it in place of the weight.
    encoding : str
        Edge lists: encoding of the text, a name that Python knows.
    decimal : {".", ","}
        Edge lists: the decimal separator of weights.
    """

    drop_self_loops: bool = False
    symmetrise: bool = False
    random_weights: bool = False
    seed: int = 0
    dup_op: str | None = None
    progress: bool = True
    base: int | None = None
    ids: str = "auto"
    delimiter: str | None = None
    header: bool | None = None
    columns: tuple[int | str, ...] | None = None
    size: int | None = None
    missing: float | str | None = None
    encoding: str = "utf-8"
    decimal: str = "."

    def __post_init__(self) -> None:
        if self.base not in (None, 0, 1):
            raise InvalidValue(f"base={self.base}; vertex numbers start at 0 or at 1")
        if not 0 <= self.seed < 2**64:
            raise InvalidValue(f"seed={self.seed} must lie in [0, 2**64)")
        if self.size is not None and not 0 <= self.size <= MAX_SIZE:
            raise InvalidValue(f"size={self.size} must lie in [0, 2**60]")
        self._check_ids()
        self._check_layout()
        if not (self.missing in (None, "drop") or _is_number(self.missing)):
            raise InvalidValue(
                f"missing={self.missing!r}; give 'drop' or the number that takes the place of a "
                "missing weight"
            )
        try:
            "0".encode(self.encoding)
        except (LookupError, TypeError, ValueError):
            raise InvalidValue(
                f"encoding={self.encoding!r} is no text encoding of Python; examples are 'utf-8', "
                "'latin-1' and 'cp1252'"
            ) from None

    def _check_ids(self) -> None:
        if self.ids not in IDS:
            raise InvalidValue(f"ids={self.ids!r}; choose one of {', '.join(IDS)}")
        for option in ("base", "size"):
            if self.ids == "name" and getattr(self, option) is not None:
                raise InvalidValue(f"ids='name' numbers the vertices itself; leave out {option}")

    def _check_layout(self) -> None:
        delimiter, columns = self.delimiter, self.columns
        if self.header not in (None, True, False):
            raise InvalidValue(
                f"header={self.header!r}; True: the first line names the columns, False: it does "
                "not, None: find out"
            )
        if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\n\r'):
            raise InvalidValue(f"delimiter={delimiter!r} must be one character, no quote")
        if self.decimal not in (".", ","):
            raise InvalidValue(f"decimal={self.decimal!r}; choose '.' or ','")
        if self.decimal == "," and delimiter is not None and delimiter in ",.":
            raise InvalidValue(
                f"decimal=',' with delimiter={delimiter!r}; columns need another delimiter"
            )
        if columns is None:
            return
        is_known = all(isinstance(each, str) or _is_position(each) for each in columns)
        if not is_known or len(columns) not in (2, 3) or len(set(columns)) != len(columns):
            raise InvalidValue(
                f"columns={columns!r} must be 2 or 3 different names or positions, such as "
                "('from', 'to') or (0, 1)"
            )
        if self.header is False and self.names_columns:
            raise InvalidValue(
                f"columns={columns} are names, which need a header; not header=False"
            )

    @property
    def names_columns(self) -> bool:
        """Whether a column is given by its name."""
        return any(isinstance(each, str) for each in self.columns or ())

    def changed(self, overrides: dict[str, Any]) -> ReadOptions:
        """Return the options with fields replaced.

        Raises
        ------
        InvalidValue
            An option has no such name, or its value is out of range.
        """
        known = [field.name for field in fields(self)]
        for name in overrides:
            if name == "relabel":
                raise InvalidValue(
                    "relabel= is ids= now: ids='name' for relabel=True, ids='index' for False"
                )
            if name not in known:
                meant = _SYNONYMS.get(name)
                hint = did_you_mean(meant or name, known)
                raise InvalidValue(f"unknown option {name!r}{hint}; options: {', '.join(known)}")
        return replace(self, **overrides) if overrides else self

    def text_options_set(self) -> list[str]:
        """Return the names of the edge-list options that differ from their defaults."""
        defaults = {field.name: field.default for field in fields(self)}
        return [name for name in TEXT_OPTIONS if getattr(self, name) != defaults[name]]


def _is_position(value: Any) -> bool:
    return is_integer(value) and int(value) >= 0


def is_integer(value: Any) -> bool:
    """Return whether a value is an integer of Python or NumPy, and no truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
