"""``semira run``: results, times, files, and what is refused."""

from __future__ import annotations

import csv
import io
import json
import math

import numpy as np
import pytest
from tests.helpers.every import every

import semira
from semira.cli import run
from semira.cli.catalogue import CATALOGUE, options_of
from semira.cli.options import Device

FIELDS = {
    "algorithm", "graph", "n", "entries", "device", "plan", "times_s", "result", "edges_visited",
    "mteps",
}  # fmt: skip


pytestmark = pytest.mark.usefixtures("on_reference")


@every("algorithm", list(CATALOGUE))
def test_json_has_the_promised_fields(invoke_json, algorithm):
    # What repeats a call knows no algorithm; here it is the slow reference that does.
    repeat = 3 if algorithm == "bfs" else 1
    record = invoke_json("run", algorithm, "kron:5", "--repeat", str(repeat))
    assert set(record) == FIELDS
    assert record["algorithm"] == algorithm
    assert record["graph"] == "kron:5"
    assert (record["n"], record["device"]) == (32, "reference")
    assert set(record["times_s"]) == {"read", "place", "first", "runs"}
    assert len(record["times_s"]["runs"]) == repeat
    median = np.median(record["times_s"]["runs"])
    assert math.isclose(record["mteps"], record["edges_visited"] / median / 1e6)
    # A forest is found by gather and scatter alone; kernels make many searches.
    has_products = algorithm not in {"msf", "msbfs", "closeness", "apsp"}
    assert bool(record["plan"]["products"]) == has_products
    assert bool(record["plan"]["ran"]) == has_products


def test_bfs_starts_at_the_largest_degree_and_uses_labels(invoke_json, labelled):
    record = invoke_json("run", "bfs", labelled)
    assert record["result"] == {"source": "a", "reached": 4, "depth": 2, "level_sum": 4}
    # a has two edges, b, c and d one each.
    assert record["edges_visited"] == 5


def test_source_is_a_label_of_the_file(invoke_json, invoke, labelled):
    assert invoke_json("run", "bfs", labelled, "--source", "e")["result"]["reached"] == 2
    result = invoke("run", "bfs", labelled, "--source", "z")
    assert result.exit_code == 1
    assert "'z' is none of the 6 labels" in result.stderr


@pytest.mark.parametrize(("source", "words"), [("9", "outside [0, 9)"), ("-1", "-1"), ("x", "'x'")])
def test_source_without_labels_is_a_number_in_range(invoke, source, words):
    result = invoke("run", "bfs", "grid:3x3", "--source", source)
    assert result.exit_code == 1
    assert words in result.stderr
    assert invoke("run", "bfs", "grid:3x3", "--source", "8").exit_code == 0


def test_source_counts_from_0_where_the_file_counts_from_1(invoke, invoke_json, tmp_path):
    path = tmp_path / "roads.gr"
    path.write_text("p sp 2 1\na 1 2 7\n")
    assert invoke_json("run", "bfs", path, "--source", "0")["result"]["reached"] == 2
    result = invoke("run", "bfs", path, "--source", "2")
    assert "outside [0, 2)" in result.stderr
    assert "the file's vertex k is k-1" in result.stderr
    assert "k-1" not in invoke("run", "bfs", "grid:2x1", "--source", "2").stderr


def test_sssp_uses_the_weights(invoke_json, labelled):
    result = invoke_json("run", "sssp", labelled, "--source", "a")["result"]
    assert (result["reached"], result["largest_distance"], result["farthest"]) == (4, 3, "d")
    assert result["distance_sum"] == 6


def test_sssp_method_is_passed_on(invoke_json, invoke, labelled):
    other = invoke_json("run", "sssp", labelled, "--algorithm", "delta_stepping", "--delta", "2")
    assert other["result"]["distance_sum"] == 6
    assert invoke("run", "sssp", labelled, "--algorithm", "guessing").exit_code == 1


