"""Options of single algorithms: what they change, what the help says of them, what is refused."""

from __future__ import annotations

import csv
import itertools
import json
import re

import numpy as np
import pytest
from tests.helpers.every import every

import semira
from semira.algorithms import BFS_METHODS
from semira.algorithms.components_choice import ALGORITHMS as CC_ALGORITHMS
from semira.algorithms.sssp_choice import ALGORITHMS as SSSP_ALGORITHMS
from semira.backends.registry import preview_of
from semira.cli import plan, run
from semira.cli.catalogue import CATALOGUE, options_of, others_of, parameters_of, typed
from semira.cli.searches import hyphened

pytestmark = pytest.mark.usefixtures("on_reference")

SEARCHES = [hyphened(name) for name in BFS_METHODS]


def lines_of(path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines()))


def test_parents_are_written_beside_levels(invoke, labelled, tmp_path):
    path = tmp_path / "tree.csv"
    args = ("run", "bfs", labelled, "--source", "a", "--out", path)
    result = invoke(*args, "--parents")
    assert "level and parent of 4 vertices written" in result.stderr
    found = {row["label"]: (int(row["level"]), int(row["parent"])) for row in lines_of(path)}
    # Columns `index` and `parent` number vertices alike; d follows c.
    assert found == {"a": (0, 0), "b": (1, 0), "c": (1, 0), "d": (2, 2)}
    assert invoke(*args).exit_code == 0
    assert "parent" not in lines_of(path)[0]


def test_the_graph_is_not_written_over(invoke, tmp_path):
    path = tmp_path / "g.csv"
    path.write_text("0,1\n1,2\n")
    for command in ("bfs", "louvain"):
        result = invoke("run", command, path, "--out", tmp_path / "." / "g.csv")
        assert result.exit_code == 1
        assert "FileWriteError" in result.stderr
        assert "is read as well" in result.stderr
    assert path.read_text() == "0,1\n1,2\n"


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("where", ["reference", "cpu"])
def test_a_search_by_name_is_told_where_it_is_another(invoke, name, where):
    args = ("run", "bfs", "kron:5", "--json", "--device", where)
    plain, named = invoke(*args), invoke(*args, "--method", name)
    records = [json.loads(each.stdout) for each in (plain, named)]
    assert records[0]["result"] == records[1]["result"]
    way = "pull" if name == "vertex-centric-pull" else "push"
    assert {each["method"] for each in records[1]["plan"]["ran"]} == {way}
    replaced = name != "edge-centric"
    assert (f"{where} cannot do; it runs direction={way} in its place" in named.stderr) == replaced


def test_a_search_has_its_name_in_any_spelling(invoke):
    for name in ("edge-centric", "Edge-Centric", "frontier, block queue", "auto"):
        assert invoke("run", "bfs", "kron:4", "--method", name).exit_code == 0


def test_a_search_by_name_is_planned_for_a_gpu_that_is_not_there(invoke):
    assert preview_of("cuda") is not None
    result = invoke(
        "plan", "bfs", "kron:5", "--method", "frontier-global-queue", "--device", "cuda"
    )
    assert result.exit_code == 0
    assert "places asked for by global" in result.stdout


@pytest.mark.parametrize("command", ["run", "plan"])
def test_an_unknown_search_is_refused_before_the_graph_is_read(invoke, monkeypatch, command):
    module = {"run": run, "plan": plan}[command]
    monkeypatch.setattr(module, "load_graph", lambda *_args: pytest.fail("the graph was read"))
    result = invoke(command, "bfs", "kron:4", "--method", "random-walk")
    assert result.exit_code == 2
    words = " ".join(result.stderr.replace("│", " ").split())
    assert "--method random-walk" in words
    assert all(name in words for name in (*SEARCHES, "auto"))


