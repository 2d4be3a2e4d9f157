"""Maximum flows, minimum cuts and fused lassos on the command line."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("on_reference")


@pytest.fixture
def pipes(tmp_path):
    path = tmp_path / "pipes.csv"
    path.write_text("from,to,weight\na,b,3\na,c,2\nb,d,2\nc,d,9\n")
    return str(path)


def test_a_flow_between_two_names(invoke, invoke_json, pipes):
    record = invoke_json("run", "maximum-flow", pipes, "--source", "a", "--sink", "d")
    found = record["result"]
    assert (found["value"], found["cut_value"], found["cut_edges"]) == (4, 4, 2)
    assert found["method"] == "highest_label"
    result = invoke(
        "run", "maximum-flow", pipes, "--source", "a", "--sink", "d", "--out", "-",
        "--algorithm", "push_relabel",
    )  # fmt: skip
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [(row["from_label"], row["to_label"], row["flow"]) for row in rows] == [
        ("a", "b", "2"), ("a", "c", "2"), ("b", "d", "2"), ("c", "d", "2")
    ]  # fmt: skip


def test_a_cut_lists_both_sides(invoke, pipes):
    result = invoke("run", "minimum-cut", pipes, "--source", "a", "--sink", "d", "--out", "-")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    sides = {row["label"]: row["side"] for row in rows}
    assert sides == {"a": "0", "b": "0", "c": "1", "d": "1"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--source", "a"), "needs --sink"),
        (("--source", "a", "--sink", "z"), "--sink 'z' is none of the 4 labels"),
        (("--source", "a", "--sink", "a"), "source and sink are both 0"),
        (("--source", "a", "--sink", "d", "--algorithm", "dinic"), "none of auto, highest_label"),
    ],
)
def test_wrong_ends_are_told(invoke, pipes, words, told):
    result = invoke("run", "minimum-cut", pipes, *words)
    assert result.exit_code != 0
    assert told in " ".join(result.output.replace("│", " ").split())


def test_an_image_is_denoised(invoke, invoke_json, tmp_path):
    ids = np.arange(30).reshape(5, 6)
    across = np.stack([ids[:, :-1].ravel(), ids[:, 1:].ravel()], 1)
    down = np.stack([ids[:-1].ravel(), ids[1:].ravel()], 1)
    np.savetxt(tmp_path / "grid.csv", np.concatenate([across, down]), fmt="%d", delimiter=",")
    image = np.repeat([[0.0, 0, 0, 9, 9, 9]], 5, axis=0)
    image[2, 1] = 1
    np.savetxt(tmp_path / "image.txt", image)
    words = ("run", "fused-lasso", str(tmp_path / "grid.csv"), "--y", str(tmp_path / "image.txt"))
    found = invoke_json(*words, "--lambda2", "0.5")["result"]
    assert found["levels"] == 2
    assert found["converged"]
    assert found["relative_gap"] < 1e-12
    target = tmp_path / "fit.png"
    result = invoke(*words, "--lambda2", "0.5", "--plot", str(target), "--out", "-")
    assert result.exit_code == 0, result.output
    assert target.stat().st_size > 1000
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    fitted = np.array([float(row["fitted"]) for row in rows]).reshape(5, 6)
    assert np.ptp(fitted[:, :3]) == np.ptp(fitted[:, 3:]) == 0