def test_pagerank_options_are_passed_on(invoke_json, labelled):
    record = invoke_json(
        "run", "pagerank", labelled, "--damping", "0.5", "--tol", "0", "--max-iterations", "7"
    )
    result = record["result"]
    assert (result["iterations"], result["converged"]) == (7, False)
    assert math.isclose(result["rank_sum"], 1)
    matrix = semira.io.read(labelled)
    with semira.device("reference"):
        rank = semira.algorithms.pagerank(matrix, damping=0.5, tol=0, max_iterations=7).rank
    best = int(np.argmax(rank.to_dense()))
    assert result["top"][0]["vertex"] == "abcdef"[best]
    assert math.isclose(result["top"][0]["rank"], rank[best].value)


def test_components_and_triangles(invoke_json, labelled):
    components = invoke_json("run", "cc", labelled)["result"]
    assert components["components"] == 2
    assert components["largest"] == [4, 2]
    triangles = invoke_json("run", "tc", labelled, "--symmetrise")["result"]
    assert triangles == {"triangles": 2}


def test_searches_from_several_labels(invoke_json, invoke, labelled):
    record = invoke_json("run", "msbfs", labelled, "--source", "a,e")
    assert record["result"] == {
        "source": ["a", "e"], "searches": 2, "reached": 6, "depth": 2, "level_sum": 5,
    }  # fmt: skip
    # From a five edges, as one search alone has them; from e one.
    assert record["edges_visited"] == 6
    text = invoke("run", "msbfs", labelled, "--source", "a,e").stdout
    assert "a, e" in text
    assert invoke("run", "msbfs", labelled, "--source", "a,z").exit_code == 1
    assert invoke("run", "bfs", labelled, "--source", "a,e").exit_code == 1


def test_hops_are_passed_on(invoke_json, invoke, labelled, tmp_path):
    path = tmp_path / "near.csv"
    near = invoke_json("run", "khop", labelled, "--source", "b,e", "--k", "1", "--out", path)
    assert near["result"] == {"source": ["b", "e"], "reached": 4, "farthest_hop": 1}
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert {row["label"]: int(row["value"]) for row in rows} == {"b": 0, "c": 1, "e": 0, "f": 1}
    assert invoke_json("run", "khop", labelled, "--source", "b")["result"]["reached"] == 2
    assert invoke("run", "khop", labelled, "--k", "-1").exit_code == 2


@pytest.mark.parametrize("algorithm", ["bc", "closeness"])
def test_centralities_draw_sources_with_the_seed(invoke_json, labelled, algorithm):
    function = getattr(semira.algorithms, CATALOGUE[algorithm].name)
    matrix = semira.io.read(labelled)
    with semira.device("reference"):
        whole, drawn = function(matrix), function(matrix, sources=3, seed=4)
    for options, found in (((), whole), (("--sources", "3", "--seed", "4"), drawn)):
        result = invoke_json("run", algorithm, labelled, *options)["result"]
        values = found.centrality.to_dense()
        assert result["sources"] == found.sources
        best = int(np.argmax(values))
        assert result["top"][0] == {"vertex": "abcdef"[best], "centrality": values[best]}
    assert not whole.centrality.isclose(drawn.centrality)


@pytest.mark.parametrize("algorithm", ["mis", "colouring", "lpa"])
def test_seed_is_passed_on(invoke, tmp_path, algorithm):
    row = CATALOGUE[algorithm]
    matrix = semira.io.read("rgg:6")
    with semira.device("reference"):
        found = [getattr(row.function(matrix, seed=seed), row.main) for seed in (0, 5)]
    assert not found[0].isequal(found[1])
    for options, expected in zip(((), ("--seed", "5")), found, strict=True):
        path = tmp_path / "result.npz"
        assert invoke("run", algorithm, "rgg:6", "--out", path, *options).exit_code == 0
        with np.load(path) as members:
            assert members["values"].tolist() == expected.to_coo()[1].tolist()
            assert members["indices"].tolist() == expected.to_coo()[0].tolist()


@pytest.mark.parametrize(
    "args", [("run", "pagerank"), ("run", "bc"), ("plan", "bfs"), ("plan", "mxm"), ("info",)]
)
def test_seed_that_changes_nothing_is_refused(invoke, args):
    result = invoke(*args, "kron:4", "--seed", "7")
    assert result.exit_code == 2
    assert "--seed 7" in result.stderr
    assert invoke(*args, "kron:4", "--seed", "7", "--weights", "random").exit_code == 0


