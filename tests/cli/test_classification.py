"""Application classification on the command line, from files in the report's format."""

from __future__ import annotations

import csv
import io

import numpy as np
from tests.helpers import classification as oracle


def test_the_golden_case_on_the_command_line(invoke, tmp_path):
    def write(text, name):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    _, (s, d, edges), vertices, (p, r, more), known = oracle.golden()

    def lines(ends, table):
        rows = [" ".join(map(str, [*row])) for row in np.column_stack([*ends, table]).tolist()]
        first = f"{len(rows)} {len(ends) + table.shape[1]}"
        return "\n".join([first, *rows]) + "\n"

    pairs = "".join(f"{i} {j}\n" for i, j in zip(s, d, strict=True))
    words = [
        "run", "classify", write(pairs, "graph.txt"),
        "--vertices", write(lines([range(6)], vertices), "v"),
        "--edges", write(lines([s, d], edges), "e"),
        "--pattern-vertices", write(lines([range(3)], known), "pv"),
        "--pattern-edges", write(lines([p, r], more), "pe"), "--device", "cpu",
    ]  # fmt: skip
    result = invoke(*words, "--out", "-")
    assert result.exit_code == 0, result.output
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    found = [float(row[f"log_probability_{j}"]) for row in rows for j in range(3)]
    assert [f"{x:e}" for x in found] == oracle.GOLDEN.split()
    picture = tmp_path / "p.svg"
    assert invoke(*words, "--plot", picture).exit_code == 0
    assert picture.read_text().startswith("<?xml")
    wrong = invoke(*words, "--reverse-from", "both")
    assert wrong.exit_code != 0
    assert "source, destination" in " ".join(wrong.output.split())
