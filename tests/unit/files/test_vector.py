"""Results written as csv and npz."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from semira.base.dtypes import BOOL, FP64, INT64
from semira.base.errors import DimensionMismatch, FileWriteError, InvalidValue
from semira.files import write_vector
from semira.formats import VectorArrays

SPARSE = VectorArrays.sparse(4, FP64, np.int32([1, 3]), np.array([0.1, np.inf]))


def written(vector, **options) -> str:
    out = io.BytesIO()
    write_vector(out, vector, **options)
    return out.getvalue().decode()


def test_write_csv_lists_the_entries():
    assert written(SPARSE, format="csv") == "index,value\n1,0.1\n3,inf\n"


@pytest.mark.parametrize(
    "vector",
    [
        VectorArrays(3, INT64, "bitmap", np.array([5, 6, 7]), present=np.array([True, False, True]),
                     nvals=2),
        VectorArrays.sparse(3, INT64, np.int32([0, 2]), np.array([5, 7])),
    ],
)  # fmt: skip
def test_write_csv_of_every_storage(vector):
    assert written(vector, format="csv") == "index,value\n0,5\n2,7\n"


def test_write_csv_of_bool_iso_and_full():
    iso = VectorArrays.sparse(3, BOOL, np.int32([0, 2]), np.array([True]), iso=True)
    assert written(iso, format="csv") == "index,value\n0,1\n2,1\n"
    assert written(VectorArrays.full(INT64, np.array([9])), format="csv") == "index,value\n0,9\n"
    assert written(VectorArrays.empty(5, INT64), format="csv") == "index,value\n"


def test_write_csv_with_labels_is_quoted():
    labels = np.array(["a", "b, c", "d", 'e"f'], object)
    text = written(SPARSE, format="csv", labels=labels)
    assert list(csv.reader(io.StringIO(text))) == [
        ["index", "value", "label"], ["1", "0.1", "b, c"], ["3", "inf", 'e"f'],
    ]  # fmt: skip


def test_write_csv_in_several_chunks_has_every_row():
    values = np.arange(150_000)
    lines = written(VectorArrays.full(INT64, values), format="csv").splitlines()
    assert len(lines) == 150_001
    assert lines[-1] == "149999,149999"
    assert lines[65_537] == "65536,65536"


def test_write_npz_holds_the_arrays(tmp_path):
    path = tmp_path / "result.npz"
    write_vector(path, SPARSE, labels=np.array(["a", "b", "c", "d"], object))
    with np.load(path) as members:
        assert int(members["size"]) == 4
        assert members["indices"].tolist() == [1, 3]
        assert members["values"].tolist() == [0.1, np.inf]
        assert members["labels"].tolist() == ["a", "b", "c", "d"]


def test_several_vectors_have_a_column_each(tmp_path):
    both = {
        "low": SPARSE,
        "high": VectorArrays.sparse(4, INT64, np.int32([1, 3]), np.array([5, 7])),
    }
    assert written(both, format="csv") == "index,low,high\n1,0.1,5\n3,inf,7\n"
    write_vector(tmp_path / "both.npz", both)
    with np.load(tmp_path / "both.npz") as members:
        assert set(members) == {"size", "indices", "low", "high"}
        assert members["high"].tolist() == [5, 7]
    with pytest.raises(InvalidValue, match="low, high have different entries"):
        written({"low": SPARSE, "high": VectorArrays.empty(4, INT64)}, format="csv")


def test_write_wrong_labels_formats_and_places_are_refused(tmp_path):
    with pytest.raises(DimensionMismatch, match="1 labels for a vector of size 4"):
        write_vector(tmp_path / "r.csv", SPARSE, labels=np.array(["a"]))
    with pytest.raises(InvalidValue, match="choose one of csv, npz"):
        write_vector(tmp_path / "r.mtx", SPARSE)
    with pytest.raises(FileWriteError, match="does not exist"):
        write_vector(tmp_path / "no" / "r.csv", SPARSE)
    assert list(tmp_path.iterdir()) == []