def test_a_surfer_starts_at_several_vertices(invoke_json, labelled):
    args = ("ppr", labelled, "--tol", "1e-9")
    found = invoke_json("run", *args, "--source", "a,e")["result"]
    assert found["source"] == ["a", "e"]
    with semira.device("reference"):
        matrix = semira.io.read(labelled)
        rank = semira.algorithms.personalised_pagerank(matrix, [0, 4], tol=1e-9).rank
    values = rank.to_dense()
    assert found["top"][0]["vertex"] == "abcdef"[int(np.argmax(values))]
    assert found["top"][0]["rank"] == values.max()
    assert invoke_json("run", *args, "--source", "e")["result"]["source"] == "e"


def test_a_core_in_place_of_core_numbers(invoke, invoke_json, labelled, tmp_path):
    path = tmp_path / "core.csv"
    found = invoke_json("run", "kcore", labelled, "--k", "2", "--out", path)["result"]
    assert (found["vertices"], found["edges"]) == (4, 5)
    assert {row["label"]: row["value"] for row in lines_of(path)} == {
        "a": "3", "b": "2", "c": "3", "d": "2",
    }  # fmt: skip
    assert "K-core on" in invoke("run", "kcore", labelled, "--k", "2").stdout
    # Zero is a number as well, and a core may be empty.
    assert invoke_json("run", "kcore", labelled, "--k", "0")["result"]["vertices"] == 6
    empty = invoke_json("run", "kcore", labelled, "--k", "9")["result"]
    assert (empty["vertices"], empty["edges"]) == (0, 0)


def test_the_eccentricity_of_every_vertex(invoke_json, labelled, tmp_path):
    path = tmp_path / "ecc.csv"
    found = invoke_json("run", "ecc", labelled, "--out", path)["result"]
    assert (found["known"], found["diameter"], found["radius"]) == (6, [2, 2], [1, 1])
    written = {row["label"]: (int(row["lower"]), int(row["upper"])) for row in lines_of(path)}
    expected = {"a": 1, "b": 2, "c": 1, "d": 2, "e": 1, "f": 1}
    assert written == {name: (value, value) for name, value in expected.items()}
    once = invoke_json("run", "ecc", "grid:9x9", "--searches", "1", "--out", path)["result"]
    assert (once["searches"], once["known"] < 81) == (1, True)
    assert all(int(row["lower"]) <= int(row["upper"]) for row in lines_of(path))


def test_searches_together_are_one(invoke, invoke_json, labelled, tmp_path):
    path = tmp_path / "near.csv"
    args = ("run", "msbfs", labelled, "--source", "b,e")
    found = invoke_json(*args, "--together", "--out", path)["result"]
    assert found == {"source": ["b", "e"], "reached": 6, "depth": 3, "level_sum": 7}
    levels = {row["label"]: int(row["value"]) for row in lines_of(path)}
    assert levels == {"a": 3, "b": 0, "c": 1, "d": 2, "e": 0, "f": 1}
    near = invoke_json(*args, "--together", "--max-depth", "1")["result"]
    assert (near["reached"], near["depth"]) == (4, 1)
    each = invoke_json(*args, "--max-depth", "0")["result"]
    assert (each["searches"], each["reached"], each["depth"]) == (2, 2, 0)
    assert invoke(*args, "--max-depth", "-1").exit_code == 2
    # Without --together a row for each: no vector.
    assert invoke(*args, "--out", path).exit_code == 1


def test_components_of_a_sample(invoke, invoke_json, labelled):
    args = ("run", "cc", labelled, "--algorithm", "sample")
    assert invoke_json(*args, "--sample", "1")["result"]["components"] == 2
    result = invoke("run", "cc", labelled, "--sample", "1")
    assert result.exit_code == 1
    assert "'sample' has a number of edges" in result.stderr


