"""``semira run --trace`` and ``--plot``: what ran, as a table and as pictures."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from tests.helpers.every import every

import semira
from semira.cli import run
from semira.cli.catalogue import CATALOGUE

pytestmark = pytest.mark.usefixtures("on_reference")


#: Algorithms whose pictures have all kinds of panels between them, and how these are stored.
STORED = {"ppr": ".png", "pagerank": ".svg", "msbfs": ".png", "bfs": ".svg"}

#: Labels and scales of axes that were drawn.
DRAWN = set()


@every("algorithm", list(CATALOGUE))
def test_plot_draws_a_file(invoke, labelled, tmp_path, monkeypatch, algorithm):
    """Everything is drawn of every algorithm; what makes a file of it knows no algorithm.

    Axes are most of the work: those with the same labels and scales are drawn once.
    """
    pytest.importorskip("matplotlib")
    from semira.cli import plots

    drawn = []

    def save(drawing, path):
        drawn.append(drawing)
        drawing.set_layout_engine("none")  # draws twice more; `drawn` does it
        if algorithm in STORED:
            keep(drawing, path)
            return
        for panel in drawing.axes:
            axes = (panel.get_xlabel(), panel.get_ylabel(), panel.get_xscale(), panel.get_yscale())
            if axes in DRAWN:
                panel.xaxis.set_visible(False)
                panel.yaxis.set_visible(False)
            DRAWN.add(axes)
        drawing.draw_without_rendering()

    keep, suffix = plots.save, STORED.get(algorithm, ".svg")
    monkeypatch.setattr(plots, "save", save)
    path = tmp_path / f"figure{suffix}"
    options = ("--symmetrise",) if algorithm == "tc" else ()
    result = invoke("run", algorithm, labelled, "--plot", path, *options)
    assert result.exit_code == 0, result.stderr
    assert drawn[0].axes
    if algorithm in STORED:
        data = path.read_bytes()
        assert data.startswith(b"\x89PNG" if suffix == ".png" else b"<?xml")
        assert len(data) > 2000


@pytest.fixture
def drawn(monkeypatch, invoke, tmp_path):
    """Draw a run; returns the panels and the trace of the call that was drawn."""
    pytest.importorskip("matplotlib")
    from semira.cli import plots

    def draw(algorithm: str, *args: str, is_placed: bool = True):
        seen = []
        plot = plots.plot_run

        def save(drawing, path):
            if is_placed:
                drawing.draw_without_rendering()  # places everything
            seen.append(drawing)

        with monkeypatch.context() as patch:
            patch.setattr(
                plots, "plot_run", lambda *given: (seen.append(given[3].trace), plot(*given))
            )
            patch.setattr(plots, "save", save)
            result = invoke("run", algorithm, *args, "--plot", tmp_path / "figure.svg")
        assert result.exit_code == 0, result.output
        trace, drawing = seen
        check_honesty(drawing, is_placed=is_placed)
        return drawing.axes, list(trace)

    return draw


def check_honesty(drawing, *, is_placed) -> None:
    """Check that bars begin at zero, and that no legend covers the data where all has its place."""
    assert drawing.get_suptitle()
    for panel in drawing.axes:
        if panel.patches:
            assert {panel.get_xscale(), panel.get_yscale()} == {"linear"}
            assert 0 in (*panel.get_xlim(), *panel.get_ylim())
        legend = panel.get_legend()
        if legend is not None and is_placed:
            assert not legend.get_window_extent().overlaps(panel.get_window_extent())
            assert drawing.bbox.containsx(legend.get_window_extent().x1)


def points(panel) -> list[tuple[float, float, str]]:
    """Return place, height and colour of the points, from left to right."""
    from matplotlib.colors import to_hex

    found = [
        (*place, to_hex(cloud.get_facecolor()[0]))
        for cloud in panel.collections
        for place in cloud.get_offsets().tolist()
    ]
    return sorted(found)


def bars(panel) -> list[tuple[float, float, str]]:
    """Return place, height and colour of the bars, from left to right."""
    from matplotlib.colors import to_hex

    found = [
        (p.get_x() + p.get_width() / 2, p.get_height(), p.get_facecolor()) for p in panel.patches
    ]
    return [(round(x), height, to_hex(colour)) for x, height, colour in sorted(found)]


@pytest.mark.parametrize("algorithm", ["bfs", "sssp", "widest", "khop", "kcore"])
def test_plot_draws_levels_directions_and_times(drawn, algorithm):
    from semira.cli.plots import COLOURS, OTHER

    # All of them are arranged alike.
    (result, levels, times), trace = drawn(algorithm, "kron:7", is_placed=algorithm == "bfs")
    assert len(trace) > 2 or algorithm == "khop"
    colours = [COLOURS.get(row.method, OTHER) for row in trace]
    sizes = [row.frontier for row in trace]
    assert points(levels) == list(zip(range(len(trace)), sizes, colours, strict=True))
    milliseconds = [row.elapsed_ns / 1e6 for row in trace]
    assert bars(times) == list(zip(range(len(trace)), milliseconds, colours, strict=True))
    labels = [each.get_ylabel() for each in (result, levels, times)]
    assert labels == ["vertices", "frontier entries", "ms"]
    assert levels.get_legend() is None
    shown = [text.get_text() for text in times.get_legend().get_texts()]
    assert shown == list(dict.fromkeys(row.method for row in trace))


def test_the_result_of_a_search_is_drawn_first(drawn, labelled):
    (result, *_), _ = drawn("bfs", labelled, "--source", "a")
    # a itself, b and c, d.
    assert [(x, height) for x, height, _ in bars(result)] == [(0, 1), (1, 2), (2, 1)]
    assert result.get_xlabel() == "level"
    (result, *_), _ = drawn("sssp", "road:9x9", "--source", "0")
    assert sum(height for _, height, _ in bars(result)) == 81


def test_many_levels_are_counted_in_bars_of_equally_many(drawn):
    """Bars of one level and of two in turn would show waves that are not there."""
    (result, *_), _ = drawn("bfs", "grid:60x1", "--source", "0")
    edges = [bar.get_x() for bar in result.patches]
    assert [height for _, height, _ in bars(result)] == [2] * 30
    assert np.allclose(np.diff(edges), 2)


def test_counts_have_whole_numbers_at_their_axis(drawn, tmp_path):
    path = tmp_path / "two.csv"
    path.write_text("a,b,2\nb,a,2\n")
    for algorithm in ("sssp", "cc"):
        (result, *_), _ = drawn(algorithm, path)
        low, high = result.get_ylim()
        shown = [tick for tick in result.get_yticks() if low <= tick <= high]
        assert all(tick == round(tick) for tick in shown)


def test_one_title_names_graph_device_and_time(monkeypatch, invoke, tmp_path):
    pytest.importorskip("matplotlib")
    from semira.cli import plots

    seen = []
    monkeypatch.setattr(plots, "save", lambda drawing, path: seen.append(drawing))
    for repeat, how in (("0", "the first call"), ("1", "a warm call"), ("3", "of 3 warm calls")):
        args = ("kron:5", "--plot", tmp_path / "x.png", "--repeat", repeat)
        assert invoke("run", "cc", *args).exit_code == 0
        title = seen.pop().get_suptitle()
        assert title.startswith("Connected components on kron:5, reference, ")
        assert how in title


def test_first_vertices_are_drawn_by_name(drawn, tmp_path):
    path = tmp_path / "names.csv"
    path.write_text('source,target\n"$a$","b\x1b[31m"\n"c ' + "long " * 9 + '","$a$"\n')
    (top, *_), _ = drawn("pagerank", path)
    names = [text.get_text() for text in top.get_yticklabels()]
    assert names[1] == "$a$"
    assert "\x1b" not in "".join(names)
    assert len(max(names, key=len)) == 24
    widths = [bar.get_width() for bar in top.patches]
    assert widths == sorted(widths, reverse=True)


def test_plot_of_a_search_that_finds_nothing(drawn, labelled):
    (_, levels, _), trace = drawn("bfs", labelled, "--source", "f")
    assert [height for _, height, _ in points(levels)] == [row.frontier for row in trace] == [1]


@pytest.mark.parametrize(
    ("algorithm", "found"),
    [("pagerank", ["First vertices", "All vertices"]), ("ppr", ["First vertices", "All vertices"]),
     ("bc", ["First vertices", "All vertices"]), ("hits", ["First vertices", "All vertices"]),
     ("cc", ["4 components"]), ("scc", ["4 components"]), ("lpa", ["4 communities"])],
)  # fmt: skip
def test_plot_draws_the_result_before_the_trace(drawn, algorithm, found):
    # One panel of results, and two.
    is_placed = algorithm in ("cc", "pagerank")
    (*result, levels, times), trace = drawn(algorithm, "kron:6", is_placed=is_placed)
    assert [panel.get_title(loc="left") for panel in result] == found
    assert levels.get_ylabel() == "frontier entries"
    assert times.get_ylabel() == "ms"
    is_each = [row.iteration for row in trace] == list(range(len(trace)))
    assert levels.get_xlabel() == ("iteration" if is_each else "product")


@pytest.mark.parametrize("algorithm", ["tc", "msf"])
def test_plot_draws_degrees_where_nothing_is_iterated(drawn, algorithm):
    (panel,), _ = drawn(algorithm, "grid:3x3")
    # Four corners, four sides, one centre.
    assert [(x, height) for x, height, _ in bars(panel)] == [(2, 4), (3, 4), (4, 1)]


def test_trace_lists_the_products_of_the_last_call(invoke, invoke_json, labelled):
    options = ("run", "bfs", labelled, "--source", "a", "--trace")
    lines = invoke(*options).stdout.splitlines()
    at = next(k for k, line in enumerate(lines) if line.startswith("Products of the last warm"))
    head, *rows = [line.split() for line in lines[at + 1 :]]
    assert head == ["iteration", "op", "method", "frontier", "touched", "produced", "time"]
    # a leads to b and c, b to c, c to d, d back to a.
    assert [row[3] for row in rows] == ["1", "2", "1"]
    assert [int(row[0]) for row in rows] == [0, 1, 2]
    assert all(row[-1] in ("s", "ms", "us") and float(row[-2]) > 0 for row in rows)
    assert "Products of the first call" in invoke(*options, "--repeat", "0").stdout
    record = invoke_json(*options)
    plain = invoke_json(*options[:-1])
    assert record.keys() - plain.keys() == {"trace", "trace_lost"}
    assert [(row["frontier"], row["iteration"]) for row in record["trace"]] == [
        (1, 0), (2, 1), (1, 2),
    ]  # fmt: skip
    assert {row["direction"] for row in record["trace"]} <= {"push", "pull"}
    assert all(row["elapsed_ns"] > 0 for row in record["trace"])
    assert record["trace_lost"] == 0


@every("algorithm", list(CATALOGUE))
def test_every_algorithm_lists_its_trace(invoke, invoke_json, monkeypatch, algorithm):
    keep, seen = run.measure, []

    def once(*args, **options):
        # Both outputs are of one call.
        seen[:] = seen or [keep(*args, **options)]
        return seen[0]

    monkeypatch.setattr(run, "measure", once)
    record = invoke_json("run", algorithm, "kron:5", "--trace", "--repeat", "0")
    ran = sum(each["times"] for each in record["plan"]["ran"])
    assert len(record["trace"]) == ran
    text = invoke("run", algorithm, "kron:5", "--trace", "--repeat", "0").stdout
    assert ("no product ran" in text.splitlines()[-1]) == (ran == 0)


def test_trace_says_what_is_lost(invoke, invoke_json, monkeypatch):
    from semira.contract import LastRows

    monkeypatch.setattr(LastRows, "most", 5)
    assert invoke_json("run", "bfs", "road:5x1", "--source", "0", "--trace")["trace_lost"] == 0
    record = invoke_json("run", "bfs", "grid:9x1", "--source", "0", "--trace")
    assert (record["trace_lost"], record["trace"][0]["iteration"]) == (4, 4)
    text = invoke("run", "bfs", "grid:9x1", "--source", "0", "--trace").stdout
    assert text.splitlines()[-1].startswith("4 rows before these are lost")


def test_the_plan_says_what_is_lost(invoke, invoke_json, monkeypatch):
    from semira.contract import LastRows

    def lines(name: str) -> dict[str, str]:
        shown = invoke("run", "bfs", name, "--source", "0").stdout.splitlines()
        return {line[: line.index("  ")]: line for line in shown if "  " in line}

    monkeypatch.setattr(LastRows, "most", 5)
    assert "lost" not in lines("grid:5x1")["plan"]
    assert lines("grid:9x1")["plan"].endswith("(after 4 products whose rows are lost)")
    # Two entries a vertex, one at the end; the frontier goes from vertex 4 to 8.
    assert lines("grid:9x1")["entries touched"].endswith("by the last 5 products")
    record = invoke_json("run", "bfs", "grid:9x1", "--source", "0")
    assert record["plan"]["lost"] == 4
    assert sum(each["times"] for each in record["plan"]["ran"]) == 5
    record = invoke_json("plan", "bfs", "grid:9x1", "--source", "0", "--levels", "2")
    assert (record["lost"], [row["product"] for row in record["ran"]]) == (4, [4, 5])
    heading = invoke("plan", "bfs", "grid:9x1", "--source", "0").stdout
    assert "9 products ran" in heading
    assert "after 4 products whose rows are lost" in heading


def test_the_picture_says_what_is_lost(drawn, monkeypatch):
    from semira.contract import LastRows

    monkeypatch.setattr(LastRows, "most", 5)
    (_, levels, times), trace = drawn("bfs", "grid:9x1", "--source", "0")
    assert [x for x, _, _ in points(levels)] == [row.iteration for row in trace] == [4, 5, 6, 7, 8]
    assert levels.get_xlabel() == "iteration (the first 4 are not known)"
    # The first row's time counts from the beginning.
    milliseconds = [(row.iteration, row.elapsed_ns / 1e6) for row in trace[1:]]
    assert [(x, height) for x, height, _ in bars(times)] == milliseconds
    assert times.get_xlabel() == "iteration (the first 5 are not known)"


@pytest.mark.parametrize("name", ["figure.bmp", "no/folder/figure.png"])
def test_plot_that_cannot_be_written_is_refused_first(invoke, tmp_path, name):
    result = invoke("run", "bfs", "kron:4", "--plot", tmp_path / name)
    assert result.exit_code == 1
    assert result.stdout == ""


def test_missing_matplotlib_names_the_remedy(invoke, monkeypatch, tmp_path):
    from semira.cli import plots

    monkeypatch.setattr(plots, "has_matplotlib", lambda: False)
    result = invoke("run", "bfs", "kron:4", "--plot", tmp_path / "f.png")
    assert result.exit_code == 1
    assert "semira[plot]" in result.stderr


def test_what_is_settled_without_products_says_so(invoke, invoke_json, monkeypatch, tmp_path):
    """As a GPU finds shortest paths on short rows."""
    from semira.algorithms import results

    pytest.importorskip("matplotlib")
    path, module = tmp_path / "run.svg", importlib.import_module("semira.algorithms.sssp_choice")
    own, short = semira.algorithms.sssp, ("road:12x12", "--source", "0", "--repeat", "0")

    def settled(A, source, **opts):
        # As it looks at the rows beforehand.
        module.longest_row(A)
        found = own(A, source, **opts)
        return results.SSSPResult(7, (), found.distance, "asynchronous")

    monkeypatch.setattr(semira.algorithms, "sssp", settled)
    record = invoke_json("run", "sssp", *short)
    assert (record["result"]["method"], record["plan"]["products"]) == ("asynchronous", [])
    result = invoke("run", "sssp", *short, "--trace", "--plot", path)
    assert "asynchronous, without products" in result.stdout
    assert "entries touched" not in result.stdout
    assert "no product ran: asynchronous shortest paths have none" in result.stdout
    assert "degrees are drawn" in result.stderr
    told = invoke("plan", "sssp", "road:12x12", "--source", "0").stdout
    assert told == (
        "sssp on road:12x12: no product ran: asynchronous shortest paths have none; "
        "--algorithm bellman_ford has\n"
    )
    assert invoke_json("plan", "sssp", *short[:3])["products"] == []
