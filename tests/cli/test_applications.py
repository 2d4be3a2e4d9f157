"""Applications on the command line: a toy with all that rows may have, and those that there are."""

from __future__ import annotations

import csv
import gzip
import io
import subprocess
import sys

import numpy as np
import pytest
from tests.helpers import chesapeake, toy_application
from tests.helpers import geolocation as oracle
from tests.helpers.every import every

from semira.apps import registry
from semira.cli import run_application
from semira.cli.applications import APPLICATIONS, options_of, own_options
from semira.cli.catalogue import CATALOGUE, typed
from semira.cli.groups import READING

pytestmark = pytest.mark.usefixtures("on_reference")


@pytest.fixture
def toy(monkeypatch):
    rows = {**registry.rows(), "share_out": toy_application.ROW}
    monkeypatch.setattr(registry, "rows", lambda: rows)
    return rows["share_out"]


def words_of(text: str) -> str:
    return " ".join(text.replace("│", " ").split())


def lines_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_facts_and_times_are_printed(toy, invoke, labelled):
    result = invoke("run", "share-out", labelled, "--starts", "a,c")
    assert result.exit_code == 0, result.output
    found = dict(line.split("  ", 1) for line in result.stdout.splitlines()[1:])
    found = {name: value.strip() for name, value in found.items()}
    assert result.stdout.startswith(f"Shares on {labelled}\n")
    assert found["n"] == "6"
    assert found["device"] == "reference"
    assert found["largest share"] == "103"  # half of 1 + 5, and 100
    assert (found["parts"], found["is far"]) == ("1, 2", "yes")
    assert {"read", "first call", "warm call"} <= set(found)


def test_options_are_those_of_the_function(toy, invoke_json, labelled, tmp_path):
    (tmp_path / "w.txt").write_text("1 2 3 4 5 6")
    args = ("run", "share_out", labelled, "--starts", "b", "--seed", "7", "--mode", "odd")
    more = ("--factor", "0", "--unweighted", "--no-is-far", "--rounds", "3", "--repeat", "2")
    record = invoke_json(*args, *more, "--weights-file", tmp_path / "w.txt")
    assert record["application"] == "share_out"
    assert record["result"] == {
        "vertices": 6, "largest_share": 119.0, "parts": [1, 2], "is_far": False
    }  # fmt: skip
    assert len(record["times_s"]["runs"]) == 2
    assert (record["n"], record["entries"], record["graph"]) == (6, 6, labelled)


def test_an_option_that_is_no_parameter_gives_several(toy, invoke, labelled, tmp_path):
    (tmp_path / "both.txt").write_text("e\n")
    out = tmp_path / "out.csv"
    args = ("run", "share-out", labelled, "--both", tmp_path / "both.txt", "--out", out)
    assert invoke(*args).exit_code == 0
    shares = {row["label"]: float(row["share"]) for row in lines_of(out.read_text())}
    assert shares == {"a": 4.0, "b": 1.5, "c": 1.5, "d": 5.5, "e": 102.0, "f": 1.0}


def test_vertices_are_typed_or_in_a_file(toy, invoke, labelled, tmp_path):
    (tmp_path / "starts.txt").write_text("b\nf\n")
    for starts in ("b,f", tmp_path / "starts.txt"):
        result = invoke("run", "share-out", labelled, "--starts", starts, "--out", "-")
        most = [row["label"] for row in lines_of(result.stdout) if float(row["share"]) >= 100]
        assert most == ["b", "f"]


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "npz", "parquet"])
def test_tables_are_written_with_names_of_vertices(toy, invoke, labelled, tmp_path, suffix):
    if suffix == "parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
    out = tmp_path / f"out.{suffix}"
    result = invoke("run", "share-out", labelled, "--starts", "a", "--out", out)
    assert f"6 rows written to {out}" in result.stderr
    if suffix == "npz":
        with np.load(out) as made:
            columns = {name: made[name].tolist() for name in made}
    elif suffix == "parquet":
        columns = parquet.read_table(out).to_pydict()
    else:
        content = out.read_bytes()
        rows = lines_of((gzip.decompress(content) if suffix == "csv.gz" else content).decode())
        columns = {name: [row[name] for row in rows] for name in rows[0]}
    assert list(columns) == ["vertex", "label", "share", "from", "from_label"]
    assert columns["label"] == list("abcdef")
    assert columns["from_label"] == [""] * 6
    assert [float(share) for share in columns["share"]] == [103.0, 0.5, 0.5, 4.5, 1.0, 0.0]


