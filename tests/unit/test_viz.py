"""Pictures: what is plotted where, and clear errors in place of unreadable plots."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import semira as gb

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

ROWS, COLS, VALUES = [0, 0, 2], [1, 3, 0], [1.5, 0.0, -2.0]


@pytest.fixture(autouse=True)
def shown(monkeypatch):
    """Count how often a figure is shown; close them all afterwards."""
    calls = []
    monkeypatch.setattr(plt, "show", lambda: calls.append(1))
    yield calls
    plt.close("all")


@pytest.fixture
def A():
    return gb.Matrix.from_coo(ROWS, COLS, VALUES, nrows=3, ncols=4)


def markers(figure):
    (axes,) = figure.axes
    (line,) = axes.get_lines()
    return line


def test_spy_marks_every_entry_zeros_too(A, shown):
    line = markers(gb.viz.spy(A))
    assert sorted(zip(line.get_ydata(), line.get_xdata(), strict=True)) == [(0, 1), (0, 3), (2, 0)]
    assert shown == [1]


def test_spy_of_a_transpose_and_of_a_vector(A):
    line = markers(gb.viz.spy(A.T, show=False))
    assert sorted(line.get_ydata().tolist()) == [0, 1, 3]
    v = gb.Vector.from_coo([2], [1], size=4)
    line = markers(gb.viz.spy(v, show=False))
    assert line.get_xdata().tolist() == [2]


def test_spy_plots_into_what_it_is_given(A, shown):
    figure, axes = plt.subplots()
    assert gb.viz.spy(A, show=False, axes=axes, markersize=3) is figure
    assert axes.get_lines()[0].get_markersize() == 3
    assert gb.viz.spy(A, show=False, figure=figure) is figure
    assert len(axes.get_lines()) == 2
    assert shown == []


def test_spy_labels_edges_or_the_middle(A):
    (edges,) = gb.viz.spy(A, show=False).axes
    labels = {t.get_text(): t.get_position()[0] for t in edges.get_xticklabels()}
    assert labels["0"] == -0.5
    assert all(place == float(text) - 0.5 for text, place in labels.items())
    (middle,) = gb.viz.spy(A, centered=True, show=False).axes
    assert set(middle.get_xticks()) >= {0, 1, 2, 3}


def test_spy_markers_fill_their_cells():
    small, large = (
        markers(gb.viz.spy(gb.Matrix(int, n, n), show=False)).get_markersize() for n in (10, 20)
    )
    assert small == pytest.approx(2 * large)


def test_spy_makes_a_figure_of_the_size_asked_for(A):
    figure = gb.viz.spy(A, show=False, figsize=(2, 3))
    assert figure.get_size_inches().tolist() == [2, 3]


def test_spy_of_an_empty_matrix():
    assert len(markers(gb.viz.spy(gb.Matrix(int, 3, 3), show=False)).get_xdata()) == 0


def test_huge_matrices_are_plotted():
    huge = gb.Matrix.from_coo([3, 2**39], [2**35, 7], [1, 2], nrows=2**40, ncols=2**40)
    line = markers(gb.viz.spy(huge, show=False))
    assert sorted(line.get_ydata().tolist()) == [3, 2**39]
    assert np.nansum(image_of(gb.viz.datashade(huge))) == 2


def image_of(figure):
    (image,) = figure.axes[0].get_images()
    return np.ma.filled(image.get_array().astype(float), np.nan)


@pytest.mark.parametrize(
    ("agg", "first"),
    [("count", 2), ("any", 1), ("sum", 5), ("mean", 2.5), ("min", 1), ("max", 4)],
)
def test_datashade_aggregates_blocks(agg, first, shown):
    matrix = gb.Matrix.from_coo([0, 1, 3], [1, 0, 3], [1, 4, 7], nrows=4, ncols=4)
    image = image_of(gb.viz.datashade(matrix, agg, width=2, height=2))
    assert image[0, 0] == first
    assert np.isnan(image[0, 1])
    assert np.isnan(image[1, 0])
    assert shown == [1]


def test_datashade_keeps_every_entry():
    graph = gb.io.read("er:3000,degree=4")
    image = image_of(gb.viz.datashade(graph))
    assert image.shape == (600, 600)
    assert np.nansum(image) == graph.nvals


def test_datashade_has_no_more_pixels_than_positions(A):
    image = image_of(gb.viz.datashade(A, "sum", opts_kwargs={"figsize": (2, 2)}))
    expected = np.full((3, 4), np.nan)
    expected[ROWS, COLS] = VALUES
    np.testing.assert_array_equal(image, expected)


@pytest.mark.parametrize("options", [{"agg": "median"}, {"width": 0}, {"height": -1}])
def test_datashade_refuses(A, options):
    with pytest.raises(ValueError, match=next(iter(options))):
        gb.viz.datashade(A, **options)


def test_draw_labels_edges(shown):
    pytest.importorskip("networkx")
    gb.viz.draw(gb.Matrix.from_coo([0, 1], [1, 2], [1.5, 2.0], nrows=3, ncols=3))
    texts = {text.get_text() for text in plt.gca().texts}
    assert {"0", "1", "2", "1.5"} <= texts
    assert shown == [1]


def test_draw_refuses(A):
    with pytest.raises(ValueError, match="3 x 4"):
        gb.viz.draw(A)
    with pytest.raises(ValueError, match="5000 vertices"):
        gb.viz.draw(gb.Matrix(int, 5000, 5000))
    for function in (gb.viz.draw, gb.viz.spy, gb.viz.datashade):
        with pytest.raises(TypeError, match=function.__name__):
            function(gb.Scalar.from_value(1))


@pytest.mark.parametrize("name", ["draw", "spy", "datashade"])
def test_missing_library_names_the_extra(monkeypatch, name):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=rf"{name} needs matplotlib.*semira\[plot\]"):
        getattr(gb.viz, name)(gb.Matrix(int, 2, 2))
