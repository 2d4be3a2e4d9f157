"""``io.write``: what the writers of files do not see."""

from __future__ import annotations

import io

import numpy as np
import pytest

import semira as gb
from semira.base.errors import DimensionMismatch, DomainMismatch, InvalidValue

A = gb.Matrix.from_coo([0, 1], [1, 0], [2, 3], nrows=2, ncols=2)
NAMES = np.array(["ann", "bob"], object)


def test_labels_of_a_matrix_name_its_rows_and_columns():
    out = io.BytesIO()
    gb.io.write(out, A, format="csv", labels=NAMES)
    assert out.getvalue().decode().split() == [
        "source,target,weight", '"ann","bob",2', '"bob","ann",3',
    ]  # fmt: skip
    with pytest.raises(DimensionMismatch, match="2 labels for a matrix of shape 1 x 2"):
        gb.io.write(out, A[:1, :].new(), format="mtx", labels=NAMES)


def test_vectors_by_name_have_a_column_each():
    out = io.BytesIO()
    low, high = gb.Vector.from_dense([1, 2]), gb.Vector.from_dense([3, 4])
    gb.io.write(out, {"low": low, "high": high}, format="csv", labels=NAMES)
    assert out.getvalue().decode().split() == [
        "index,low,high,label", '0,1,3,"ann"', '1,2,4,"bob"',
    ]  # fmt: skip


def test_what_is_neither_is_refused():
    with pytest.raises(DomainMismatch, match="got int"):
        gb.io.write(io.BytesIO(), 3, format="csv")


def test_a_dict_of_what_is_no_vector_is_refused(tmp_path):
    with pytest.raises(DomainMismatch, match="got list as 'rank'"):
        gb.io.write(tmp_path / "x.csv", {"rank": [1, 2]})


@pytest.mark.parametrize("place", [None, 3, ["x.mtx"]])
def test_what_is_no_place_is_refused(place):
    with pytest.raises(
        DomainMismatch, match=f"a path or a binary stream, got {type(place).__name__}"
    ):
        gb.io.write(place, gb.Matrix(int, 2, 2))


def test_paths_may_be_bytes(tmp_path):
    matrix = gb.Matrix.from_coo([0], [1], [5], nrows=2, ncols=2)
    path = bytes(tmp_path / "x.mtx")
    gb.io.write(path, matrix)
    assert gb.io.read(path).isequal(matrix)


# ------------------------------------------------------------------------ graphs and results

CITIES = gb.io.Graph.from_edges(
    ["Bern", "Bern", "Thun"], ["Thun", "Basel", "Brig"], [30, 95, 60], name="cities"
)


def written(obj, format: str = "csv") -> list[str]:
    out = io.BytesIO()
    gb.io.write(out, obj, format=format)
    return out.getvalue().decode().splitlines()


def test_a_graph_goes_to_a_file_and_back_with_its_names(tmp_path):
    for suffix in ("csv", "npz"):
        path = tmp_path / f"cities.{suffix}"
        gb.io.write(path, CITIES)
        back = gb.io.read_graph(path)
        assert back.labels.tolist() == CITIES.labels.tolist()
        assert back.matrix.isequal(CITIES.matrix)


def test_the_names_come_first_in_a_result():
    found = gb.algorithms.sssp(CITIES, "Bern", predecessors=True)
    assert written(found) == [
        "vertex,distance,predecessor",
        '"Bern",0.0,"Bern"',
        '"Thun",30.0,"Bern"',
        '"Basel",95.0,"Bern"',
        '"Brig",90.0,"Thun"',
    ]
    without = gb.algorithms.bfs(CITIES.matrix, 1)
    assert written(without) == ["vertex,level", "1,0", "3,1"]


def test_a_result_is_what_pandas_reads(tmp_path):
    pandas = pytest.importorskip("pandas")
    found = gb.algorithms.hits(CITIES)
    gb.io.write(tmp_path / "hits.csv.gz", found)
    back = pandas.read_csv(tmp_path / "hits.csv.gz", index_col="vertex")
    pandas.testing.assert_frame_equal(back, found.to_pandas())


def test_a_result_goes_to_npz_as_vectors_do(tmp_path):
    gb.io.write(tmp_path / "x.npz", gb.algorithms.bfs(CITIES, "Bern", parents=True))
    with np.load(tmp_path / "x.npz") as members:
        assert {name: members[name].tolist() for name in members.files} == {
            "size": 4,
            "indices": [0, 1, 2, 3],
            "level": [0, 1, 1, 2],
            "parent": [0, 0, 0, 1],
            "labels": ["Bern", "Thun", "Basel", "Brig"],
        }


def test_a_square_matrix_of_a_result_is_a_graph_again(tmp_path):
    found = gb.algorithms.minimum_spanning_forest(CITIES)
    gb.io.write(tmp_path / "forest.csv", found)
    back = gb.io.read_graph(tmp_path / "forest.csv")
    assert {
        (back.name(int(i)), back.name(int(j))): int(value)
        for i, j, value in zip(*back.matrix.to_coo(), strict=True)
    } == {("Thun", "Bern"): 30, ("Basel", "Bern"): 95, ("Brig", "Thun"): 60}


def test_rows_of_several_searches_are_named_by_their_sources():
    found = gb.algorithms.multi_source_bfs(CITIES, ["Thun", "Basel"])
    assert written(found) == [
        "row,col,value",
        '"Thun","Thun",0',
        '"Thun","Brig",1',
        '"Basel","Basel",0',
    ]
    # As many searches as vertices, in another order: square, and no graph.
    every = gb.algorithms.multi_source_bfs(CITIES, ["Brig", "Thun", "Bern", "Basel"])
    assert written(every)[1] == '"Brig","Brig",0'
    assert written(every, "mtx")[0].startswith("%%MatrixMarket")


def test_coordinates_are_columns():
    found = gb.algorithms.spectral_embedding(CITIES)
    head, first, *_ = written(found)
    assert head == "vertex,0,1"
    values = [float(each) for each in first.split(",")[1:]]
    assert first.startswith('"Bern",')
    assert values == list(found.to_dict()["Bern"].values())


def test_what_does_not_go_into_a_file_is_refused(tmp_path):
    with pytest.raises(InvalidValue, match="its answer is count = 0"):
        gb.io.write(tmp_path / "x.csv", gb.algorithms.triangle_count(CITIES))
    ranks = gb.algorithms.pagerank(CITIES)
    with pytest.raises(InvalidValue, match="no vector format; choose one of csv, npz"):
        gb.io.write(tmp_path / "x.mtx", ranks)
    for obj in (ranks, CITIES):
        with pytest.raises(InvalidValue, match=f"labels= beside a {type(obj).__name__}"):
            gb.io.write(tmp_path / "x.csv", obj, labels=CITIES.labels)
    assert [*tmp_path.iterdir()] == []