def test_a_block_to_begin_with_is_drawn(invoke_json):
    found = [
        invoke_json("run", "embedding", "rgg:5", "--max-iterations", "1", *seed)["result"]["values"]
        for seed in ((), ("--seed", "0"), ("--seed", "1"))
    ]
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize(
    ("algorithm", "source", "words"),
    [
        ("bfs", "0,5", "names 2 vertices, but bfs starts from one"),
        ("sssp", "0,5,1", "ppr, msbfs, khop"),
        ("msbfs", "0,9", "--source 9 is outside [0, 9)"),
        ("ppr", "0,", "--source ''"),
    ],
)
def test_sources_that_cannot_be_taken(invoke, algorithm, source, words):
    result = invoke("run", algorithm, "grid:3x3", "--source", source)
    assert result.exit_code == 1
    assert words in result.stderr


def test_a_label_may_have_a_comma(invoke_json, tmp_path):
    path = tmp_path / "names.csv"
    path.write_text('source,target\n"Rome, Georgia",Athens\nAthens,Rome\n')
    found = invoke_json("run", "bfs", path, "--source", "Rome, Georgia")["result"]
    assert (found["source"], found["reached"]) == ("Rome, Georgia", 3)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (
            ("bfs", "--k", "2"),
            "bfs has no --k, which is for kcore, ktruss, khop; options of bfs: --source, --target",
        ),
        (
            ("jaccard", "--together"),
            "jaccard has no --together, which is for msbfs; options of jaccard: none of its own",
        ),
        (("sssp", "--parents"), "sssp has no --parents, which is for bfs"),
        (("khop", "--max-depth", "2"), "khop has no --max-depth, which is for msbfs"),
    ],
)
def test_a_refused_option_says_whose_it_is(invoke, args, words):
    algorithm, *options = args
    result = invoke("run", algorithm, "grid:2x2", *options)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.replace("│", " ").split())
    assert invoke("plan", "mxm", "grid:2x2", *options).exit_code == 2


def test_help_has_every_method():
    for name, option, values in (
        ("bfs", "method", SEARCHES),
        ("sssp", "algorithm", SSSP_ALGORITHMS),
        ("cc", "algorithm", CC_ALGORITHMS),
    ):
        text = options_of(CATALOGUE[name])[option]
        assert set(re.findall(r"[\w-]+", text)) >= {"auto", *values}


def test_the_option_of_before_still_works(invoke, invoke_json, labelled):
    found = [
        invoke_json("run", "sssp", labelled, option, "window", "--delta", "2")
        for option in ("--algorithm", "--method")
    ]
    assert [each["result"]["method"] for each in found] == ["window", "window"]
    words = invoke("run", "sssp", "--help").output
    assert "--algorithm" in words
    assert "--method" not in words


@every("algorithm", list(CATALOGUE))
def test_help_has_the_defaults_of_the_functions(algorithm):
    row = CATALOGUE[algorithm]
    assert all(text.endswith(".") for text in options_of(row).values())
    for name, each in parameters_of(row).items():
        if each.type is not bool and each.default is not None and name not in others_of(row):
            assert str(each.default).replace("e-0", "e-") in options_of(row)[name], name


@every("algorithm", list(CATALOGUE))
def test_help_of_an_algorithm_has_its_options_and_no_others(invoke, algorithm):
    row = CATALOGUE[algorithm]
    text = invoke("run", algorithm, "--help").stdout
    panel = text.partition("─ Options ")[2].partition("╰")[0]
    shown = set(re.findall(r"(?<=│ )--[a-z-]+", panel))
    assert shown == {*map(typed, options_of(row)), "--help"}
    assert row.summary in " ".join(text.split())
    # Nothing is cut or broken where the screen is narrow, and flags have no type.
    assert "…" not in text
    assert not re.search("<[a-z]", text)


