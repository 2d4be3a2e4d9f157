"""Files of known locations: the report's, CSV with names, generated graphs, and what is wrong."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from semira.apps.geolocation.files import read_labels
from semira.exceptions import FileFormatError, FileReadError, InvalidValue, MissingFile
from semira.generators import generate_geometric

NAMES = np.array(["Bern", "Thun", "New York, NY"], object)


@pytest.fixture
def write(tmp_path):
    def write(text, name="places.labels"):
        place = tmp_path / name
        place.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return str(place)

    return write


def known(found):
    assert list(found) == ["latitude", "longitude"]
    pairs = np.column_stack(list(found.values()))
    return {at: tuple(pair) for at, pair in enumerate(pairs.tolist()) if not np.isnan(pair[0])}


@pytest.mark.parametrize("name", ["a.labels", "a.txt.gz"])
@pytest.mark.parametrize("heading", ["", "4 2 2\n", "% comment\n4 2 2\n% more\n", "\n"])
def test_lines_of_the_report(write, heading, name):
    path = write(f"{heading}1 10.5 -20\n% between\n\n4\t-3 180\n", name)
    assert known(read_labels(path, 4)) == {0: (10.5, -20), 3: (-3, 180)}


def test_lines_without_locations(write):
    assert known(read_labels(write("% nothing\n4 2 2\n"), 4)) == {}
    assert known(read_labels(write(""), 4)) == {}


def test_csv_with_names(write):
    text = 'city,lat,lon\nThun,46.75,7.6\n\n"New York, NY",40.7,-74\n'
    expected = {1: (46.75, 7.6), 2: (40.7, -74)}
    assert known(read_labels(write(text), 3, labels=NAMES)) == expected
    without = text.partition("\n")[2]
    assert known(read_labels(write("﻿" + without), 3, labels=NAMES)) == expected


def test_csv_of_numbers_counts_from_0(write):
    assert known(read_labels(write("vertex,lat,lon\n0,1,2\n2,3,4\n"), 3)) == {0: (1, 2), 2: (3, 4)}


def test_generated_graphs_have_places():
    found = read_labels("rgg:9,seed=3", 512)
    graph = generate_geometric(512, seed=3)
    gaps = [values[graph.rows] - values[graph.cols] for values in found.values()]
    # A radius of the square, in degrees.
    assert np.hypot(gaps[0] / 120, gaps[1] / 360).max() < graph.meta["radius"]
    assert np.abs(found["latitude"]).max() <= 60
    assert np.abs(found["longitude"]).max() <= 180
    with pytest.raises(InvalidValue, match="has 512 vertices, but the graph has 500"):
        read_labels("rgg:9", 500)
    with pytest.raises(InvalidValue, match="vertices have no locations"):
        read_labels("kron:9", 512)


@pytest.mark.parametrize(
    ("text", "labels", "words"),
    [
        ("5 2 2\n1 2 3\n", None, "line 1: is of 5 vertices, but the graph has 4"),
        ("4 2 2\n1 2 3\n% x\nfive 2 3\n", None, "line 4: 'five' is no vertex number"),
        ("4 2 2\n1 2 3\n0 2 3\n", None, r"line 3: vertex 0 is outside \[1, 4\]"),
        ("1 2 3\n5 2 3\n", None, r"line 2: vertex 5 is outside \[1, 4\]"),
        ("1 2 3\n2 2\n", None, "line 2: has 2 fields"),
        ("1 2\n2 2\n", None, "line 1: has 2 fields"),
        ("1 2 3\n2 91 3\n", None, r"line 2: the latitude 91 is outside \[-90, 90\]"),
        ("1 2 3\n2 9 -181\n", None, "line 2: the longitude -181 is outside"),
        ("1 2 3\n2 nan 3\n", None, "line 2: the latitude nan is outside"),
        ("1 2 3\n2 north 3\n", None, "line 2: the latitude 'north' is no number"),
        ("1 2 3\n2 2 3\n1 4 4\n", None, "line 3: vertex 1 has a location already"),
        ("1.5 2 3\n", None, "line 1: '1.5' is no vertex number"),
        ("a,b,c\nThun,1,2\nBerne,1,2\n", NAMES, "line 3: 'Berne' is no vertex of the graph"),
        ("Thun,1,2\nThun,1,2\n", NAMES, "line 2: vertex Thun has a location already"),
        ("Thun,1,2\n\nBern,1\n", NAMES, "line 3: has 2 fields"),
        ("Thun,1,west\n", NAMES, "line 1: the longitude 'west' is no number"),
        ("0,1,2\nThun,1,2\n", None, "line 2: 'Thun' is no vertex number; the graph has no names"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(write, text, labels, words):
    path = write(text)
    with pytest.raises(FileFormatError, match=words) as caught:
        read_labels(path, 4 if labels is None else 3, labels=labels)
    assert str(caught.value).startswith(f"{path}, line ")


def test_files_that_cannot_be_read(tmp_path, write):
    with pytest.raises(MissingFile, match="no such file"):
        read_labels(str(tmp_path / "none.txt"), 4)
    with pytest.raises(FileReadError, match="is a directory"):
        read_labels(str(tmp_path), 4)
    place = tmp_path / "bytes.txt"
    place.write_bytes(b"1 2 \xff\xfe\n")
    with pytest.raises(FileFormatError, match="is no text"):
        read_labels(str(place), 4)