def test_algorithms_that_draw_are_named_where_a_seed_is_refused(invoke):
    text = invoke("run", "bfs", "kron:4", "--seed", "7").stderr
    for name, row in CATALOGUE.items():
        if "seed" in options_of(row):
            assert ("--sources" if "sources" in options_of(row) else str(name)) in text


def test_batches_of_sources(invoke_json, invoke, labelled):
    one = invoke_json("run", "bc", labelled, "--batch", "1")
    assert one["result"] == invoke_json("run", "bc", labelled)["result"]
    assert len(one["plan"]["ran"]) >= 1
    assert invoke("run", "closeness", labelled, "--batch", "1").exit_code == 2


def test_diameter_says_how_far_it_is_known(invoke_json, invoke, labelled):
    whole = invoke_json("run", "diameter", labelled)["result"]
    assert (whole["diameter"], whole["radius"]) == ([2, 2], [1, 1])
    once = invoke_json("run", "diameter", "grid:9x9", "--searches", "1")["result"]
    assert once["searches"] == 1
    low, high = once["diameter"]
    assert low < 16 < high
    text = invoke("run", "diameter", "grid:9x9", "--searches", "1").stdout
    assert f" {low} to {high}\n" in text
    assert invoke("run", "diameter", labelled, "--searches", "0").exit_code == 2


def test_diameter_says_what_it_is_of(invoke_json, invoke, tmp_path):
    path = tmp_path / "parts.mtx"
    path.write_text("%%MatrixMarket matrix coordinate pattern general\n6 6 3\n1 2\n2 3\n4 5\n")
    result = invoke_json("run", "diameter", path)["result"]
    assert (result["diameter"], result["radius"]) == ([2, 2], [0, 0])
    assert (result["components"], result["single_vertices"]) == (3, 1)
    lines = [line.split(None, 1) for line in invoke("run", "diameter", path).stdout.splitlines()]
    assert ["diameter", "2"] in lines
    assert ["radius", "0"] in lines
    assert any("within a component; a single vertex has 0" in line[-1] for line in lines)
    assert "component" not in invoke_json("run", "diameter", "grid:3x3")["result"]["scope"]


def test_clustering_and_similarity(invoke_json, labelled, tmp_path):
    clustering = invoke_json("run", "lcc", labelled)["result"]
    assert math.isclose(clustering["average"], (2 / 3 + 1 + 2 / 3 + 1) / 6)
    assert clustering["top"][0]["coefficient"] == 1
    path = tmp_path / "similarity.mtx"
    found = invoke_json("run", "jaccard", labelled, "--symmetrise", "--out", path)["result"]
    # a and c share two of four neighbours, the sides of the square one of four; e and f none.
    assert found == {"pairs": 12, "mean": (2 * 0.5 + 8 * 0.25) / 12, "largest": 0.5}
    assert semira.io.read(path).nvals == 12


def test_widest_paths(invoke_json, labelled):
    # From a: to b 1 wide, to c 5, to d by c 1; d leads back to a.
    result = invoke_json("run", "widest", labelled, "--source", "a")["result"]
    assert (result["reached"], result["least_width"]) == (4, 1)
    assert result["vertex"] in "bd"


def test_strongly_connected_components(invoke_json, labelled):
    # a, b, c and d lie on a cycle; nothing leads back from f.
    result = invoke_json("run", "scc", labelled)["result"]
    assert (result["components"], result["largest"]) == (3, [4, 1, 1])


def test_minimum_spanning_forest(invoke_json, invoke, labelled):
    # Of the square and its diagonal a-b, b-c and c-d remain, 1 each; and e-f, 2.
    result = invoke_json("run", "msf", labelled)["result"]
    assert (result["weight"], result["edges"], result["trees"]) == (5, 4, 2)
    assert "no product ran" in invoke("run", "msf", labelled).stdout