def test_help_of_a_command_of_algorithms_is_a_table(invoke):
    for command, products in (("run", ()), ("plan", ("vxm", "mxv", "mxm"))):
        text = invoke(command, "--help").stdout
        assert max(map(len, text.splitlines())) <= 80
        head, *lines = text[text.index("algorithm ") :].splitlines()
        assert head.split("  ")[0].startswith("algorithm")
        first = [line.split()[0] for line in lines if line.startswith(" ") and line[1:2].strip()]
        names = [*CATALOGUE, *products]
        assert [name for name in first if name in names] == names
    words = " ".join(invoke("run", "--help").stdout.split())
    for row in CATALOGUE.values():
        # Words and options are whole.
        assert {*row.summary.split(), *map(typed, options_of(row))} <= set(words.split())


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("run", "bffs", "grid:2x2"), "no algorithm 'bffs'; did you mean 'bfs'?"),
        (("run", "xyz", "grid:2x2"), "no algorithm 'xyz'; semira run -h lists them all"),
        (("plan", "mxmm", "grid:2x2"), "did you mean 'mxm'?"),
        (("inform",), "no command 'inform'; did you mean 'info'?"),
        (("pagerank", "grid:2x2"), "no command 'pagerank'; semira run pagerank is one"),
        (("datasets", "lst"), "did you mean 'list'?"),
        (("run", "bfs", "grid:2x2", "--device", "cuta"), "did you mean 'cuda'?"),
        (("run", "bfs", "grid:2x2", "--weights", "rand"), "'rand' is none of random"),
        (("run", "bfs", "grid:2x2", "--repeat", "x"), "'x' is not a whole number, at least 0"),
        (("run", "bfs", "grid:2x2", "--repeat", "-1"), "'-1' is not a whole number, at least 0"),
        (("run", "pagerank", "grid:2x2", "--damping", "a"), "'a' is not a number"),
        (("run", "pagerank", "grid:2x2", "--dampin", "1"), "no option --dampin; did you mean"),
        (("info", "grid:2x2", "--base", "2"), "'2' is not a whole number, at least 0, at most 1"),
    ],
)
def test_wrong_usage_is_told_in_plain_words(invoke, args, words):
    result = invoke(*args)
    assert result.exit_code == 2
    text = " ".join(result.stderr.replace("│", " ").split())
    assert words in text
    for word in ("Value error", "Input should", "unable to parse", "type="):
        assert word not in text


def test_options_may_stand_before_the_algorithm(invoke_json, labelled):
    found = invoke_json("run", "--source", "e", "bfs", labelled)
    assert found["result"]["reached"] == 2


@pytest.mark.parametrize(
    ("algorithm", "facts"),
    [
        ("pagerank", ["top"]),
        ("ppr", ["top"]),
        ("hits", ["top_hubs", "top_authorities"]),
        ("bc", ["top"]),
        ("closeness", ["top"]),
        ("lcc", ["top"]),
    ],
)
def test_the_first_vertices_are_as_many_as_asked_for(invoke_json, invoke, algorithm, facts):
    args = ("run", algorithm, "kron:5")
    assert [len(invoke_json(*args)["result"][name]) for name in facts] == [10] * len(facts)
    found = invoke_json(*args, "--top", "3")["result"]
    lines = invoke(*args, "--top", "3").stdout.splitlines()
    for name in facts:
        ranked = [list(each.values()) for each in found[name]]
        assert len(ranked) == 3
        at = lines.index(name.replace("_", " "))
        # A head, and a line for each vertex.
        assert [line.split()[0] for line in lines[at + 2 : at + 5]] == [str(v) for v, _ in ranked]
    assert invoke(*args, "--top", "0").exit_code == 2


def test_only_what_ranks_vertices_has_a_top():
    ranking = {name for name, row in CATALOGUE.items() if "top" in options_of(row)}
    assert ranking == {"pagerank", "ppr", "hits", "bc", "closeness", "lcc"}


