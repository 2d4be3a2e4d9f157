"""Other libraries in and out: round trips, what they cannot hold, what is not installed."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import semira as gb
from semira.base.errors import DomainMismatch, InvalidValue, MissingLibrary

DTYPES = ("INT16", "FP32", "BOOL", "UINT64", "FP64")


def matrix(dtype="INT64"):
    return gb.Matrix.from_coo([0, 0, 3, 5], [1, 4, 0, 2], [1, 0, 2, 1], nrows=7, ncols=6).dup(dtype)


def vector(dtype="INT64"):
    return gb.Vector.from_coo([1, 3, 5], [20, 0, 5], size=22).dup(dtype)


EMPTY = (gb.Matrix(float, 3, 2), gb.Vector(int, 4))


@pytest.mark.parametrize("dtype", DTYPES)
class TestRoundTrips:
    def test_awkward_matrix(self, dtype):
        pytest.importorskip("awkward")
        for name in ("csr", "csc", "hypercsr", "hypercsc", "CSR"):
            made = gb.io.to_awkward(matrix(dtype), name)
            found = gb.io.from_awkward(made, name="B")
            assert found.isequal(matrix(dtype), check_dtype=True), name

    def test_awkward_vector(self, dtype):
        pytest.importorskip("awkward")
        made = gb.io.to_awkward(vector(dtype))
        assert gb.io.from_awkward(made).isequal(vector(dtype), check_dtype=True)

    @pytest.mark.parametrize("format", ["coo", "dok", "gcxs"])
    def test_pydata_sparse(self, dtype, format):
        sparse = pytest.importorskip("sparse")
        made = gb.io.to_pydata_sparse(matrix(dtype), format)
        assert isinstance(made, sparse.SparseArray)
        np.testing.assert_array_equal(made.todense(), matrix(dtype).to_dense(0))
        if format != "dok":  # which leaves explicit zeros out
            assert gb.io.from_pydata_sparse(made).isequal(matrix(dtype), check_dtype=True)

    def test_pydata_sparse_vector(self, dtype):
        pytest.importorskip("sparse")
        made = gb.io.to_pydata_sparse(vector(dtype))
        assert gb.io.from_pydata_sparse(made).isequal(vector(dtype), check_dtype=True)

    def test_arrow(self, dtype):
        pytest.importorskip("pyarrow")
        table = gb.io.to_arrow(matrix(dtype))
        assert table.column_names == ["row", "col", "value"]
        square = gb.io.from_arrow(table, "row", "col", "value", size=7)
        expected = matrix(dtype)
        expected.resize(7, 7)
        assert square.isequal(expected, check_dtype=True)

    def test_dlpack(self, dtype):
        full = gb.Vector.from_dense(np.array([3, 0, 1]), dtype=dtype)
        assert gb.io.from_dlpack(full).isequal(full, check_dtype=True)
        assert gb.io.from_dlpack(gb.io.to_dlpack(matrix(dtype), 0), 0).isequal(
            matrix(dtype).select("valuene", 0).new(), check_dtype=True
        )


@pytest.mark.parametrize("empty", EMPTY)
def test_objects_without_entries(empty):
    pytest.importorskip("awkward")
    pytest.importorskip("sparse")
    assert gb.io.from_awkward(gb.io.to_awkward(empty)).isequal(empty, check_dtype=True)
    assert gb.io.from_pydata_sparse(gb.io.to_pydata_sparse(empty)).isequal(empty)


def test_transposes():
    pytest.importorskip("awkward")
    pytest.importorskip("sparse")
    A = matrix()
    assert gb.io.from_awkward(gb.io.to_awkward(A.T)).isequal(A.T.new())
    assert gb.io.from_pydata_sparse(gb.io.to_pydata_sparse(A.T)).isequal(A.T.new())


def test_awkward_errors():
    ak = pytest.importorskip("awkward")
    with pytest.raises(InvalidValue, match="Missing parameters: format, shape"):
        gb.io.from_awkward(ak.Array([1, 2, 3]))
    wrong = ak.with_parameter(gb.io.to_awkward(vector()), "format", "csr")
    with pytest.raises(InvalidValue, match="Invalid format for Vector: 'csr'"):
        gb.io.from_awkward(wrong)
    wrong = ak.with_parameter(gb.io.to_awkward(matrix()), "format", "dcsr")
    with pytest.raises(InvalidValue, match="Invalid format for Matrix: 'dcsr'"):
        gb.io.from_awkward(wrong)
    with pytest.raises(InvalidValue, match="Invalid format for Vector"):
        gb.io.to_awkward(vector(), "csr")
    with pytest.raises(DomainMismatch):
        gb.io.to_awkward(gb.Scalar.from_value(5))


def test_pydata_sparse_errors():
    sparse = pytest.importorskip("sparse")
    with pytest.raises(DomainMismatch, match="3 dimensions"):
        gb.io.from_pydata_sparse(sparse.zeros((2, 2, 2)))
    with pytest.raises(DomainMismatch, match="got ndarray"):
        gb.io.from_pydata_sparse(np.zeros(3))
    with pytest.raises(InvalidValue, match="Invalid format: 'csr'"):
        gb.io.to_pydata_sparse(matrix(), "csr")
    with pytest.raises(DomainMismatch):
        gb.io.to_pydata_sparse(gb.Scalar.from_value(5))


def test_arrow_errors():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"source": [0, None], "target": [1, 2], "name": ["a", "b"]})
    with pytest.raises(InvalidValue, match="'source' has 1 gaps"):
        gb.io.from_arrow(table)
    with pytest.raises(InvalidValue, match="no column 'weight'; its columns are source"):
        gb.io.from_arrow(table.drop_null(), weight="weight")
    with pytest.raises(InvalidValue, match="must be integers"):
        gb.io.from_arrow(table.drop_null(), source="name")


def test_arrow_without_weights_and_with_repeats():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"source": [0, 0, 2], "target": [1, 1, 0], "km": [1.0, 2.0, 3.0]})
    assert gb.io.from_arrow(table).to_dicts() == {0: {1: 1.0}, 2: {0: 1.0}}
    weighted = gb.io.from_arrow(table, weight="km", dup_op="plus")
    assert weighted.to_dicts() == {0: {1: 3.0}, 2: {0: 3.0}}
    assert gb.io.to_arrow(vector()).to_pydict() == {"index": [1, 3, 5], "value": [20, 0, 5]}


def test_pandas_refuses_names_as_vertices():
    pd = pytest.importorskip("pandas")
    with pytest.raises(InvalidValue, match="number the vertices first"):
        gb.io.from_pandas(pd.DataFrame({"source": ["a"], "target": ["b"]}))


# ------------------------------------------------------------------------------- DLPack


def test_full_objects_are_read_by_other_libraries():
    values = np.array([[1.5, 2.0], [3.0, 4.0]])
    array = np.from_dlpack(gb.Matrix.from_dense(values))
    np.testing.assert_array_equal(array, values)
    assert gb.Vector.from_dense([1]).__dlpack_device__() == (1, 0)


def test_the_other_library_gets_a_copy():
    v = gb.Vector.from_dense([1, 2])
    np.from_dlpack(gb.io.to_dlpack(v))[0] = 9
    assert v.to_dense().tolist() == [1, 2]


def test_gaps_need_a_fill_value():
    with pytest.raises(BufferError, match="3 entries at 22 positions"):
        np.from_dlpack(vector())
    with pytest.raises(TypeError, match="fill_value"):
        gb.io.to_dlpack(vector())
    assert gb.io.to_dlpack(vector(), -1).sum() == 25 - 19


@pytest.mark.parametrize(("dtype", "fill"), [("INT64", 0.5), ("UINT64", -1), ("BOOL", 2)])
def test_fill_values_must_fit(dtype, fill):
    with pytest.raises(InvalidValue, match=f"{dtype} cannot hold fill_value={fill}"):
        gb.io.to_dlpack(vector(dtype), fill)
    assert gb.io.to_dlpack(vector(dtype), fill, dtype=float)[0] == fill


@pytest.mark.parametrize("fill", ["x", [1]])
def test_what_is_no_number_fills_nothing(fill):
    with pytest.raises(DomainMismatch, match=r"fill_value=.* is no number"):
        gb.io.to_dlpack(vector(), fill)


def test_nan_fills_floats_only():
    assert np.isnan(gb.io.to_dlpack(vector("FP32"), float("nan"))[0])
    with pytest.raises(InvalidValue, match="cannot hold fill_value=nan"):
        gb.io.to_dlpack(vector(), float("nan"))


class OnDevice:
    """A tensor that only its own library can copy to the host."""

    def __init__(self, *, copies: bool) -> None:
        self._copies = copies

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, *, dl_device=None, copy=None, **options):
        if dl_device == (1, 0) and self._copies:
            return np.arange(3).__dlpack__(**options)
        raise BufferError("device")


def test_tensors_on_a_device():
    with pytest.raises(InvalidValue, match=r"copy it to the host first.*\.cpu\(\)"):
        gb.io.from_dlpack(OnDevice(copies=False))


def test_what_does_not_speak_dlpack():
    with pytest.raises(DomainMismatch, match="list has no __dlpack__"):
        gb.io.from_dlpack([1, 2])
    with pytest.raises(DomainMismatch, match="3 dimensions"):
        gb.io.from_dlpack(np.zeros((2, 2, 2)))
    with pytest.raises(DomainMismatch):
        gb.io.to_dlpack(gb.Scalar.from_value(1))


# ------------------------------------------------------------------- what is not installed


@pytest.mark.parametrize(
    ("library", "call"),
    [
        ("awkward", lambda: gb.io.to_awkward(vector())),
        ("sparse", lambda: gb.io.to_pydata_sparse(vector())),
        ("pyarrow", lambda: gb.io.to_arrow(vector())),
        ("pandas", lambda: gb.io.to_pandas(vector())),
        ("networkx", lambda: gb.io.to_networkx(matrix())),
    ],
)
def test_missing_libraries_name_the_extra(monkeypatch, library, call):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingLibrary, match=rf"needs {library}.*pip install 'semira\["):
        call()


# --------------------------------------------------------------------- NetworkX, pandas


def test_networkx_there_and_back():
    nx = pytest.importorskip("networkx")
    A = gb.Matrix.from_coo([0, 2], [1, 0], [1.5, 2.5], nrows=3, ncols=3)
    graph = gb.io.to_networkx(A, "km")
    assert sorted(graph.nodes) == [0, 1, 2]
    assert graph[2][0]["km"] == 2.5
    assert gb.io.from_networkx(graph, weight="km", name="B").isequal(A)
    assert gb.io.to_networkx(A, None).edges[0, 1] == {}
    named = nx.Graph([("a", "b")])
    swapped = gb.io.from_networkx(named, nodelist=["b", "a"], dtype="INT8")
    assert swapped.to_dicts() == {0: {1: 1}, 1: {0: 1}}
    assert swapped.dtype == "INT8"
    # Without weights there is one value to store.
    assert gb.io.from_networkx(named).ss.is_iso
    assert not A.ss.is_iso


def test_pandas_there_and_back():
    pd = pytest.importorskip("pandas")
    A = gb.Matrix.from_coo([0, 2], [1, 0], [1.5, 2.5], nrows=3, ncols=3)
    frame = gb.io.to_pandas(A)
    assert gb.io.from_pandas(frame, "row", "col", "value").isequal(A)
    assert gb.io.from_pandas(pd.DataFrame({"source": [], "target": []}, dtype=int)).shape == (0, 0)
    assert gb.io.to_pandas(vector())["value"].tolist() == [20, 0, 5]
