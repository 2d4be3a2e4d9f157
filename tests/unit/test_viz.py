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


def test_values_of_opposite_edges_are_inside_the_picture():
    graph = gb.io.Graph.from_edges(["x", "x", "y"], ["y", "z", "x"], [31, 95, 32])
    axes = gb.viz.draw(graph, show=False).axes[0]
    axes.apply_aspect()
    texts = {text.get_text(): text.xy for text in axes.texts if text.get_text()}
    assert {"31", "32", "95"} < texts.keys()
    low, high = np.transpose([sorted(axes.get_xlim()), sorted(axes.get_ylim())])
    for place in texts.values():
        assert (low < place).all()
        assert (place < high).all()


def test_spy_of_a_labelled_graph():
    graph = gb.io.Graph.from_edges(["x", "y"], ["y", "z"])
    assert len(markers(gb.viz.spy(graph, show=False)).get_xdata()) == 2


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


NO_SYMMETRY = ([0, 1], [1, 2], [1.5, 2.0])


@pytest.fixture
def B():
    return gb.Matrix.from_coo(*NO_SYMMETRY, nrows=3, ncols=3)


def texts_of(figure):
    return [text.get_text() for text in figure.axes[0].texts if text.get_text()]


def vertices_of(figure):
    """Return the artist of the vertices."""
    return max(figure.axes[0].collections, key=lambda each: each.get_zorder())


def arrows_of(figure):
    return [text for text in figure.axes[0].texts if text.arrow_patch is not None]


def test_draw_names_vertices_and_labels_edges(B, shown):
    figure = gb.viz.draw(B)
    assert sorted(texts_of(figure)) == ["0", "1", "1.5", "2", "2"]
    assert len(vertices_of(figure).get_offsets()) == 3
    assert len(arrows_of(figure)) == 2
    assert shown == [1]


def test_symmetric_matrices_have_lines(shown):
    both = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], [3, 3, 4, 4], nrows=3, ncols=3)
    figure = gb.viz.draw(both)
    assert arrows_of(figure) == []
    assert sorted(texts_of(figure)) == ["0", "1", "2", "3", "4"]
    lines = figure.axes[0].collections[0].get_segments()
    assert len(lines) == 2


def test_draw_knows_the_names_of_a_graph(shown):
    graph = gb.io.Graph.from_edges(["Bern", "Bern"], ["Thun", "$x$ \x1b[1m"], [31, 95])
    names = texts_of(gb.viz.draw(graph, edge_labels=False))
    assert names == ["Bern", "Thun", r"$x$ \x1b[1m"]
    assert texts_of(gb.viz.draw(graph, edge_labels=False, labels=["a", "b", "c"])) == list("abc")
    assert texts_of(gb.viz.draw(graph, edge_labels=False, labels=False)) == []


def test_large_drawings_have_no_names(shown):
    large = gb.io.read("grid:9x9")
    assert texts_of(gb.viz.draw(large)) == []
    assert len(texts_of(gb.viz.draw(large, labels=True))) == 81


@pytest.mark.parametrize("layout", ["auto", "spring", "kamada_kawai", "circle"])
def test_layouts_tell_vertices_apart_and_are_the_same_each_time(layout, shown):
    pytest.importorskip("networkx")
    # Two components and a vertex without edges.
    parts = gb.Matrix.from_coo([0, 1, 2, 4], [1, 2, 0, 5], 1, nrows=7, ncols=7)
    first, again = (vertices_of(gb.viz.draw(parts, layout=layout)).get_offsets() for _ in range(2))
    np.testing.assert_array_equal(first, again)
    apart = np.linalg.norm(first[:, None] - first[None], axis=2) + 9 * np.eye(7)
    assert apart.min() > 0.1
    assert np.abs(first).max() <= 1 + 1e-12


def test_without_a_library_there_is_a_circle(monkeypatch, B, shown):
    for library in ("networkx", "igraph"):
        monkeypatch.setitem(sys.modules, library, None)
    places = vertices_of(gb.viz.draw(B)).get_offsets()
    np.testing.assert_allclose(np.linalg.norm(places, axis=1), 1)
    with pytest.raises(ImportError, match=r"needs networkx.*semira\[networkx\]"):
        gb.viz.draw(B, layout="spring")


