"""Subgraph matching on the command line."""

from __future__ import annotations

import csv
import io


def test_triangles_of_a_file_with_names(invoke, invoke_json, tmp_path):
    def write(name, text):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    graph = write("graph.txt", "a b\na c\nb c\nc d\n")
    words = ["run", "subgraph-match", graph, "--symmetrise", "--device", "cpu", "--pattern"]
    words.append(write("pattern.txt", "0 1\n1 0\n0 2\n2 0\n1 2\n2 1\n"))
    record = invoke_json(*words)
    assert record["result"] == {
        "matches": 6, "places": 1, "automorphisms": 6, "listed": 6, "complete": True
    }  # fmt: skip
    result = invoke(*words, "--distinct", "--out", "-")
    (row,) = csv.DictReader(io.StringIO(result.stdout))
    assert [row[f"vertex_{j}_label"] for j in range(3)] == ["a", "b", "c"]
    labels, known = write("labels.txt", "1 1 2 3"), write("known.txt", "2, *, 1")
    more = ["--labels", labels, "--pattern-labels", known, "--limit", "1"]
    result = invoke(*words, *more, "--out", "-")
    (row,) = csv.DictReader(io.StringIO(result.stdout))
    # The vertex with a label is matched before the one with any.
    assert [row[f"vertex_{j}_label"] for j in range(3)] == ["c", "b", "a"]
    wrong = invoke(*words, "--labels", labels)
    assert wrong.exit_code != 0
    assert "the graph has labels and the pattern has none" in " ".join(wrong.output.split())
