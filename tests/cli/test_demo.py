"""``semira demo`` on small graphs: the table and the report."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from semira.base import settings
from semira.bench.environment import processor_name
from semira.cli import demo, plots
from semira.cli.graphs import Reading
from semira.cli.report import Figure, Section, render

VOID = {"meta", "path", "use", "rect", "line", "circle"}


class Page(HTMLParser):
    """Checks that tags nest; collects them, their attributes and the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.links: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href", "xlink:href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href", "xlink:href")]

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture
def small(monkeypatch):
    """The demo on graphs that the reference device manages."""
    before = settings.override(device="reference")
    subjects = (
        demo._Subject("kron:5", "Kronecker graph", "Hubs.", Reading(weights="random")),
        demo._Subject("road:5x6", "Road-like graph", "No hubs.", Reading()),
    )
    monkeypatch.setattr(demo, "SUBJECTS", subjects)
    monkeypatch.setattr(demo, "REPEAT", 1)
    yield
    settings.restore(before)


def test_demo_prints_a_table_and_writes_a_report(invoke, small, tmp_path, labelled):
    pytest.importorskip("matplotlib")
    result = invoke("demo", "--out", tmp_path / "demo", "--graph", labelled)
    assert result.exit_code == 0, result.output
    for name in ("bfs", "sssp", "pagerank", "cc"):
        assert result.stdout.count(f"\n{name} ") == 3, name
    text = (tmp_path / "demo" / "report.html").read_text()
    page = Page(text)
    assert page.tags.count("section") == 4
    # Degrees, bfs, sssp and ranks of three graphs.
    assert page.tags.count("svg") == 12
    assert "script" not in page.tags
    assert all(link.startswith("#") for link in page.links)
    words = " ".join(page.words)
    assert "labelled.txt" in words
    # What it was measured on comes before what was measured.
    assert words.index(processor_name()) < words.index("Your own graph")
    assert words.count("is sixteen products in a row by pull") == 3


def test_algorithm_that_fails_is_shown_and_the_rest_goes_on(invoke, small, tmp_path, monkeypatch):
    def sketch(draw):
        with plots.figure() as (_, panel):
            draw(panel)
        return "<svg></svg>"

    if plots.has_matplotlib():
        # All is drawn, but not written: that takes a second for each graph.
        monkeypatch.setattr(demo, "svg_of", sketch)
    path = tmp_path / "negative.csv"
    # A cycle of negative length has no shortest paths.
    path.write_text("0,1,-3\n1,2,1\n2,0,1\n")
    result = invoke("demo", "--out", tmp_path, "--graph", path)
    assert result.exit_code == 0
    assert "sssp: NegativeCycle" in result.stdout
    assert "NegativeCycle" in (tmp_path / "report.html").read_text()


def test_report_without_matplotlib_says_so(invoke, small, tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "has_matplotlib", lambda: False)
    assert invoke("demo", "--out", tmp_path).exit_code == 0
    page = Page((tmp_path / "report.html").read_text())
    assert "svg" not in page.tags
    assert "semira[plot]" in " ".join(page.words)


def test_folder_that_cannot_be_made_is_refused_first(invoke, small, tmp_path):
    (tmp_path / "file").write_text("")
    result = invoke("demo", "--out", tmp_path / "file" / "demo")
    assert result.exit_code == 1
    assert "FileWriteError" in result.stderr
    assert result.stdout == ""


def test_missing_graph_is_an_error(invoke, small, tmp_path):
    result = invoke("demo", "--out", tmp_path, "--graph", tmp_path / "absent.mtx")
    assert result.exit_code == 1
    assert not (tmp_path / "report.html").exists()


def test_report_escapes_names():
    section = Section(
        "a <b> & c", "text", [("graph", "<script>")], ("x", "y"), [("<i>", 1)],
        [Figure('"quoted" & <b>', "<svg></svg>")],
    )  # fmt: skip
    page = Page(render([section], [], can_draw=True))
    assert "script" not in page.tags
    assert "i" not in page.tags
    assert "a <b> & c" in page.words
