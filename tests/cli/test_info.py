"""``semira info``."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from semira.cli.info import degree_histogram


def test_facts_of_a_labelled_directed_graph(invoke_json, labelled):
    facts = invoke_json("info", labelled)
    assert facts["graph"] == labelled
    assert (facts["n"], facts["columns"], facts["entries"]) == (6, 6, 6)
    assert facts["has_labels"] is True
    assert facts["is_weighted"] is True
    assert facts["is_symmetric"] is False
    assert facts["self_loops"] == 0
    assert facts["degree"] == {
        "least": 0, "mean": 1.0, "median": 1.0, "largest": 2, "of": "a", "isolated": 0,
    }  # fmt: skip
    assert facts["weight"] == {"least": 1, "largest": 9, "sum": 19.0, "negative": 0}


def test_symmetry_looks_at_values_and_stored_zeros(invoke_json, tmp_path):
    path = tmp_path / "g.csv"
    for text, is_symmetric in (
        ("0,1,2\n1,0,2\n", True),
        ("0,1,2\n1,0,3\n", False),
        ("0,1,0\n1,2,0\n", False),
        ("0,1,0\n1,0,0\n", True),
    ):
        path.write_text(text)
        assert invoke_json("info", path)["is_symmetric"] is is_symmetric, text


def test_symmetrise_and_drop_self_loops(invoke_json, tmp_path):
    path = tmp_path / "g.txt"
    path.write_text("0 0\n0 1\n1 2\n")
    assert invoke_json("info", path)["self_loops"] == 1
    facts = invoke_json("info", path, "--symmetrize", "--drop-self-loops")
    assert (facts["entries"], facts["self_loops"], facts["is_symmetric"]) == (4, 0, True)


def test_standard_input_may_be_gzipped(invoke_json):
    data = gzip.compress(b"1 2\n2 3\n")
    assert invoke_json("info", "-", "--base", "1", input=data)["n"] == 3


def test_columns_and_format_of_a_table(invoke_json, tmp_path):
    path = tmp_path / "table"
    path.write_text("x 7.5 0 1\ny 2.5 1 2\n")
    facts = invoke_json("info", path, "--format", "edgelist", "--columns", "2,3,1")
    assert facts["weight"]["sum"] == 10.0


def test_rectangular_matrix_has_no_symmetry(invoke_json, tmp_path):
    path = tmp_path / "r.mtx"
    path.write_text("%%MatrixMarket matrix coordinate pattern general\n2 3 2\n1 3\n2 1\n")
    facts = invoke_json("info", path)
    assert (facts["n"], facts["columns"]) == (2, 3)
    assert facts["is_symmetric"] is None
    assert facts["self_loops"] is None


def test_complex_weights_have_no_order(invoke_json, tmp_path):
    path = tmp_path / "complex.mtx"
    path.write_text("%%MatrixMarket matrix coordinate complex general\n2 2 2\n1 2 1 2\n2 1 3 4\n")
    result = invoke_json("info", path)
    assert (result["dtype"], result["is_weighted"], result["weight"]) == ("FC64", True, None)


def test_empty_matrix_is_described(invoke_json, tmp_path):
    path = tmp_path / "empty.mtx"
    path.write_text("%%MatrixMarket matrix coordinate pattern general\n0 0 0\n")
    facts = invoke_json("info", path)
    assert (facts["n"], facts["entries"], facts["degree"]) == (0, 0, None)
    assert facts["degree_histogram"] == []


def test_text_is_plain_when_piped(invoke):
    result = invoke("info", "grid:3x3")
    assert result.exit_code == 0
    assert result.stdout.startswith("grid:3x3\n")
    assert "entries         24\n" in result.stdout
    assert result.stdout.isascii()


def test_file_options_are_refused_for_a_generator(invoke):
    result = invoke("info", "kron:4", "--columns", "0,1")
    assert result.exit_code == 1
    assert "columns: a generator has no such option" in result.stderr


def test_size_adds_vertices_without_edges(invoke, invoke_json, tmp_path):
    path = tmp_path / "edges.txt"
    path.write_text("0 1\n1 2\n")
    assert invoke_json("info", path, "--size", "10")["n"] == 10
    refused = invoke("info", path, "--size", "2")
    assert refused.exit_code == 1
    assert "vertex 2 lies outside the size 2; give a larger one" in refused.stderr
    assert invoke("info", path, "--size", "-1").exit_code == 2
    assert "size: a generator has no such option" in invoke("info", "kron:4", "--size", "9").stderr
    path.write_text("# nothing yet\n")
    assert "semira --size" in invoke("info", path).stderr
    assert invoke_json("info", path, "--size", "4")["n"] == 4


def test_header_is_taken_or_left(invoke, invoke_json, tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("gate,stand\n0,1\n1,2\n")
    facts = invoke_json("info", path)
    assert (facts["entries"], facts["header"], facts["delimiter"]) == (2, ["gate", "stand"], ",")
    assert facts["guesses"] == ["first line taken as a header (gate, stand)"]
    assert invoke_json("info", path, "--header")["guesses"] == []
    assert invoke_json("info", path, "--no-header")["entries"] == 3
    path.write_text("source,target\n0,1\n")
    assert invoke_json("info", path)["n"] == 2
    assert invoke_json("info", path, "--no-header")["n"] == 4
    path.write_text("user,friend\nann,bob\nbob,cy\n")
    facts = invoke_json("info", path)
    assert (facts["n"], facts["possible_header"]) == (5, ["user", "friend"])
    assert "header=True?" in invoke("info", path).stdout


def test_vertices_are_numbers_or_names(invoke, invoke_json, tmp_path):
    path = tmp_path / "edges.txt"
    path.write_text("3 9\n9 5\n")
    facts = invoke_json("info", path)
    assert (facts["n"], facts["ids"], facts["unnamed_vertices"]) == (10, "index", 7)
    facts = invoke_json("info", path, "--ids", "name")
    assert (facts["n"], facts["ids"], facts["unnamed_vertices"]) == (3, "name", None)
    path.write_text("1001 1002\n")
    assert invoke_json("info", path)["n"] == 2
    assert invoke_json("info", path, "--ids", "index")["n"] == 1003
    assert invoke_json("info", path, "--ids", "auto")["n"] == 2
    path.write_text("007 008\n")
    assert invoke_json("info", path)["degree"]["of"] == "007"
    assert "choose one of auto, index, name" in invoke("info", path, "--ids", "names").stderr
    assert invoke("info", path, "--relabel").exit_code == 2


def test_repeats_and_self_loops_are_counted(invoke, invoke_json, tmp_path):
    path = tmp_path / "g.txt"
    path.write_text("a b 2\na b 3\nb b 1\n")
    facts = invoke_json("info", path, "--drop-self-loops")
    assert (facts["repeated_edges"], facts["dup_op"]) == (1, "first")
    assert (facts["dropped_self_loops"], facts["weight"]["sum"]) == (1, 2)
    facts = invoke_json("info", path, "--dup-op", "plus")
    assert (facts["dup_op"], facts["weight"]["sum"]) == ("plus", 6)
    assert "'plusplus'" in invoke("info", path, "--dup-op", "plusplus").stderr
    lines = list(map(str.split, invoke("info", path).stdout.splitlines()))
    assert ["repeated", "edges", "1"] in lines
    assert ["ids", "name"] in lines
    path = tmp_path / "g.gr"
    path.write_text("p sp 2 2\na 1 2 9\na 1 2 3\n")
    assert invoke_json("info", path)["weight"]["sum"] == 3


def test_missing_weights_decimal_commas_and_encodings(invoke, invoke_json, tmp_path):
    path = tmp_path / "g.csv"
    path.write_bytes("von;nach;km\nZürich;Bern;2,5\nBern;Basel;\n".encode("latin-1"))
    options = ("--encoding", "latin-1", "--decimal", ",")
    assert "--missing" in invoke("info", path, *options).stderr
    facts = invoke_json("info", path, *options, "--missing", "drop")
    assert (facts["entries"], facts["dropped_missing"], facts["weight"]["sum"]) == (1, 1, 2.5)
    facts = invoke_json("info", path, *options, "--missing", "0.5")
    assert (facts["replaced_missing"], facts["weight"]["sum"]) == (1, 3.0)
    assert facts["degree"]["of"] == "Zürich"
    assert "missing='none'" in invoke("info", path, *options, "--missing", "none").stderr
    assert "--encoding" in invoke("info", path).stderr


def test_columns_by_name(invoke, invoke_json, tmp_path):
    path = tmp_path / "g.csv"
    path.write_text("day,origin,destination,km\nmon,Bern,Thun,31\ntue,Thun,Basel,126\n")
    facts = invoke_json("info", path, "--columns", "origin,destination,km")
    assert (facts["n"], facts["weight"]["sum"]) == (3, 157)
    refused = invoke("info", path, "--columns", "origin,miles")
    assert refused.exit_code == 1
    assert "no column 'miles'; the first line names day, origin, destination, km" in refused.stderr
    assert invoke("info", path, "--columns", "origin").exit_code == 1


def test_what_was_guessed_is_said_once_on_a_terminal(tmp_path):
    path = tmp_path / "g.csv"
    path.write_text("gate,stand\n0,1\n0,1\n")
    program = f"""
