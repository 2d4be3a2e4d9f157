"""Products that pull into a block of vectors."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from tests.helpers.every import every

import semira as gb
from semira.backends.cpu.compressed import Compressed
from semira.backends.cpu.host import blocks
from semira.backends.cpu.storage import CpuMatrix, empty_matrix
from semira.base.dtypes import FP64
from semira.contract import Arg, Statement


@every("ring", ["plus_times", "any_pair", "min_firstj", "max_secondi"])
@every("mask", [None, "S", "~V"])
@every("limit", [("MOST_ROWS", 32), ("MOST_BYTES", 1)])
def test_a_tall_left_operand_is_pulled_block_by_block(ring, mask, limit, monkeypatch):
    monkeypatch.setattr(blocks, *limit)
    heights, pulled = [], blocks.pulled_rows
    monkeypatch.setattr(
        blocks,
        "pulled_rows",
        lambda given, *a, **b: heights.append(given.a.nmajor) or pulled(given, *a, **b),
    )
    rng = np.random.default_rng(7)
    with gb.device("cpu"):
        A, B, M = (
            gb.Matrix.from_coo(
                rng.integers(0, rows, 300), rng.integers(0, cols, 300),
                rng.integers(0, 2, 300), nrows=rows, ncols=cols, dup_op="max",
            )
            for rows, cols in ((100, 40), (40, 50), (100, 50))
        )  # fmt: skip
        chosen = {None: {}, "S": {"mask": M.S}, "~V": {"mask": ~M.V}}[mask]
        wanted = A.mxm(B, ring).new(FP64, **chosen)
        found = A.mxm(B, ring).new(FP64, method="pull", **chosen)
    assert found.isequal(wanted)
    assert heights == [32, 32, 32, 4]


@pytest.mark.parametrize(
    ("bytes_", "rows"), [(8 * 90 * 64, 64), (8 * 90 * 64 - 1, 32), (1 << 40, 1024)]
)
def test_a_block_is_no_higher_than_its_room(bytes_, rows, monkeypatch):
    monkeypatch.setattr(blocks, "MOST_BYTES", bytes_)
    sides = {"a": SimpleNamespace(nminor=40), "b": SimpleNamespace(nmajor=50)}
    assert (
        blocks.height_of(SimpleNamespace(**sides, iso=None, add=SimpleNamespace(type=FP64))) == rows
    )


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("full", [0, 1])
def test_pairs_of_a_full_operand_are_counted_without_a_walk(full, transposed):
    rng = np.random.default_rng(4)
    shapes = [(6, 9), (9, 4)]
    given = [np.where(rng.random(shape) < 0.4, 1.0, 0.0) for shape in shapes]
    given[full][:] = 1.0
    pairs = float(((given[0] != 0).astype(int) @ (given[1] != 0).astype(int)).sum())
    held = [each.T if transposed else each for each in given]
    args = [
        CpuMatrix(*each.shape, FP64, csr=Compressed(*each.shape, *_rows_of(each))) for each in held
    ]
    statement = Statement("mxm", 2, (Arg(0, transposed), Arg(1, transposed)))
    assert blocks.count("frontier_edges", statement, args, None, empty_matrix(6, 4, FP64)) == pairs


def _rows_of(dense):
    rows, cols = np.nonzero(dense)
    indptr = np.searchsorted(rows, np.arange(dense.shape[0] + 1)).astype(np.int32)
    return indptr, cols.astype(np.int32), dense[rows, cols]
