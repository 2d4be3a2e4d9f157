"""Text and HTML of objects: the facts, the right cells, no more work than what is shown."""

from __future__ import annotations

import numpy as np
import pytest

import semira as gb
from semira.base.dtypes import INT64
from semira.base.errors import RecordError
from semira.formats import VectorArrays
from semira.frontend.display import object_html
from semira.frontend.grid import matrix_grid, vector_grid
from semira.frontend.reading import matrix_arrays

VALUES = [1.0, 4.0, 2.0]


@pytest.fixture
def A():
    return gb.Matrix.from_coo([0, 0, 1], [1, 2, 2], VALUES, nrows=3, ncols=3, name="A")


@pytest.fixture
def v():
    return gb.Vector.from_coo([0, 2], [0, 7], size=4, name="v")


def lines(item):
    return repr(item).split("\n")


def test_matrix(A):
    assert lines(A) == [
        '"A"        nvals  nrows  ncols  dtype  format',
        "gb.Matrix      3      3      3   FP64     csr",
        "-" * 45,
        "   0    1    2",
        "0     1.0  4.0",
        "1          2.0",
        "2",
    ]


def test_transpose(A):
    assert lines(A.T)[:2] == [
        '"A.T"                nvals  nrows  ncols  dtype  format',
        "gb.TransposedMatrix      3      3      3   FP64     csc",
    ]
    assert lines(A.T)[4:] == ["0", "1  1.0", "2  4.0  2.0"]


def test_vector(v):
    assert lines(v) == [
        '"v"        nvals  size  dtype  format',
        "gb.Vector      2     4  INT64  sparse",
        "-" * 37,
        "index  0  1  2  3",
        "value  0     7",
    ]


def test_scalars():
    full, empty = gb.Scalar.from_value(3, name="s"), gb.Scalar(float, name="t")
    assert lines(full) == ['"s"        value  dtype', "gb.Scalar      3  INT64"]
    assert lines(empty) == ['"t"        value  dtype', "gb.Scalar  empty   FP64"]


@pytest.mark.parametrize(
    ("mask_of", "kind", "row"),
    [
        (lambda v: v.S, "StructuralMask", "value  1     1"),
        (lambda v: v.V, "ValueMask", "value  0     1"),
        (lambda v: ~v.S, "ComplementedStructuralMask", "value  0     0"),
        (lambda v: ~v.V, "ComplementedValueMask", "value  1     0"),
    ],
)
def test_masks(v, mask_of, kind, row):
    shown = lines(mask_of(v))
    assert shown[0].startswith(f'"{mask_of(v).name}"')
    assert shown[1] == kind
    assert shown[2].startswith("of gb.Vector ")
    assert shown[-1] == row
    assert kind in object_html(mask_of(v))


def test_expressions_show_their_values(A, v):
    shown = lines(A @ A)
    assert shown[0].startswith('"mxm(A, A, semiring.plus_times[FP64])"')
    assert shown[1].startswith("gb.MatrixExpression ")
    assert shown[4:] == ["0        2.0", "1", "2"]
    assert "apply(v, 3, binary.plus[INT64])" in repr(v.apply(gb.binary.plus, right=3))
    assert lines(A.reduce_scalar())[1].split() == ["gb.ScalarExpression", "7.0", "FP64"]


def test_long_expressions_have_a_line_of_their_own(A):
    shown = lines(A.reduce_rowwise(gb.agg.mean))
    assert shown[0].startswith('"ewise_mult(reduce_rows(A')
    assert shown[1].split() == ["nvals", "size", "dtype", "format"]
    assert shown[-1] == "value  2.5  2.0"


def test_expressions_that_may_not_be_computed_say_why(A, v):
    with gb.config.set(autocompute=False):
        assert "not computed: autocompute is off" in lines(A @ A)[-1]
        assert "nrows" in repr(A @ A)
        assert "not computed" in (v.apply(gb.unary.ainv))._repr_html_()
    assert "not computed: Bad dtypes" in repr(v | v)


def test_nothing_is_printed_while_recording(v):
    def step():
        repr(v)
        return v.nvals > 9

    with pytest.raises(RecordError, match="printing a Vector"):
        gb.repeat(step)


def test_html_is_escaped():
    named = gb.Vector.from_coo([0], [1], name="<script>&")
    assert "<script>" not in named._repr_html_()
    assert "&lt;script&gt;&amp;" in named._repr_html_()


def test_html_has_every_cell(A):
    shown = A._repr_html_()
    assert shown.count("<table>") == shown.count("</table>") == 2
    for cell in ("nvals", "<td>FP64</td>", "<td>1.0</td>", "<td>4.0</td>", "<th>2</th>"):
        assert cell in shown
    assert gb.Scalar.from_value(3)._repr_html_().count("<table>") == 1


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_no_positions(shape):
    assert len(lines(gb.Matrix(int, *shape))) == 2
    assert gb.Matrix(int, *shape)._repr_html_().count("<table>") == 1
    assert len(lines(gb.Vector(int, 0))) == 2


