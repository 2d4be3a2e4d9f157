"""Known locations in files."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.algorithms.shown import is_number
from semira.apps.texts import is_index, numbers_of, open_text, vertex_of
from semira.exceptions import FileFormatError, InvalidValue
from semira.generators import generate_geometric, geometric_points, is_generator_spec, parse_spec

Locations = dict[str, NDArray[np.float64]]


def read_labels(path: str, size: int, labels: NDArray[Any] | None = None) -> Locations:
    """Known locations: lines "id latitude longitude" with ids from 1, or CSV with names.

    Parameters
    ----------
    path : str
        Lines of an id from 1, a latitude and a longitude; lines that begin with ``%`` are comments,
        and the first other one may be ``n 2 2`` (the labels file of the HIVE report). With commas:
        CSV of a name of the graph (without names, a number from 0), a latitude and a longitude,
        with or without a heading. Also ``.gz``, ``.bz2``, ``.xz``. ``rgg:...``: where the
        vertices of this generated graph are, the unit square spread over the world between 60
        degrees south and north.
    size : int
        Number of vertices.
    labels : ndarray, shape (size,), optional
        Names of the vertices.

    Returns
    -------
    dict
        Arrays ``latitude`` and ``longitude``, NaN where the file has nothing.

    Raises
    ------
    MissingFile, FileReadError
        The file cannot be read.
    FileFormatError
        A line is none of these, or a vertex is unknown or repeated; the message has its number.
    InvalidValue
        A generated graph of another kind, or size, is named.
    """
    if is_generator_spec(path):
        return _generated(path, size)
    first, text, is_csv = _first_line(path)
    if is_csv:
        return _placed(path, _csv_rows(path, first), size, labels, 0)
    stated, *others = text.split() or [""]
    if others == ["2", "2"] and is_index(stated):
        return _lines(path, first, size, int(stated))
    return _lines(path, first - 1, size, size)


def _generated(spec: str, size: int) -> Locations:
    row, arguments, parameters = parse_spec(spec)
    if row.generate is not generate_geometric:
        raise InvalidValue(f"{spec}: vertices have no locations; name a graph of rgg")
    if arguments[0] != size:
        raise InvalidValue(f"{spec}: has {arguments[0]} vertices, but the graph has {size}")
    named = {name: parameters[name] for name in ("radius", "seed") if name in parameters}
    x, y = geometric_points(*arguments, **named)
    return {"latitude": 120 * y - 60, "longitude": 360 * x - 180}


def _first_line(path: str, after: int = 0) -> tuple[int, str, bool]:
    """Return number and text of the first line that is no comment, and whether it is of CSV."""
    with open_text(path) as stream:
        for number, line in enumerate(stream, 1):
            if number > after and line.strip() and not line.startswith("%"):
                return number, line.strip(), "," in line
    return 0, "", False


def _lines(path: str, skipped: int, size: int, stated: int) -> Locations:
    """Return the locations of lines of three numbers, after some that are skipped."""
    if stated != size:
        raise FileFormatError(
            f"{path}, line {skipped}: is of {stated} vertices, but the graph has {size}"
        )
    if not _first_line(path, skipped)[0]:
        return _filled(size, np.empty(0, np.int64), np.nan, np.nan)
    try:
        with open_text(path) as stream:
            table = np.loadtxt(stream, comments="%", skiprows=max(skipped, 0), ndmin=2)
        if table.shape[1] == 3 and _is_sound(table, size):
            at = table[:, 0].astype(np.int64) - 1
            return _filled(size, at, table[:, 1], table[:, 2])
    except ValueError:
        pass
    # Something is wrong: line by line, to say where.
    with open_text(path) as stream:
        numbered = ((number, line.split()) for number, line in enumerate(stream, 1))
        rows = [
            (number, fields)
            for number, fields in numbered
            if number > skipped and fields and not fields[0].startswith("%")
        ]
    return _placed(path, iter(rows), size, None, 1)


def _is_sound(table: NDArray[np.float64], size: int) -> bool:
    """Return whether every line is of another vertex and a location."""
    at, lat, lon = table.T
    inside = (at >= 1) & (at <= size) & (np.abs(lat) <= 90) & (np.abs(lon) <= 180)
    inside &= at == np.floor(at)
    return bool(inside.all()) and len(np.unique(at)) == len(at)


def _csv_rows(path: str, first: int) -> Iterator[tuple[int, list[str]]]:
    """Yield line numbers and fields, without a heading."""
    with open_text(path) as stream:
        for _ in range(first - 1):
            next(stream)
        reader = csv.reader(stream)
        try:
            for at, fields in enumerate(reader):
                is_heading = at == 0 and len(fields) == 3 and not any(map(is_number, fields[1:]))
                if fields and not is_heading:
                    yield first - 1 + reader.line_num, fields
        except csv.Error as error:
            line = first - 1 + reader.line_num
            raise FileFormatError(f"{path}, line {line}: {error}") from error


def _placed(
    path: str,
    rows: Iterator[tuple[int, list[str]]],
    size: int,
    labels: NDArray[Any] | None,
    base: int,
) -> Locations:
    """Return the locations of lines; a vertex is a name, or a number from `base`."""
    names = numbers_of(labels)
    found: dict[int, tuple[float, float]] = {}
    for number, fields in rows:
        where = f"{path}, line {number}"
        if len(fields) != 3:
            raise FileFormatError(
                f"{where}: has {len(fields)} fields; a vertex, a latitude and a longitude are three"
            )
        vertex = vertex_of(where, fields[0].strip(), names, size, base=base)
        if vertex in found:
            raise FileFormatError(f"{where}: vertex {fields[0].strip()} has a location already")
        found[vertex] = (
            _degrees(where, "latitude", fields[1], 90),
            _degrees(where, "longitude", fields[2], 180),
        )
    places = np.array(list(found.values())).reshape(-1, 2)
    return _filled(size, np.array(list(found), np.int64), places[:, 0], places[:, 1])


def _degrees(where: str, name: str, text: str, limit: int) -> float:
    try:
        value = float(text)
    except ValueError:
        told = f"{where}: the {name} {text.strip()!r} is no number"
        raise FileFormatError(told) from None
    if not abs(value) <= limit:  # nor is NaN
        raise FileFormatError(f"{where}: the {name} {text.strip()} is outside [-{limit}, {limit}]")
    return value


def _filled(size: int, at: Any, latitude: Any, longitude: Any) -> Locations:
    found = {}
    for name, values in (("latitude", latitude), ("longitude", longitude)):
        found[name] = np.full(size, np.nan)
        found[name][at] = values
    return found
