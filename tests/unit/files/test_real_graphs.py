"""Real graphs, where they are on disk: the counts that their table states."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers.data import data_folder, load_graph
from tests.helpers.every import every

from semira.files import read_edges, write_edges

FOLDER = data_folder()
NAMES = sorted(path.stem for path in FOLDER.glob("*.npz")) if FOLDER else []


def stated() -> dict[str, list[str]]:
    """Return the cells of the table of graphs, by name."""
    lines = (FOLDER / "README.md").read_text().splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "|" in line]
    return {row[0]: row for row in rows if len(row) > 7 and row[4].replace(",", "").isdigit()}


@pytest.mark.skipif(FOLDER is None, reason="no real graphs here")
@every("name", NAMES)
def test_read_real_graph_has_the_stated_size(name):
    _, _, shape, _, nnz, directed, weights, *_ = stated()[name]
    edges = load_graph(name)
    edges.validate()
    sizes = [int(size.replace(",", "")) for size in shape.split(" x ")]
    assert [edges.nrows, edges.ncols] == (sizes * 2)[:2]
    assert edges.nnz == int(nnz.replace(",", ""))
    assert edges.symmetric is (directed == "False")
    assert (edges.values is None) is (weights == "no")


def test_real_graph_survives_every_format(tmp_path):
    edges = load_graph("karate")
    keys = np.sort(edges.rows * 34 + edges.cols)
    for suffix in ("mtx", "csv", "npz"):
        path = tmp_path / f"karate.{suffix}"
        write_edges(path, edges)
        back = read_edges(path)
        assert (back.nrows, back.values) == (34, None)
        np.testing.assert_array_equal(np.sort(back.rows * 34 + back.cols), keys)
