"""Features in files: the report's format, CSV with names, arrays, and what is wrong."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from tests.helpers.data import graph_path

from semira.apps.classification import files
from semira.exceptions import FileFormatError, FileReadError, MissingFile

NAMES = np.array(["a", "b", "c"], object)


@pytest.fixture
def write(tmp_path):
    def write(text, name="table.csv"):
        place = tmp_path / name
        place.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return str(place)

    return write


@pytest.mark.parametrize("name", ["a.csv", "a.txt.gz"])
@pytest.mark.parametrize("heading", ["", "3 3\n", "3 2\n", "# comment\n3 3\n", "id x y\n"])
def test_vertices_of_the_report(write, heading, name):
    path = write(f"{heading}0 1.5 2\n2 5 6\n1\t3 4e0\n", name)
    assert files.read_vertices(path, 3).tolist() == [[1.5, 2], [3, 4], [5, 6]]


def test_edges_of_the_report(write):
    path = write("3 3\n0 1 7.5\n2 0 8\n0 1 9\n")
    found = files.read_edges(path, 3)
    assert found.sources.tolist() == [0, 2, 0]
    assert found.targets.tolist() == [1, 0, 1]
    assert found.features.tolist() == [[7.5], [8], [9]]
    pattern = files.read_pattern_edges(path)
    assert pattern.targets.tolist() == [1, 0, 1]


def test_names_and_commas(write):
    path = write("name,x,y\nc,5,6\na,1,2\nb, 3, 4\n")
    assert files.read_vertices(path, 3, labels=NAMES).tolist() == [[1, 2], [3, 4], [5, 6]]
    edges = files.read_edges(write("from,to,x\nb,c,1\nc,a,2\n"), 3, labels=NAMES)
    assert (edges.sources.tolist(), edges.targets.tolist()) == ([1, 2], [2, 0])
    bare = files.read_edges(write("b,c\n"), 3, labels=NAMES)
    assert bare.features.shape == (1, 0)


def test_arrays(tmp_path):
    table = np.arange(6.0).reshape(3, 2)
    path = str(tmp_path / "table.npy")
    np.save(path, table)
    for read in (files.read_vertices, files.read_edges):
        assert np.array_equal(read(path, 3), table)
    assert np.array_equal(files.read_table(path), table)
    with pytest.raises(MissingFile, match=r"none\.npy: no such file"):
        files.read_table(str(tmp_path / "none.npy"))
    (tmp_path / "bad.npy").write_text("1 2")
    with pytest.raises(FileFormatError, match=r"bad\.npy is no array of NumPy"):
        files.read_table(str(tmp_path / "bad.npy"))


def test_nothing(write):
    assert files.read_pattern_edges(write("# nothing\n")).features.shape == (0, 0)


@pytest.mark.parametrize(
    ("text", "labels", "told"),
    [
        ("0 1\n1 2\n", None, "2 rows of features for 3 vertices: vertex 2 has none"),
        ("0 1\n1 2\n2 3\n2 4\n", None, "4 rows of features for 3 vertices: a vertex has two"),
        ("0 1\n1 2\n3 3\n", None, "3 is no vertex of 3 that count from 0"),
        ("0 1\n1 2\n-1 3\n", None, "-1 is no vertex"),
        ("0 1\n1 2\n0.5 3\n", None, "0.5 is no vertex"),
        ("4 3\n0 1 1\n1 2 1\n2 3 1\n", None, "first line has 4 rows, but 3 follow"),
        ("3 7\n0 1 1\n1 2 1\n2 3 1\n", None, "line 1: states 7 fields, but 3 follow"),
        ("0 1 1\n1 x 2\n", None, "could not convert string 'x'"),
        ("0 1 1\n1 2\n", None, "number of columns changed"),
        ("a 1\nb 2\nd 3\n", NAMES, "'d' is no vertex of the graph"),
    ],
)
def test_what_is_wrong_is_named(write, text, labels, told):
    with pytest.raises(FileFormatError, match=told):
        files.read_vertices(write(text), 3, labels=labels)


def test_files_that_cannot_be_read(write, tmp_path):
    with pytest.raises(MissingFile, match="no such file"):
        files.read_vertices(str(tmp_path / "none"), 3)
    with pytest.raises(FileReadError, match="is a directory"):
        files.read_vertices(str(tmp_path), 3)
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\xff 1\n")
    with pytest.raises(FileFormatError, match="is no text"):
        files.read_vertices(str(tmp_path / "bytes"), 3)
    with pytest.raises(FileFormatError, match="ids of the pattern must be 0, 1, 2"):
        files.read_table(write("1 2\n0 3\n"))


def test_files_of_the_report():
    folder = graph_path("chesapeake").parent / "ref" / "application-classification"
    if not folder.is_dir():
        pytest.skip(f"{folder} is absent")
    assert files.read_vertices(str(folder / "georgiyData.Vertex.csv"), 1000).shape == (1000, 13)
    assert files.read_table(str(folder / "georgiyPattern.Vertex.csv")).shape == (10, 13)
    edges = files.read_pattern_edges(str(folder / "georgiyPattern.Edges.csv"))
    assert edges.features.shape == (21, 17)
    assert (edges.sources[0], edges.targets[0], edges.features[0, -1]) == (0, 9, 24.0)