@pytest.mark.parametrize("algorithm", ["pagerank", "ppr", "hits"])
def test_weights_count_where_asked_for(invoke_json, labelled, algorithm):
    args = ("run", algorithm, labelled, "--tol", "1e-9")
    plain, equal, weighted = (
        invoke_json(*args, *given)["result"] for given in ((), ("--unweighted",), ("--weighted",))
    )
    assert plain == equal != weighted
    if algorithm == "pagerank":
        matrix = semira.io.read(labelled)
        with semira.device("reference"):
            rank = semira.algorithms.pagerank(matrix, weighted=True, tol=1e-9).rank.to_dense()
        assert weighted["top"][0]["vertex"] == "abcdef"[int(np.argmax(rank))]


def names_of(invoke, args) -> dict[str, str]:
    lines = invoke(*args).stdout.splitlines()[1:]
    return dict(line.split("  ", 1) for line in lines if "  " in line)


@pytest.mark.parametrize("where", ["reference", "cpu"])
def test_a_route_by_names(invoke, invoke_json, labelled, where):
    args = ("run", "sssp", labelled, "--source", "a", "--target", "d", "--device", where)
    found = invoke_json(*args)["result"]
    # The diagonal a-c is 5 long, by b it is 2.
    assert (found["target"], found["length"], found["route"]) == ("d", 3, ["a", "b", "c", "d"])
    shown = {name.strip(): text.strip() for name, text in names_of(invoke, args).items()}
    assert (shown["length"], shown["route"]) == ("3", "a > b > c > d")
    hops = invoke_json("run", "bfs", *args[2:])["result"]
    assert (hops["target"], hops["length"], hops["route"]) == ("d", 2, ["a", "c", "d"])


@pytest.mark.parametrize("algorithm", ["bfs", "sssp"])
def test_routes_that_are_none_or_of_one_vertex(invoke, invoke_json, labelled, algorithm):
    args = ("run", algorithm, labelled, "--source", "a", "--target")
    own = invoke_json(*args, "a")["result"]
    assert (own["length"], own["route"]) == (0, ["a"])
    none = invoke_json(*args, "e")["result"]
    assert (none["length"], none["route"]) == (None, [])
    assert "none: the target cannot be reached" in invoke(*args, "e").stdout
    result = invoke(*args, "z")
    assert result.exit_code == 1
    assert "--target 'z' is none of the 6 labels" in result.stderr
    assert "--target 9 is outside" in invoke("run", algorithm, "grid:3x3", "--target", "9").stderr


@pytest.mark.parametrize("algorithm", ["bfs", "sssp"])
def test_a_route_is_a_path_of_that_length(invoke_json, invoke, algorithm):
    args = ("run", algorithm, "road:9x9", "--source", "0", "--target", "80", "--device", "cpu")
    found = invoke_json(*args)["result"]
    route, matrix = found["route"], semira.io.read("road:9x9")
    assert (route[0], route[-1]) == (0, 80)
    steps = [matrix[i, j].value for i, j in itertools.pairwise(route)]
    assert found["length"] == (sum(steps) if algorithm == "sssp" else len(steps))
    # Only the ends of a long one are shown.
    middle = len(route) - 16
    assert middle > 0
    assert f"... {middle} more (--json has all) ..." in invoke(*args).stdout


def test_a_target_changes_nothing_else(invoke_json, labelled, tmp_path):
    plain = invoke_json("run", "bfs", labelled)["result"]
    found = invoke_json("run", "bfs", labelled, "--target", "d", "--out", tmp_path / "x.csv")
    assert {name: found["result"][name] for name in plain} == plain
    assert "parent" not in lines_of(tmp_path / "x.csv")[0]


@pytest.mark.parametrize(
    ("name", "command"), [("connected_components", "cc"), ("triangle-count", "tc")]
)
def test_the_name_in_python_is_taken_too(invoke, name, command) -> None:
    found = [invoke("run", each, "grid:3x3", "--json") for each in (name, command)]
    assert [each.exit_code for each in found] == [0, 0]
    assert invoke("run", name, "--help").stdout == invoke("run", command, "--help").stdout