def test_all_pairs(invoke_json, invoke, labelled):
    # The cycle a-b-c-d, 1 + 1 + 1 + 9, where a-c is no short cut; and e-f.
    for options in ((), ("--algorithm", "floyd_warshall")):
        result = invoke_json("run", "apsp", labelled, *options)["result"]
        assert result["method"] == (options[1] if options else "sources")
        assert (result["pairs"], result["largest_distance"]) == (13, 11)
        # From a, b, c and d to the others, and from e.
        assert result["distance_sum"] == 6 + 14 + 22 + 30 + 2
    assert invoke("run", "apsp", labelled, "--algorithm", "bellman_ford").exit_code == 1


def test_embedding(invoke_json, invoke, labelled):
    options = ("--dimensions", "3", "--tol", "1e-8")
    result = invoke_json("run", "embedding", labelled, *options)["result"]
    assert result["converged"]
    assert result["largest_residual"] <= 1e-8
    # Two components: two values 0.
    np.testing.assert_allclose(result["values"][:2], 0, atol=1e-8)
    assert result["values"][2] > 0.1
    assert invoke("run", "embedding", labelled, "--dimensions", "7").exit_code == 1


def test_out_writes_every_entry_with_its_label(invoke, labelled, tmp_path):
    path = tmp_path / "level.csv"
    result = invoke("run", "bfs", labelled, "--source", "a", "--out", path)
    assert result.exit_code == 0
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert {row["label"]: int(row["value"]) for row in rows} == {"a": 0, "b": 1, "c": 1, "d": 2}


def test_out_to_standard_output_prints_nothing_else(invoke, labelled):
    result = invoke("run", "sssp", labelled, "--source", "e", "--out", "-")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [(row["label"], float(row["value"])) for row in rows] == [("e", 0), ("f", 2)]


@pytest.mark.parametrize(
    ("algorithm", "field", "suffix"),
    [
        ("jaccard", "similarity", "csv"),
        ("ktruss", "truss", "csv.gz"),
        ("msf", "forest", "mtx"),
        ("apsp", "distance", "npz"),
        ("msbfs", "level", "npz"),
        ("embedding", "vectors", "mtx"),
    ],
)
def test_out_writes_matrices(invoke, tmp_path, algorithm, field, suffix):
    path = tmp_path / f"result.{suffix}"
    result = invoke("run", algorithm, "rgg:5", "--out", path)
    assert result.exit_code == 0, result.stderr
    row = CATALOGUE[algorithm]
    graph = semira.io.read("rgg:5")
    with semira.device("reference"):
        places = (int(np.argmax(graph.reduce_rowwise("count").to_dense(0))),)
        found = row.function(graph, *(places if row.start else ()))
    matrix = getattr(found, field)
    shape = f"{matrix.nrows} x {matrix.ncols} with {matrix.nvals} entries"
    assert f"{field}, {shape}, written to" in result.stderr
    read = semira.io.read(path, **({"size": 32} if "csv" in suffix else {}))
    assert read.shape == matrix.shape
    assert read.isclose(matrix)


def test_out_of_a_matrix_of_vertices_keeps_their_labels(invoke, labelled, tmp_path):
    path = tmp_path / "forest.csv"
    assert invoke("run", "msf", labelled, "--out", path).exit_code == 0
    rows = csv.DictReader(path.read_text().splitlines())
    edges = {"".join(sorted(row["source"] + row["target"])) for row in rows}
    assert edges == {"ab", "bc", "cd", "ef"}
    lines = invoke("run", "msbfs", labelled, "--source", "a,e", "--out", "-").stdout.splitlines()
    assert lines[0].startswith("%%MatrixMarket")


def test_out_of_hits_has_hubs_and_authorities(invoke, labelled, tmp_path):
    path = tmp_path / "scores.csv"
    result = invoke("run", "hits", labelled, "--out", path)
    assert "hub and authority of 6 vertices written" in result.stderr
    found = semira.algorithms.hits(semira.io.read(labelled))
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert [row["label"] for row in rows] == list("abcdef")
    for name in ("hub", "authority"):
        written = [float(row[name]) for row in rows]
        np.testing.assert_allclose(written, getattr(found, name).to_dense(), atol=1e-12)