import contextlib, sys
from semira.cli.main import app, main
sys.argv = ["semira", "info", {str(path)!r}]
with contextlib.suppress(SystemExit):
    main()
print("next", file=sys.stderr)
app(["convert", {str(path)!r}, "g.csv"])
"""
    both = on_terminal([sys.executable, "-c", program], tmp_path).split("next")
    for said, more in zip(both, ("; 1 repeated edge", ""), strict=True):
        assert said.count("semira: ") == 1
        assert f"semira: {path}: first line taken as a header (gate, stand){more}\r\n" in said


def on_terminal(command: list[str], folder: Path) -> str:
    """Run a command whose standard error is a terminal; return what it wrote there."""
    master, slave = os.openpty()
    with os.fdopen(master, "rb", buffering=0) as terminal:
        subprocess.run(
            command, cwd=folder, check=True, stderr=slave, stdout=subprocess.DEVNULL, timeout=120
        )
        os.set_blocking(terminal.fileno(), False)
        said = (terminal.read() or b"").decode()
        os.close(slave)
        return said


def test_histogram_counts_every_vertex_once():
    degrees = np.random.default_rng(3).geometric(0.01, 500) - 1
    buckets = degree_histogram(degrees)
    assert sum(count for _, _, count in buckets) == 500
    for low, high, count in buckets:
        assert count == np.count_nonzero((degrees >= low) & (degrees <= high))


def test_delimiter_is_passed_on(invoke, invoke_json, tmp_path):
    path = tmp_path / "edges.txt"
    path.write_text("a|b|x|2\nb|c|y|3\n")
    refused = invoke("info", path)
    assert refused.exit_code == 1
    result = invoke_json("info", path, "--delimiter", "|", "--columns", "0,1,3")
    assert (result["n"], result["entries"], result["weight"]["sum"]) == (3, 2, 5)
    path.write_text("1;2;3;4;5\n")
    words = invoke("info", path).stderr
    assert "columns=(0, 1) (semira --columns 0,1)" in words
    path.write_text("1|2\n")
    words = invoke("info", path).stderr
    assert "delimiter='|' (semira --delimiter '|')" in words
    assert "delimiter" in invoke("info", "kron:4", "--delimiter", ";").stderr


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("krn:14", "the nearest is kron"),
        ("kron", "needs a size, as in kron:16"),
        ("foo:3", "there are kron, rmat"),
    ],
)
def test_a_misspelt_generator_is_told_from_a_missing_file(invoke, name, words):
    result = invoke("info", name)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"semira: MissingFile: {name}: no such file")
    assert words in result.stderr
    assert "semira generate --list" in result.stderr
    assert "generate" not in invoke("info", "grid.mtx").stderr


def test_bits_tell_tiles_bytes_and_classes(invoke, invoke_json):
    assert "bits" not in invoke_json("info", "kron:8")
    found = invoke_json("info", "kron:8", "--bits")["bits"]
    assert [each["bits"] for each in found["sizes"]] == [4, 8, 16, 32]
    assert found["sampled"] == found["bands"] == 8
    # All tiles of a side that has as many as a full matrix.
    assert found["sizes"][3]["occupied"] == found["sizes"][3]["tiles"] / 64
    shown = invoke("info", "kron:8", "--bits").stdout
    for word in ("of pattern", "occupied", "bits='auto'", "8 of 8", found["sizes"][1]["tiles"]):
        assert str(word) in shown
