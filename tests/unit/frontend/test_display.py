"""Text and HTML of objects: the facts, the right cells, as python-graphblas lays them out."""

from __future__ import annotations

import numpy as np
import pytest

import semira as gb
from semira.base.dtypes import INT64
from semira.base.errors import RecordError
from semira.formats import VectorArrays
from semira.frontend.display import object_html
from semira.frontend.layout import ends, first_entries, matrix_grid, vector_grid
from semira.frontend.reading import matrix_arrays

VALUES = [1.0, 4.0, 2.0]


@pytest.fixture
def A():
    return gb.Matrix.from_coo([0, 0, 1], [1, 2, 2], VALUES, nrows=3, ncols=3, name="A")


@pytest.fixture
def v():
    return gb.Vector.from_coo([0, 2], [0, 7], size=4, name="v")


def lines(item):
    return [line.rstrip() for line in repr(item).split("\n")]


def test_matrix(A):
    assert lines(A) == [
        '"A"        nvals  nrows  ncols  dtype  format',
        "gb.Matrix      3      3      3   FP64     csr",
        "-" * 45,
        "  0    1    2",
        "0    1.0  4.0",
        "1         2.0",
        "2",
    ]


def test_transpose(A):
    assert lines(A.T)[:2] == [
        '"A.T"                nvals  nrows  ncols  dtype  format',
        "gb.TransposedMatrix      3      3      3   FP64     csc",
    ]
    assert lines(A.T)[4:] == ["0", "1  1.0", "2  4.0  2.0"]


def test_vector(v):
    assert repr(v).split("\n") == [
        '"v"        nvals  size  dtype  format',
        "gb.Vector      2     4  INT64  sparse",
        "-" * 37,
        "index  0 1  2 3",
        "value  0    7  ",
    ]


def test_scalars():
    full, empty = gb.Scalar.from_value(3, name="s"), gb.Scalar(float, name="t")
    assert lines(full) == ['"s"        value  dtype', "gb.Scalar      3  INT64"]
    assert lines(empty) == ['"t"        value  dtype', "gb.Scalar   None   FP64"]


@pytest.mark.parametrize(
    ("mask_of", "kind", "row"),
    [
        (lambda v: v.S, "StructuralMask", "value  1    1"),
        (lambda v: v.V, "ValueMask", "value  0    1"),
        (lambda v: ~v.S, "ComplementedStructuralMask", "value  0    0"),
        (lambda v: ~v.V, "ComplementedValueMask", "value  1    0"),
    ],
)
def test_masks(v, mask_of, kind, row):
    shown = lines(mask_of(v))
    assert shown[0].startswith(f'"{mask_of(v).name}"')
    assert shown[1] == kind
    assert shown[2].startswith("of gb.Vector ")
    assert shown[-1] == row
    assert kind in object_html(mask_of(v))


# -------------------------------------------------------------------------- expressions


def test_infix_expressions_show_their_values_and_what_to_do(A):
    assert lines(A @ A) == [
        "gb.MatrixMatMulExpr  nrows  ncols  left_dtype  right_dtype",
        "A @ A                    3      3        FP64         FP64",
        "",
        '"Result"   nvals  nrows  ncols  dtype',
        "gb.Matrix      1      3      3   FP64",
        "-" * 37,
        "  0 1    2",
        "0      2.0",
        "1",
        "2",
        "",
        "Do op(expr) to create a MatrixExpression for mxm.",
        "For example: plus_times(A @ A)",
    ]


