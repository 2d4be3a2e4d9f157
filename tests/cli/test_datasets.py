"""``semira datasets``: list, path, fetch."""

from __future__ import annotations

import pytest

from semira import datasets
from semira.base import settings


@pytest.fixture(autouse=True)
def folder(tmp_path):
    before = settings.override(data_dir=tmp_path)
    yield tmp_path
    settings.restore(before)


def test_list(invoke, invoke_json):
    text = invoke("datasets", "list", "--source", "dimacs9").stdout
    assert "dimacs9/USA-road-d.NY" in text
    assert "264,346" in text
    assert "karate" not in text
    rows = invoke_json("datasets", "list")["datasets"]
    assert [row["name"] for row in rows] == datasets.names()
    assert not any(row["fetched"] for row in rows)


def test_path_and_fetch_of_a_file_that_is_there(invoke, folder):
    file = folder / "suitesparse" / "Newman" / "karate.mtx"
    assert invoke("datasets", "path", "karate").stdout.split() == [str(file)]
    file.parent.mkdir(parents=True)
    file.write_text("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n")
    assert invoke("datasets", "fetch", "karate").stdout.split() == [str(file)]
    assert invoke("info", str(file)).exit_code == 0


def test_unknown_name_fetches_nothing(invoke, folder):
    result = invoke("datasets", "fetch", "karate", "karat")
    assert result.exit_code == 1
    assert "did you mean karate" in result.stderr
    assert list(folder.iterdir()) == []
