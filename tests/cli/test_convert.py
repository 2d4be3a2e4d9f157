"""``semira generate`` and ``semira convert``."""

from __future__ import annotations

import pytest

import semira
from semira.files import read_edges


@pytest.mark.parametrize("name", ["g.mtx", "g.mtx.gz", "g.npz", "g.csv"])
def test_generated_file_reads_back_as_the_same_graph(invoke, tmp_path, name):
    path = tmp_path / name
    assert invoke("generate", "road:7x5,seed=4", path).exit_code == 0
    assert semira.io.read(path).isequal(semira.io.read("road:7x5,seed=4"))


def test_generate_writes_to_standard_output(invoke):
    result = invoke("generate", "grid:1x3", "--to", "csv")
    header, *edges = result.stdout.split()
    assert header == "source,target"
    assert sorted(edges) == ["0,1", "1,0", "1,2", "2,1"]
    assert invoke("generate", "grid:1x3").stdout.startswith("%%MatrixMarket")


def test_every_listed_example_is_a_generator(invoke):
    from semira.generators import GENERATORS, is_generator_spec

    listing = invoke("generate", "--list")
    assert listing.exit_code == 0
    for name, row in GENERATORS.items():
        assert f"\n{name} " in listing.stdout
        assert row.example in listing.stdout
        assert is_generator_spec(row.example)


@pytest.mark.parametrize(
    ("spec", "words"), [("krn:4", "--list"), ("kron:x", "size"), ("kron:4,eff=2", "'eff=2'")]
)
def test_bad_spec_says_what_is_valid(invoke, tmp_path, spec, words):
    result = invoke("generate", spec, tmp_path / "g.mtx")
    assert result.exit_code == 1
    assert words in result.stderr
    assert not list(tmp_path.iterdir())


def test_convert_keeps_labels_and_values(invoke, labelled, tmp_path):
    target = tmp_path / "g.csv"
    assert invoke("convert", labelled, target).exit_code == 0
    edges = read_edges(target)
    assert edges.labels.tolist() == list("abcdef")
    assert sorted(edges.values.tolist()) == [1, 1, 1, 2, 5, 9]


def test_convert_reads_standard_input(invoke):
    result = invoke("convert", "-", "--to", "csv", input=b"%%MatrixMarket matrix coordinate "
                    b"integer general\n2 2 1\n1 2 7\n")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert result.stdout.split() == ["source,target,weight", "0,1,7"]


def test_convert_cleans_on_request(invoke, tmp_path):
    source, target = tmp_path / "g.txt", tmp_path / "g.npz"
    source.write_text("0 0\n0 1\n")
    options = ("--symmetrise", "--drop-self-loops", "--weights", "random", "--seed", "5")
    assert invoke("convert", source, target, *options).exit_code == 0
    edges = read_edges(target)
    assert sorted(zip(edges.rows.tolist(), edges.cols.tolist(), strict=True)) == [(0, 1), (1, 0)]
    assert len(set(edges.values.tolist())) == 1


def test_convert_folds_repeats_on_request(invoke, tmp_path):
    source, target = tmp_path / "g.txt", tmp_path / "g.csv"
    source.write_text("a b 2\na b 3\nc a 1\n")
    assert invoke("convert", source, target).exit_code == 0
    assert read_edges(target).values.tolist() == [2, 3, 1]
    assert invoke("convert", source, target, "--dup-op", "plus").exit_code == 0
    edges = read_edges(target)
    assert edges.values.tolist() == [5, 1]
    assert edges.labels.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("name", ["g.xyz", "no/such/folder/g.mtx"])
def test_unwritable_target_is_an_error(invoke, tmp_path, name):
    result = invoke("convert", "grid:2x2", tmp_path / name)
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("command", [("convert", "absent.txt"), ("generate", "kron:40")])
def test_target_that_cannot_be_written_is_refused_first(invoke, tmp_path, command):
    result = invoke(*command, tmp_path / "graph.xyz")
    assert result.exit_code == 1
    assert "choose one of mtx, npz, csv" in result.stderr
    assert "does not exist" in invoke(*command, tmp_path / "no" / "graph.mtx").stderr


def test_generate_without_a_spec_says_what_to_give(invoke):
    result = invoke("generate")
    assert result.exit_code == 2
    assert "give a SPEC, such as kron:16" in result.stderr
    assert "the nearest is kron" in invoke("generate", "krn:4").stderr
    assert "is no generator" in invoke("generate", "x.mtx").stderr


def test_options_of_edge_lists_are_the_same_everywhere(invoke, invoke_json, tmp_path):
    path, target = tmp_path / "edges.txt", tmp_path / "graph.mtx"
    path.write_text("source,target\n0,1\n1,2\n")
    options = ("--header", "--ids", "index", "--size", "7")
    assert invoke("convert", path, target, *options).exit_code == 0
    assert semira.io.read(target).shape == (7, 7)
    for command in (("info", path), ("run", "cc", path), ("plan", "cc", path)):
        assert invoke_json(*command, *options)
        refused = invoke(*command, "--no-header", "--ids", "index")
        assert "vertex 'source' is not an integer" in refused.stderr
    assert invoke_json("run", "cc", path, *options)["n"] == 7


def test_a_generated_graph_is_written_for_other_programs(invoke, invoke_json, tmp_path):
    path = tmp_path / "road.gr"
    assert invoke("generate", "road:5x6", path).exit_code == 0
    read, made = (invoke_json("info", each) for each in (path, "road:5x6"))
    assert read["format"] == "dimacs"
    for fact in ("n", "entries", "degree", "weight", "is_symmetric"):
        assert read[fact] == made[fact], fact
    halves = tmp_path / "halves.csv"
    halves.write_text("0,1,0.5\n")
    result = invoke("convert", halves, tmp_path / "halves.gr")
    assert result.exit_code == 1
    assert "the weight 0.5 is no whole number" in result.stderr
    assert not (tmp_path / "halves.gr").exists()