def test_indexed_expressions_can_be_written(v):
    with gb.config.set(autocompute=False):
        assert lines(v[1:3]) == [
            "gb.VectorIndexExpr  size  dtype",
            "v[1:3]                 2  INT64",
            "",
            "This expression may be used to extract or assign a Vector.",
            "Example extract: v[1:3].new()",
            "Example assign: v[1:3] << v",
        ]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda A, v: A.mxm(A), "A.mxm(A, op=semiring.plus_times[FP64])"),
        (lambda A, v: v.apply("plus", right=3), "v.apply(binary.plus[INT64], right=3)"),
        (lambda A, v: v.apply("minus", left=3), "v.apply(binary.minus[INT64], left=3)"),
        (lambda A, v: v.select(">", 1), "v.select(select.valuegt[INT64], thunk=1)"),
        (lambda A, v: A.reduce_scalar(), "A.reduce_scalar(monoid.plus[FP64])"),
        (lambda A, v: A.reduce_rowwise(), "A.reduce_rowwise(monoid.plus[FP64])"),
        (lambda A, v: A.reduce_columnwise(), "A.reduce_columnwise(monoid.plus[FP64])"),
        (lambda A, v: v.inner(v), "v.inner(v, op=semiring.plus_times[INT64])"),
        (lambda A, v: v.outer(v), "v.outer(v, op=semiring.any_times[INT64])"),
        (lambda A, v: A.power(2), "A.power(2, op=semiring.plus_times[FP64])"),
        (lambda A, v: A + A.T, "A.ewise_add(A.T, op=monoid.plus[FP64])"),
        (lambda A, v: (v | v) | v, "v | v | v"),
        (lambda A, v: v @ v, "v @ v"),
        (lambda A, v: v[::-1], "v[::-1]"),
        (lambda A, v: A[[0, 2], 1], "A[[0, 2], 1]"),
        (lambda A, v: A[:, [0] * 9], "A[:, [0, 0, 0, ...]]"),
    ],
)
def test_expressions_as_they_are_written(A, v, make, text):
    assert lines(make(A, v))[1].startswith(f"{text}  ")


def test_expressions_that_may_not_be_computed_show_their_shape(A, v):
    with gb.config.set(autocompute=False):
        assert lines(A.mxm(A)) == [
            "gb.MatrixExpression                     nrows  ncols  dtype",
            "A.mxm(A, op=semiring.plus_times[FP64])      3      3   FP64",
            "",
            "Do expr.new() or other << expr to calculate the expression.",
        ]
        assert "Result" not in (v.apply(gb.unary.ainv))._repr_html_()
    # Without an operator there is nothing to compute, whatever the option says.
    assert "Result" not in repr(v | v)


def test_a_result_without_room_says_so():
    big = gb.Vector(int, 2**55)
    big[:] = 1
    few = gb.Vector.from_coo([5], 1, size=big.size)
    assert "Result is too large to compute!" in repr(big.ewise_add(few))
    assert "too large" in big.ewise_add(few)._repr_html_()


def test_nothing_is_printed_while_recording(v):
    def step():
        repr(v)
        return v.nvals > 9

    with pytest.raises(RecordError, match="printing a Vector"):
        gb.repeat(step)


# --------------------------------------------------------------------------------- HTML


def test_html_is_escaped():
    named = gb.Vector.from_coo([0], [1], name="<script>&")
    for shown in (named, named.S, named.apply("ainv"), named[0:1]):
        assert "<script>" not in shown._repr_html_()
        assert "&lt;script&gt;&amp;" in shown._repr_html_()


def test_html_has_every_cell(A):
    shown = A._repr_html_()
    assert shown.count("<table") == shown.count("</table>") == 2
    for cell in ("nvals", "<td>FP64</td>", "<td>1.0</td>", "<td>4.0</td>", "<th>2</th>"):
        assert cell in shown
    assert gb.Scalar.from_value(3)._repr_html_().count("<table") == 1


def test_html_lowers_what_follows_the_first_underscore():
    named = gb.Vector.from_coo([0], [1], name="v_a_b")
    assert "<tt>v<sub>a_b</sub></tt>" in named._repr_html_()
    assert "<tt>~v<sub>a_b</sub>.S</tt>" in (~named.S)._repr_html_()


# ------------------------------------------------------------------------------- values


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_no_positions(shape):
    assert len(lines(gb.Matrix(int, *shape))) == 3
    assert gb.Matrix(int, *shape)._repr_html_().count("<table") == 1
    assert len(lines(gb.Vector(int, 0))) == 3


def test_iso_and_storage_are_named():
    assert "sparse (iso)" in repr(gb.Vector.from_coo([1], 2.5, size=3))
    assert "full" in repr(gb.Vector.from_dense([1, 2]))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "0.1"), (1 / 3, "0.333333"), (1e20, "1e+20"), (1e-7, "1e-07"), (2.0, "2.0"),
        (float("nan"), "nan"), (float("-inf"), "-inf"), (True, "True"), (1 + 2j, "(1+2j)"),
    ],
)  # fmt: skip
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


