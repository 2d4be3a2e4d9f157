"""Features of vertices and edges in files."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.algorithms.shown import is_number
from semira.apps.classification.problem import EdgeFeatures
from semira.apps.texts import array_of, is_index, numbers_of, open_text
from semira.exceptions import FileFormatError

_Labels = NDArray[Any] | None


def read_vertices(path: str, size: int, labels: _Labels = None) -> NDArray[np.float64]:
    """Features of vertices: lines "id f_1 f_2 ..." with ids from 0; ``.npy``: a row for each.

    Fields are separated by white space or commas. A first line "rows fields" (the HIVE report's) or
    of names of columns is skipped, and lines that begin with ``#`` or ``%``. Also ``.gz``,
    ``.bz2``, ``.xz``. Names of vertices, if there are `labels`, stand for ids. Raises MissingFile
    or FileReadError if the file cannot be read, and FileFormatError if a line is none of these, or
    a vertex is unknown, repeated or missing.
    """
    if path.endswith(".npy"):
        return array_of(path)
    (at,), table = _lines(path, 1, labels, size)
    if len(np.unique(at)) != size or len(at) != size:
        lacking = np.setdiff1d(np.arange(size), at)
        told = f"vertex {lacking[0]} has none" if len(lacking) else "a vertex has two"
        raise FileFormatError(f"{path}: {len(at)} rows of features for {size} vertices: {told}")
    found = np.empty_like(table)
    found[at] = table
    return found


def read_edges(path: str, size: int, labels: _Labels = None) -> Any:
    """Features of edges: lines "source target f_1 f_2 ..."; ``.npy``: a row for each entry.

    It takes and raises what `read_vertices` does.
    """
    if path.endswith(".npy"):
        return array_of(path)
    (sources, targets), table = _lines(path, 2, labels, size)
    return EdgeFeatures(sources, targets, table)


def read_table(path: str) -> NDArray[np.float64]:
    """Features of the vertices of the pattern: lines "id f_1 f_2 ..." in order, or ``.npy``."""
    if path.endswith(".npy"):
        return array_of(path)
    (at,), table = _lines(path, 1, None, None)
    if not np.array_equal(at, np.arange(len(at))):
        raise FileFormatError(f"{path}: ids of the pattern must be 0, 1, 2, ... in this order")
    return table


def read_pattern_edges(path: str) -> EdgeFeatures:
    """Features of the edges of the pattern: lines "source target f_1 f_2 ...", from 0."""
    (sources, targets), table = _lines(path, 2, None, None)
    return EdgeFeatures(sources, targets, table)


def _lines(
    path: str, ids: int, labels: _Labels, size: int | None
) -> tuple[list[NDArray[np.int64]], NDArray[np.float64]]:
    """Return the vertices that stand first in lines, and the numbers after them."""
    skipped, stated, width, delimiter = _heading(path, ids)
    if not width:
        return [np.empty(0, np.int64)] * ids, np.empty((0, 0))
    read: dict[str, Any] = {"delimiter": delimiter, "skiprows": skipped}
    if labels is None:
        table = _loaded(path, **read)
        firsts, table = table[:, :ids], table[:, ids:]
    else:
        firsts = _loaded(path, usecols=range(ids), dtype=object, **read)
        table = np.empty((len(firsts), 0))
        if width > ids:
            table = _loaded(path, usecols=range(ids, width), **read)
    if stated is not None and stated != len(table):
        raise FileFormatError(f"{path}: the first line has {stated} rows, but {len(table)} follow")
    return [_vertices(path, column, labels, size) for column in firsts.T], table


def _loaded(path: str, **options: Any) -> NDArray[Any]:
    with open_text(path) as stream:
        try:
            return np.loadtxt(stream, comments=("#", "%"), ndmin=2, **options)
        except UnicodeDecodeError:
            raise
        except ValueError as error:
            raise FileFormatError(f"{path}: {error}") from error


def _heading(path: str, ids: int) -> tuple[int, int | None, int, str | None]:
    """Return lines to skip, the rows that they state, the fields of a line, and the delimiter.

    A heading is "rows fields" with another number of fields than the next line, or names.
    """
    seen: list[tuple[int, list[str]]] = []
    delimiter = None
    with open_text(path) as stream:
        for number, line in enumerate(stream, 1):
            if line.strip() and line.lstrip()[0] not in "#%":
                delimiter = "," if "," in line else None
                seen.append((number, [each.strip() for each in line.split(delimiter)]))
                if len(seen) == 2:
                    break
    if not seen:
        return 0, None, 0, None
    number, first = seen[0]
    following = len(seen[-1][1])
    if len(first) == 2 and following != 2 and all(map(is_index, first)):
        if int(first[1]) not in (following, following - ids):
            raise FileFormatError(
                f"{path}, line {number}: states {first[1]} fields, but {following} follow"
            )
        return number, int(first[0]), following, delimiter
    named = len(seen) == 2 and bool(first[ids:]) and not any(map(is_number, first[ids:]))
    return (number if named else 0), None, following, delimiter


def _vertices(path: str, names: Any, labels: _Labels, size: int | None) -> NDArray[np.int64]:
    if labels is not None:
        known = numbers_of(labels) or {}
        found = [known.get(name.strip(), -1) for name in names]
        if -1 in found:
            raise FileFormatError(f"{path}: {names[found.index(-1)]!r} is no vertex of the graph")
        return np.array(found, np.int64)
    with np.errstate(invalid="ignore"):
        at: NDArray[np.int64] = names.astype(np.int64)
    bad = (at != names) | (at < 0) | (at >= (np.iinfo(np.int64).max if size is None else size))
    if bad.any():
        limit = "" if size is None else f" of {size} that count from 0"
        raise FileFormatError(f"{path}: {names[bad][0]:g} is no vertex{limit}")
    return at