@pytest.mark.parametrize(
    ("algorithm", "name", "words"),
    [
        ("bfs", "level.mtx", "choose one of csv, npz"),
        ("bfs", "no/folder/level.csv", "does not exist"),
        ("msbfs", "levels.csv", "choose one of mtx, npz"),
        ("embedding", "vectors.csv.gz", "cannot hold vectors, which is not square"),
        ("jaccard", "similarity.txt", "choose one of mtx, npz, csv"),
    ],
)
def test_out_that_cannot_be_written_is_refused_first(
    invoke, tmp_path, monkeypatch, algorithm, name, words
):
    def fail(*_args: object) -> None:
        raise AssertionError("the graph was read")

    monkeypatch.setattr(run, "load_graph", fail)
    result = invoke("run", algorithm, "kron:4", "--out", tmp_path / name)
    assert result.exit_code == 1
    assert words in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_standard_input_is_a_graph(invoke_json):
    assert invoke_json("run", "cc", "-", input=b"0 1\n2 3\n")["result"]["components"] == 2


def test_text_summary_has_times_and_plan(invoke):
    result = invoke("run", "bfs", "grid:4x4", "--source", "0")
    assert result.exit_code == 0
    lines = dict(line.split("  ", 1) for line in result.stdout.splitlines()[1:])
    values = {name.strip(): value.strip() for name, value in lines.items()}
    assert (values["reached"], values["depth"], values["source"]) == ("16", "6", "0")
    assert {"read", "first call", "warm call", "MTEPS", "plan"} <= set(values)


def test_without_warm_calls_there_is_no_rate(invoke_json):
    record = invoke_json("run", "bfs", "grid:3x3", "--repeat", "0")
    assert record["times_s"]["runs"] == []
    assert record["mteps"] is None


@pytest.mark.parametrize(
    "args",
    [
        ("bfs", "--tol", "1e-3"),
        ("pagerank", "--source", "1"),
        ("tc", "--out", "x.csv"),
        ("cc", "--out", "-", "--json"),
        ("cc", "--out", "-", "--trace"),
        ("diameter", "--out", "x.csv"),
        ("tc", "--sources", "2"),
        ("bfs", "--k", "2"),
        ("bfs", "--repeat", "-1"),
        ("bfs", "--device", "abacus"),
    ],
)
def test_options_of_other_algorithms_are_wrong_usage(invoke, args):
    algorithm, *options = args
    assert invoke("run", algorithm, "grid:2x2", *options).exit_code == 2


def test_matrix_that_is_no_graph_is_an_error(invoke, tmp_path):
    path = tmp_path / "r.mtx"
    path.write_text("%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 3\n")
    for algorithm in CATALOGUE:
        result = invoke("run", algorithm, path)
        assert result.exit_code == 1, algorithm
        assert "DimensionMismatch" in result.stderr


def test_graph_without_vertices(invoke, invoke_json, tmp_path):
    path = tmp_path / "e.mtx"
    path.write_text("%%MatrixMarket matrix coordinate pattern general\n0 0 0\n")
    assert invoke("run", "bfs", path).exit_code == 1
    assert invoke_json("run", "cc", path)["result"]["components"] == 0
    assert invoke_json("run", "pagerank", path)["result"]["top"] == []
    assert invoke_json("run", "tc", path)["result"] == {"triangles": 0}
    for algorithm in ("bc", "closeness", "lcc"):
        assert invoke_json("run", algorithm, path)["result"]["top"] == []
    assert invoke_json("run", "diameter", path)["result"]["diameter"] == [0, 0]
    assert invoke_json("run", "jaccard", path)["result"]["pairs"] == 0


def test_cpu_agrees_with_reference(invoke_json):
    answers = [
        invoke_json("run", "bfs", "kron:6", "--device", device)["result"]
        for device in ("reference", "cpu")
    ]
    assert answers[0] == answers[1]


def test_auto_takes_what_is_there_and_says_so(invoke, monkeypatch):
    from semira.cli import graphs

    monkeypatch.setattr(graphs, "why_unusable", lambda device: "no GPU here")
    result = invoke("run", "bfs", "grid:2x2", "--device", "auto", "--json")
    assert json.loads(result.stdout)["device"] == "cpu"
    assert "no GPU here" in result.stderr