def test_standard_output_may_be_the_table(toy, invoke, labelled):
    result = invoke("run", "share-out", labelled, "--starts", "a", "--out", "-")
    assert [row["label"] for row in lines_of(result.stdout)] == list("abcdef")
    assert "rows written" not in result.stderr


def test_pictures_are_those_of_the_row(toy, invoke, labelled, tmp_path):
    pytest.importorskip("matplotlib")
    place = tmp_path / "out.svg"
    assert invoke("run", "share-out", labelled, "--starts", "a", "--plot", place).exit_code == 0
    assert place.read_text() == "6 6"


def test_help_has_the_options(toy, invoke):
    text = invoke("run", "share-out", "--help").stdout
    words = words_of(text)
    assert "Shares: shares of vertices after some rounds." in words
    assert "--starts VERTEX,...|FILE Where everything is at first. Names of the file" in words
    assert "--both FILE Starts and weights at once, by name." in words
    assert "--symmetric" not in words
    assert "--weights-file FILE What each vertex adds" in words
    assert "--mode TEXT One of even, odd; default even." in words
    assert "--weighted/--unweighted" in words.replace(" ", "") or "--unweighted" in words
    assert "--seed N" in words
    assert "progress" not in words
    assert "…" not in text
    table = words_of(invoke("run", "--help").stdout)
    assert "share-out" in table
    assert {"shares", "vertices", "rounds", "--weights-file"} <= set(table.split())


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ((), "share-out needs --starts"),
        (("--starts", "a", "--mode", "both"), "--mode 'both' is none of even, odd"),
        (("--starts", "a", "--rounds", "0"), "'0' is not a whole number, at least 1"),
        (("--starts", "a", "--round", "1"), "no option --round; did you mean '--rounds'?"),
        (("--starts", "a", "--damping", "1"), "share-out has no --damping, which is for pagerank"),
        (("--starts", "a", "--out", "-", "--json"), "both want standard output"),
    ],
)
def test_wrong_usage_is_refused_before_the_graph_is_read(toy, invoke, monkeypatch, more, words):
    monkeypatch.setattr(run_application, "load_graph", lambda *_: pytest.fail("it was read"))
    result = invoke("run", "share-out", "grid:2x2", *more)
    assert result.exit_code == 2
    assert words in words_of(result.stderr)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--starts", "q"), "--starts 'q' is none of the 6 labels"),
        (("--starts", "a", "--weights-file", "{bad}"), "{bad}, line 2: 'x' is no number"),
        (("--starts", "a", "--out", "{bad}/x.csv"), "cannot be written"),
        (("--starts", "a", "--out", "x.xlsx"), "must end in .csv (also .gz), .npz or .parquet"),
        (("--starts", "a", "--plot", "x.bmp"), "must end in one of"),
    ],
)
def test_errors_name_the_value(toy, invoke, labelled, tmp_path, more, words):
    pytest.importorskip("matplotlib")
    bad = tmp_path / "bad.txt"
    bad.write_text("1\nx\n")
    more = [each.format(bad=bad) for each in more]
    result = invoke("run", "share-out", labelled, *more)
    assert result.exit_code == 1
    assert words.format(bad=bad) in result.stderr


@every("name", list(APPLICATIONS))
def test_rows_of_the_registry_make_commands(invoke, name):
    row = APPLICATIONS[name]
    assert row.function.__module__.startswith(row.module)
    assert name not in CATALOGUE
    assert all(text.endswith(".") for text in options_of(row).values() if text), options_of(row)
    assert not {*own_options(row).options} & {*READING.options}
    words = words_of(invoke("run", name, "--help").stdout)
    assert all(typed(each) in words for each in options_of(row))
    assert row.summary in words


