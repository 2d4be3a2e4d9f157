"""Soft-max over rows beside SciPy, on every device and for rows of every length."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax, logsumexp, softmax
from tests.helpers.every import every

import semira as gb
from semira.exceptions import DomainMismatch, InvalidValue, RecordError


@pytest.fixture
def device(device):
    with gb.device(device):
        yield device


def random_rows(seed, lengths, ncols, scale=1.0):
    rng = np.random.default_rng(seed)
    cols = np.concatenate([np.sort(rng.choice(ncols, k, replace=False)) for k in lengths])
    rows = np.repeat(np.arange(len(lengths)), lengths)
    return rows, cols.astype(int), rng.normal(0, scale, len(rows))


@every("log", [False, True])
@every("scale", [1.0, 1e4])
def test_rows_of_every_length(device, log, scale):
    lengths = [0, 1, 2, 31, 32, 33, 200, 0, 1024, 1025, 3000]
    if device == "reference":
        lengths = [0, 1, 2, 33, 0]
    rows, cols, values = random_rows(1, lengths, 4000, scale)
    A = gb.Matrix.from_coo(rows, cols, values, nrows=len(lengths), ncols=4000)
    found = A.softmax_rowwise(log=log).new()
    i, j, x = found.to_coo()
    assert np.array_equal(i, rows)
    assert np.array_equal(j, cols)
    by_row = np.split(values, np.cumsum(lengths)[:-1])
    oracle = log_softmax if log else softmax
    expected = np.concatenate([oracle(row) for row in by_row if len(row)])
    assert x == pytest.approx(expected, rel=1e-13, abs=1e-300)
    sums = A.reduce_rowwise(gb.agg.logaddexp).new().to_dict()
    expected = {at: logsumexp(row) for at, row in enumerate(by_row) if len(row)}
    assert sums == pytest.approx(expected, rel=1e-13)


def test_dense_blocks_and_transposes(device):
    block = np.random.default_rng(2).normal(size=(6, 9))
    A = gb.Matrix.from_dense(block)
    assert A.softmax_rowwise().new().to_dense() == pytest.approx(softmax(block, axis=1))
    assert A.T.softmax_rowwise().new().to_dense() == pytest.approx(softmax(block.T, axis=1))
    masked = gb.Matrix(gb.dtypes.FP64, 6, 9)
    masked(A.select(">", 0).new().S) << A.softmax_rowwise()
    assert masked.nvals == (block > 0).sum()
    twice = (A + A).softmax_rowwise().new().to_dense()
    assert twice == pytest.approx(softmax(2 * block, axis=1))


@every("dtype", ["BOOL", "INT8", "UINT64", "FP32", "FP64"])
def test_dtypes(device, dtype):
    A = gb.Matrix.from_coo([0, 0, 1], [1, 2, 0], [1, 0, 1], dtype)
    found = A.softmax_rowwise().new()
    assert found.dtype == ("FP32" if dtype == "FP32" else "FP64")
    e = np.exp(1.0)
    expected = {0: {1: e / (1 + e), 2: 1 / (1 + e)}, 1: {0: 1.0}}
    for i, row in found.to_dicts().items():
        assert row == pytest.approx(expected[i], rel=1e-6 if dtype == "FP32" else 1e-14)


def test_values_that_are_shared_and_no_values(device):
    A = gb.Matrix.from_coo([0, 0, 1], [1, 2, 0], 5.0)
    assert A.softmax_rowwise().new().to_dicts() == {0: {1: 0.5, 2: 0.5}, 1: {0: 1.0}}
    for shape in ((0, 0), (3, 0), (0, 3), (3, 3)):
        empty = gb.Matrix(gb.dtypes.FP64, *shape)
        found = empty.softmax_rowwise().new()
        assert (found.nvals, found.shape) == (0, shape)


def test_values_that_are_no_numbers(device):
    inf, nan = np.inf, np.nan
    rows = [[1.0, nan], [inf, 1.0], [-inf, -inf], [-inf, 2.0]]
    A = gb.Matrix.from_dense(rows)
    found = A.softmax_rowwise().new().to_dense()
    assert np.isnan(found[:3]).any(axis=1).all()
    assert found[3].tolist() == [0.0, 1.0]
    assert A.softmax_rowwise(log=True).new().to_dense()[3].tolist() == [-inf, 0.0]


def test_wrong_use(device):
    A = gb.Matrix.from_coo([0], [0], [1j])
    with pytest.raises(DomainMismatch, match="the values are of FC64"):
        A.softmax_rowwise()
    with pytest.raises(InvalidValue, match="log='yes'; give True or False"):
        gb.Matrix.from_coo([0], [0], [1.0]).softmax_rowwise(log="yes")
    B = gb.Matrix.from_coo([0], [0], [1.0])

    def step():
        B << B.softmax_rowwise()

    with pytest.raises(RecordError, match="softmax_rowwise runs a kernel of its own"):
        gb.repeat(step, max_iterations=2)


def test_the_matrix_and_the_result_go_their_own_ways(device):
    A = gb.Matrix.from_coo([0, 0, 1], [0, 1, 1], [1.0, 2.0, 3.0], nrows=2, ncols=2)
    found = A.softmax_rowwise().new()
    before = found.to_dicts()
    A[0, 0] = 7.0
    A[1, 0] = 5.0
    assert found.to_dicts() == before
    found[1, 1] = -1.0
    del found[0, 1]
    assert A.to_dicts() == {0: {0: 7.0, 1: 2.0}, 1: {0: 5.0, 1: 3.0}}
    assert found.to_dicts()[1] == {1: -1.0}


def test_many_rows_and_few_entries(device):
    A = gb.Matrix.from_coo([5, 5, 400_000], [1, 2, 0], [0.0, 0.0, 1.0], nrows=500_000, ncols=3)
    if device == "reference":
        A = gb.Matrix.from_coo([5, 5, 400], [1, 2, 0], [0.0, 0.0, 1.0], nrows=500, ncols=3)
    found = A.softmax_rowwise().new()
    assert found.to_coo()[2].tolist() == [0.5, 0.5, 1.0]
    assert found.reduce_rowwise("plus").new().nvals == 2