def test_maximal_independent_set(invoke_json, labelled):
    result = invoke_json("run", "mis", labelled)["result"]
    # One end of e-f, and of the square with its diagonal one end of that or both other corners.
    assert result["members"] in (2, 3)
    assert result["iterations"] >= 1


def test_graph_colouring(invoke_json, labelled):
    result = invoke_json("run", "colouring", labelled)["result"]
    # The triangles of the square with its diagonal need three.
    assert result["colours"] == 3
    assert sum(result["largest"]) == 6


def test_core_numbers(invoke_json, labelled):
    result = invoke_json("run", "kcore", labelled)["result"]
    assert (result["degeneracy"], result["innermost"], result["core_sum"]) == (2, 4, 10)


def test_trusses(invoke_json, invoke, labelled):
    # Both triangles of the square with its diagonal, then nothing.
    result = invoke_json("run", "ktruss", labelled)["result"]
    assert (result["edges"], result["vertices"]) == (5, 4)
    assert invoke_json("run", "ktruss", labelled, "--k", "4")["result"]["edges"] == 0
    assert invoke("run", "ktruss", labelled, "--k", "2").exit_code == 2
    assert invoke("run", "lcc", labelled, "--k", "3").exit_code == 2


def test_hubs_and_authorities(invoke_json, labelled):
    args = ("hits", labelled, "--tol", "1e-9", "--max-iterations", "50")
    result = invoke_json("run", *args)["result"]
    assert result["converged"]
    assert result["iterations"] <= 50
    # c has edges from a and b, and a has the most edges.
    assert result["top_hubs"][0]["vertex"] == "a"
    assert result["top_authorities"][0]["vertex"] == "c"


def test_personalised_pagerank(invoke_json, labelled):
    args = ("ppr", labelled, "--source", "e", "--tol", "1e-9", "--damping", "0.5")
    result = invoke_json("run", *args)["result"]
    assert (result["source"], result["converged"]) == ("e", True)
    # f has no way on: back to e. So e has twice the rank of f.
    assert [each["vertex"] for each in result["top"][:2]] == ["e", "f"]
    assert math.isclose(result["top"][0]["rank"], 2 / 3, rel_tol=1e-8)


def test_communities(invoke_json, labelled):
    result = invoke_json("run", "lpa", labelled, "--max-iterations", "20")["result"]
    assert (result["communities"], result["largest"]) == (2, [4, 2])
    assert result["converged"]
    assert invoke_json("run", "lpa", labelled, "--max-iterations", "1")["result"]["iterations"] == 1


def test_every_device_has_a_name(invoke, monkeypatch):
    from semira.base.errors import DeviceUnavailable
    from semira.base.settings import DEVICES
    from semira.cli import graphs

    assert {*Device} == {"auto", *DEVICES}

    def fail(name: str) -> None:
        raise DeviceUnavailable(f"device {name!r} needs python-graphblas; install it")

    monkeypatch.setattr(graphs, "backend_for", fail)
    assert graphs.why_unusable("suitesparse") is not None
    result = invoke("run", "bfs", "grid:2x2", "--device", "suitesparse")
    assert result.exit_code == 1
    assert "needs python-graphblas" in result.stderr


def test_suitesparse_runs_where_it_is_installed(invoke_json):
    pytest.importorskip("graphblas")
    record = invoke_json("run", "bfs", "grid:3x3", "--device", "suitesparse")
    assert (record["device"], record["result"]["reached"]) == ("suitesparse", 9)


def test_a_forest_has_each_edge_once(invoke_json, tmp_path):
    assert "each edge once" in CATALOGUE["msf"].summary
    target = tmp_path / "forest.csv"
    invoke_json("run", "msf", "grid:2x2", "--out", target)
    assert len(target.read_text().split()) == 1 + 3  # a header and one line for each edge


def test_a_closure_counts_the_pairs_that_it_lists(invoke_json, tmp_path):
    path, target = tmp_path / "edges.txt", tmp_path / "pairs.csv"
    path.write_text("a b\nb c\nc a\nc d\n")
    record = invoke_json("run", "closure", str(path), "--out", target)
    assert record["result"]["pairs"] == 12
    assert len(target.read_text().split()) == 1 + 12