def test_algorithms_load_no_application():
    text = (
        "import sys\n"
        "from semira.cli.main import app\n"
        "app(['run', 'bfs', 'kron:3', '--device', 'reference'], standalone_mode=False)\n"
        "names = ('semira.apps.row', 'semira.apps.registry')\n"
        "sys.exit([m for m in sys.modules if m.startswith('semira.apps.') and m not in names] or 0)"
    )
    ran = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


# Geolocation, with files -----------------------------------------------------------------------


@pytest.fixture
def chesapeake_files(tmp_path):
    """Paths of the report's graph and labels."""
    rows, cols = chesapeake.edges()
    upper = [f"{j + 1} {i + 1}" for i, j in zip(rows.tolist(), cols.tolist(), strict=True) if i < j]
    graph = tmp_path / "geolocation.mtx"
    heading = "%%MatrixMarket matrix coordinate pattern symmetric\n39 39 170\n"
    graph.write_text(heading + "\n".join(upper) + "\n")
    labels = tmp_path / "geolocation.labels"
    lines = [f"{vertex} {x} {y}" for vertex, x, y in oracle.SAMPLE]
    labels.write_text("% a comment\n39 2 2\n" + "\n".join(lines) + "\n")
    return graph, labels


def test_the_sample_of_the_report_from_files_in_a_fresh_process(chesapeake_files, tmp_path, invoke):
    graph, labels = chesapeake_files
    out = tmp_path / "out.csv"
    command = ["geolocate", graph, "--labels", labels, "--iterations", "2", "--out", out]
    for device in ("reference", "cpu"):
        if device == "reference":
            told = invoke("run", *command, "--device", device).stdout
        else:
            started = [sys.executable, "-m", "semira", "run", *command, "--device", device]
            told = subprocess.run(started, capture_output=True, text=True, check=True).stdout
        assert "located     28" in told
        rows = lines_of(out.read_text())
        assert float(rows[36]["latitude"]) == pytest.approx(37.807075, abs=1e-6)
        assert float(rows[36]["longitude"]) == pytest.approx(-122.134164, abs=1e-6)
        assert {row["iteration"] for row in rows} == {"0", "1"}


def test_a_map_is_drawn(invoke, tmp_path):
    pytest.importorskip("matplotlib")
    place = tmp_path / "map.svg"
    args = ("run", "geolocate", "rgg:8", "--labels", "rgg:8", "--hide", "0.5", "--plot", place)
    result = invoke(*args)
    assert result.exit_code == 0, result.output
    assert "median error km" in result.stdout
    assert "median error of what was hidden" in place.read_text()


# Assignment and matching, with files -----------------------------------------------------------


def test_costs_of_any_shape_are_assigned(invoke, tmp_path):
    place = tmp_path / "benefits.mtx"
    place.write_text("%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 5\n1 2 4\n2 1 4\n")
    result = invoke("run", "linear-sum-assignment", place, "--maximize", "--out", "-")
    assert lines_of(result.stdout) == [
        {"row": "0", "column": "1", "cost": "4.0"}, {"row": "1", "column": "0", "cost": "4.0"},
    ]  # fmt: skip


def test_two_graphs_are_matched_from_files(invoke, invoke_json, tmp_path):
    heading = "%%MatrixMarket matrix coordinate pattern symmetric\n5 5 5\n"
    one, two, pairs = (tmp_path / name for name in ("one.mtx", "two.mtx", "pairs.txt"))
    one.write_text(heading + "2 1\n3 2\n4 3\n5 4\n3 1\n")
    two.write_text(heading + "5 4\n4 3\n3 2\n2 1\n5 3\n")
    pairs.write_text("0 4\n4 0\n")
    out = tmp_path / "match.csv"
    given = ("run", "graph-match", one, "--other", two, "--seeds", pairs)
    record = invoke_json(*given, "--initial", "seeds", "--out", out)
    assert record["result"]["disagreements"] == 0
    assert [row["match"] for row in lines_of(out.read_text())] == ["4", "3", "2", "1", "0"]
    pairs.write_text("0 4\n4\n")
    result = invoke(*given)
    assert result.exit_code == 1
    assert "line 2: '4' is no pair of vertices" in " ".join(result.stderr.split())