def test_large_objects_show_their_corners():
    table = gb.Matrix.from_dense(np.arange(100).reshape(10, 10))
    with gb.config.set(max_rows=4, min_rows=4, max_columns=4):
        assert lines(table)[3:] == [
            "     0   1  ...   8   9",
            "0    0   1  ...   8   9",
            "1   10  11  ...  18  19",
            "..  ..  ..  ...  ..  ..",
            "8   80  81  ...  88  89",
            "9   90  91  ...  98  99",
        ]
        shown = table._repr_html_()
    assert shown.count("<td>...</td>") == 4 + 5
    assert "<td>98</td>" in shown
    assert "<td>97</td>" not in shown


def test_large_sparse_matrix_lists_its_first_entries():
    n = 1000
    band = gb.Matrix.from_coo(range(1, n), range(n - 1), range(n - 1), nrows=n, ncols=n)
    with gb.config.set(min_rows=3, max_rows=4, max_columns=2):
        assert lines(band)[3:] == [
            "     row  col  val",
            "0      1    0    0",
            "1      2    1    1",
            "2      3    2    2",
            "...  ...  ...  ...",
        ]
        # Of a value mask, only what lets through.
        assert lines(~band.V)[5:7] == ["0      2    1    0", "1      3    2    0"]
        assert lines(band.S)[5:7] == ["0      1    0    1", "1      2    1    1"]


def test_first_entries_of_every_storage():
    size = 20_000
    present = np.zeros(size, bool)
    present[[5, 9_000, 9_001, 15_000, 19_999]] = True
    values = np.arange(size)
    bitmap = VectorArrays(size, INT64, "bitmap", values, None, present, 5)
    indices = np.flatnonzero(present)
    sparse = VectorArrays.sparse(size, INT64, indices, values[indices])
    for arrays in (bitmap, sparse):
        found = first_entries(arrays, 3)
        assert found == [((5,), 5), ((9_000,), 9_000), ((9_001,), 9_001)]
        assert vector_grid(arrays, [4, 5, 9_000]).values == {(0, 5): 5, (0, 9_000): 9_000}
    full = VectorArrays.full(INT64, values)
    assert first_entries(full, 2, only_true=True) == [((1,), 1), ((2,), 2)]
    none = VectorArrays.sparse(size, INT64, indices, np.zeros(1, np.int64), iso=True)
    assert first_entries(none, 2, only_true=True) == []


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
        shown = ends(matrix.nrows, limits[0], 4), ends(matrix.ncols, limits[1], 4)
        grid = matrix_grid(arrays, *shown)
        assert (grid.rows, grid.cols) == shown
        for i in grid.rows:
            for j in grid.cols:
                assert grid.values.get((i, j)) == matrix.get(i, j)
    entries = first_entries(arrays, 100)
    assert len(entries) == matrix.nvals
    assert all(matrix.get(*position) == value for position, value in entries)


def test_huge_shapes():
    huge = 2**60
    A = gb.Matrix.from_coo([9, huge - 1], [huge - 7, 5], [1, 2], nrows=huge, ncols=huge)
    shown = lines(A)
    assert shown[4].split() == ["0", "9", str(huge - 7), "1"]
    assert shown[5].split() == ["1", str(huge - 1), "5", "2"]
    assert lines(gb.Vector(int, huge))[3].split() == ["index", "0", "...", str(huge - 1)]
    assert lines(gb.Matrix(bool, huge, 2))[-1] == str(huge - 1)


def test_width_is_kept():
    wide = gb.Vector.from_dense(np.arange(20) + 10**17)
    for limit in (60, 100):
        with gb.config.set(max_width=limit):
            shown = lines(wide)
        assert max(map(len, shown)) <= limit
        assert "..." in shown[-1]


def test_two_wide_columns_are_shown_anyway():
    with gb.config.set(max_width=20):
        assert lines(gb.Vector.from_dense([2**62, 2**62]))[-1].count(str(2**62)) == 2