def test_iso_and_storage_are_named():
    assert "sparse (iso)" in repr(gb.Vector.from_coo([1], 2.5, size=3))
    assert "full" in repr(gb.Vector.from_dense([1, 2]))


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.1, "0.1"), (1 / 3, "0.333333"), (1e20, "1e+20"), (float("nan"), "nan"), (True, "True")],
)
def test_values_are_short(value, text):
    assert lines(gb.Vector.from_dense([value]))[-1].split() == ["value", text]


def test_narrow_floats_show_their_own_digits():
    assert lines(gb.Vector.from_coo([0], [0.1], dtype="FP32"))[-1].split() == ["value", "0.1"]


def test_updaters(A, v):
    chosen = v(~v.S, accum=gb.binary.plus, replace=True)
    assert repr(chosen) == "gb.Updater v(~v.S, accum=binary.plus, replace=True)"
    assert repr(A()) == "gb.Updater A()"
    assert repr(A(accum="min")[0, :]).startswith("gb.Assigner A[...](accum=")


# ------------------------------------------------------------------------ large objects


def test_large_matrix_shows_first_and_last_entries():
    n = 1000
    band = gb.Matrix.from_coo(range(1, n), range(n - 1), 1.0, nrows=n, ncols=n)
    with gb.config.set(max_rows=4, max_columns=4):
        shown = lines(band)
    assert shown[3].split() == ["0", "1", "...", "997", "998"]
    assert [line.split()[0] for line in shown[4:9]] == ["1", "2", "...", "998", "999"]
    assert shown[4].split() == ["1", "1.0", "..."]
    assert shown[-1] == "4 of 1000 rows and 4 of 1000 columns shown"


def test_large_vectors_of_every_storage():
    size = 20_000
    present = np.zeros(size, bool)
    present[[5, 9_000, 9_001, 15_000, 19_999]] = True
    values = np.arange(size)
    bitmap = VectorArrays(size, INT64, "bitmap", values, None, present, 5)
    indices = np.flatnonzero(present)
    sparse = VectorArrays.sparse(size, INT64, indices, values[indices])
    for arrays in (bitmap, sparse):
        grid = vector_grid(arrays, 4)
        assert grid.cols == [5, 9_000, 15_000, 19_999]
        assert [grid.values[0, col] for col in grid.cols] == grid.cols
    full = vector_grid(VectorArrays.full(INT64, values), 3)
    assert full.cols == [0, 1, 19_999]


@pytest.mark.parametrize("orientation", ["csr", "csc"])
@pytest.mark.parametrize("seed", range(6))
def test_grid_holds_what_the_matrix_holds(orientation, seed):
    rng = np.random.default_rng(seed)
    nrows, ncols, count = rng.integers(1, 60, 3)
    rows, cols = rng.integers(0, nrows, count), rng.integers(0, ncols, count)
    matrix = gb.Matrix.from_coo(
        rows, cols, rng.random(count), nrows=nrows, ncols=ncols, dup_op="max"
    )
    arrays = matrix_arrays(matrix, "test")
    if orientation == "csc":
        matrix, arrays = matrix.T, arrays.flipped()
    for limits in [(6, 6), (3, 100), (100, 5)]:
        grid = matrix_grid(arrays, *limits)
        assert len(grid.rows) <= limits[0]
        assert len(grid.cols) <= limits[1]
        assert grid.rows == sorted(set(grid.rows))
        assert grid.cols == sorted(set(grid.cols))
        for i in grid.rows:
            for j in grid.cols:
                assert grid.values.get((i, j)) == matrix.get(i, j)
        if limits[0] == 100:
            assert grid.rows == list(range(matrix.nrows))


def test_huge_shapes():
    huge = 2**60
    A = gb.Matrix.from_coo([3, huge - 1], [huge - 2, 0], [1, 2], nrows=huge, ncols=huge)
    shown = lines(A)
    assert shown[3].split() == ["0", "...", str(huge - 2)]
    assert shown[4].split()[0] == "3"
    assert str(huge - 1) in shown[6]
    assert repr(gb.Vector(int, huge)).endswith(f"6 of {huge} positions shown")
    assert repr(gb.Matrix(bool, huge, 2)).endswith("2 of 2 columns shown")


def test_width_is_kept():
    wide = gb.Vector.from_dense(np.arange(20) + 10**17)
    for limit in (60, 100):
        with gb.config.set(max_width=limit):
            shown = lines(wide)
        assert max(map(len, shown)) <= limit
        assert shown[-1].endswith("of 20 positions shown")


def test_a_single_wide_column_is_shown_anyway():
    with gb.config.set(max_width=20):
        assert "..." in repr(gb.Vector.from_dense([2**62, 2**62]))