def test_two_graphs_are_matched_by_names_of_their_own(invoke, tmp_path):
    one, two, pairs = (tmp_path / name for name in ("one.csv", "two.csv", "pairs.txt"))
    one.write_text("ann,bob\nbob,cid\ncid,dan\ndan,eve\nann,cid\n")
    two.write_text("5,4\n4,x\nx,2\n2,1\n5,x\n")
    pairs.write_text("ann 5\ndan,2\n")
    out = tmp_path / "match.csv"
    given = ("run", "graph-match", one, "--other", two, "--seeds", pairs, "--symmetrise")
    assert invoke(*given, "--device", "cpu", "--out", out).exit_code == 0
    found = {row["label"]: row["match_label"] for row in lines_of(out.read_text())}
    assert found == {"ann": "5", "bob": "4", "cid": "x", "dan": "2", "eve": "1"}
    pairs.write_text("ann bob\n")
    result = invoke(*given)
    assert result.exit_code == 1
    assert "line 1: 'ann bob' is no pair of vertices" in words_of(result.stderr)


# projections, scan statistics, nomination -------------------------------------------------------
def test_a_rectangular_matrix_is_projected(invoke, tmp_path):
    pytest.importorskip("matplotlib")
    graph = tmp_path / "ratings.mtx"
    graph.write_text(
        "%%MatrixMarket matrix coordinate pattern general\n2 3 4\n1 1\n1 2\n2 2\n2 3\n"
    )
    drawn, out = tmp_path / "weights.svg", tmp_path / "out.csv"
    args = ("run", "project", graph, "--weight", "jaccard", "--out", out, "--plot", drawn)
    assert invoke(*args).exit_code == 0
    found = [tuple(row.values()) for row in lines_of(out.read_text())]
    assert found == [("0", "1", "0.5"), ("1", "0", "0.5"), ("1", "2", "0.5"), ("2", "1", "0.5")]
    assert "jaccard" in drawn.read_text()
    refused = invoke("run", "project", graph, "--weight", "heavy")
    assert refused.exit_code == 2
    assert "--weight 'heavy' is none of count, none" in words_of(refused.output)


def test_edges_of_another_file_are_counted_by_name(invoke, tmp_path):
    graph, them = tmp_path / "us.csv", tmp_path / "them.csv"
    graph.write_text("ann,bob\nann,cid\ncid,dan\n")
    them.write_text("cid,bob\nann,bob\n")
    args = ("run", "local-scan", graph, "--them", them, "--out", "-")
    # Not the default device: files are read where the graph is.
    result = invoke(*args, "--device", "cpu")
    assert result.exit_code == 0, result.output
    found = {row["label"]: int(row["statistic"]) for row in lines_of(result.stdout)}
    # Around ann are bob and cid.
    assert found == {"ann": 2, "bob": 1, "cid": 0, "dan": 0}
    them.write_text("eve,bob\n")
    refused = invoke(*args)
    assert refused.exit_code == 1
    assert "has no vertex 'eve'" in words_of(refused.output)


def test_vertices_are_nominated_by_name_and_in_sets(invoke, tmp_path):
    graph, seeds, weights = tmp_path / "g.csv", tmp_path / "seeds.txt", tmp_path / "weights.txt"
    graph.write_text("ann,bob\nbob,cid\ncid,dan\n")
    args = ("run", "nominate", graph, "--symmetrise", "--unweighted", "--out", "-", "--seeds")
    rows = lines_of(invoke(*args, "ann", "--top", "2").stdout)
    assert [(row["rank"], row["label"], row["score"]) for row in rows] == [
        ("1", "bob", "1"), ("2", "cid", "2")
    ]  # fmt: skip
    seeds.write_text("ann\ndan\n")
    weights.write_text("1\n3\n")
    rows = lines_of(invoke(*args, seeds).stdout)
    assert [row["ranking"] for row in rows] == ["0"] * 3 + ["1"] * 3
    rows = lines_of(invoke(*args, seeds, "--weights-file", weights).stdout)
    assert [(row["label"], row["score"]) for row in rows] == [("cid", "5.0"), ("bob", "7.0")]