def test_igraph_lays_out_where_networkx_is_missing(monkeypatch, B, shown):
    pytest.importorskip("igraph")
    monkeypatch.setitem(sys.modules, "networkx", None)
    for layout in ("auto", "spring", "kamada_kawai"):
        first, again = (vertices_of(gb.viz.draw(B, layout=layout)).get_offsets() for _ in "12")
        np.testing.assert_array_equal(first, again)


def test_vertices_stand_where_they_are_told(B, shown):
    places = [(0, 0), (2, 0), (2, 5)]
    for given in (places, np.array(places), dict(enumerate(places))):
        assert (
            vertices_of(gb.viz.draw(B, layout=given)).get_offsets().tolist()
            == np.array(places, float).tolist()
        )
    graph = gb.io.Graph.from_edges(["x", "y"], ["y", "z"])
    figure = gb.viz.draw(graph, layout=dict(zip("zyx", places, strict=True)))
    assert vertices_of(figure).get_offsets().tolist() == [[2, 5], [2, 0], [0, 0]]


def test_vertices_have_colours(B, shown):
    from matplotlib.colors import to_rgba

    one = vertices_of(gb.viz.draw(B, node_color="red")).get_facecolor()
    assert {tuple(colour) for colour in one} == {to_rgba("red")}
    each = vertices_of(gb.viz.draw(B, node_color=["red", "green", "blue"])).get_facecolor()
    assert [tuple(colour) for colour in each] == [to_rgba(c) for c in ("red", "green", "blue")]
    values = gb.Vector.from_coo([0, 2], [1, 2], size=3)
    figure = gb.viz.draw(B, node_color=values, cmap="viridis")
    figure.canvas.draw()
    colours = vertices_of(figure).get_facecolor()
    assert len({tuple(colour) for colour in colours}) == 3
    assert tuple(colours[1]) == to_rgba("lightgrey")


def test_draw_into_axes_shows_nothing(B, shown):
    figure, (left, right) = plt.subplots(1, 2)
    assert gb.viz.draw(B, ax=right) is figure
    assert (len(left.collections), len(right.collections)) == (0, 2)
    assert shown == []
    assert gb.viz.draw(B, show=False) is not figure
    assert shown == []


CALLS = ("draw", "spy", "datashade")


@pytest.mark.parametrize("name", CALLS)
def test_a_notebook_shows_a_figure_once(monkeypatch, B, shown, name):
    monkeypatch.setattr(plt, "get_backend", lambda: "module://matplotlib_inline.backend_inline")
    figure = getattr(gb.viz, name)(B)
    # The cell shows what it returns, and every figure that is open at its end.
    assert isinstance(figure, matplotlib.figure.Figure)
    assert plt.get_fignums() == []
    assert shown == []
    own = plt.figure()
    gb.viz.spy(B, figure=own)
    assert plt.get_fignums() == [own.number]


@pytest.mark.parametrize("name", CALLS)
def test_elsewhere_a_window_shows_it_once(B, shown, name):
    assert len(plt.get_fignums()) == 0
    getattr(gb.viz, name)(B)
    assert (shown, len(plt.get_fignums())) == ([1], 1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"layout": "spiral"}, "layout='spiral'; choose one of auto, spring"),
        ({"layout": [(0, 0)]}, r"the shape \(1, 2\); 3 vertices have \(3, 2\)"),
        ({"layout": {0: (0, 0), 2: (1, 1)}}, "no place for vertex 1"),
        ({"labels": ["a"]}, "1 labels for 3 vertices"),
        ({"node_color": [1, 2]}, "2 colours for 3 vertices"),
    ],
)
def test_draw_refuses_what_does_not_fit(B, options, words):
    with pytest.raises(ValueError, match=words):
        gb.viz.draw(B, **options)


def test_draw_refuses(A):
    with pytest.raises(ValueError, match="3 x 4"):
        gb.viz.draw(A)
    with pytest.raises(ValueError, match="5000 vertices"):
        gb.viz.draw(gb.Matrix(int, 5000, 5000))
    for function in (gb.viz.draw, gb.viz.spy, gb.viz.datashade):
        with pytest.raises(TypeError, match=function.__name__):
            function(gb.Scalar.from_value(1))


@pytest.mark.parametrize("name", CALLS)
def test_missing_library_names_the_extra(monkeypatch, name):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=rf"{name} needs matplotlib.*semira\[plot\]"):
        getattr(gb.viz, name)(gb.Matrix(int, 2, 2))
