"""mode_rowwise against sums in dictionaries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semira as gb
from semira.ops.meaning import mode_of

SEEDS = (None, 0, -5, 2**62 + 12345)


def drawn(rng: np.random.Generator, nrows: int, ncols: int, entries: int) -> tuple[Any, Any, Any]:
    """Draw distinct positions and small values."""
    flat = rng.choice(nrows * ncols, min(entries, nrows * ncols), replace=False)
    return flat // ncols, flat % ncols, rng.integers(-3, 6, len(flat))


def expected(
    coo: tuple[Any, Any, Any], keys: dict[int, int], prefer: dict[int, int], seed: int | None
) -> dict[int, int]:
    sums: dict[int, dict[int, Any]] = {}
    for i, j, value in zip(*(part.tolist() for part in coo), strict=True):
        if j in keys:
            row = sums.setdefault(i, {})
            row[keys[j]] = row.get(keys[j], 0) + value
    return {i: mode_of(row, i, prefer.get(i), seed) for i, row in sums.items()}


def some(rng: np.random.Generator, size: int, *, full: bool, low: int, high: int) -> dict[int, int]:
    at = np.arange(size) if full else np.flatnonzero(rng.random(size) < 0.6)
    return {int(i): int(rng.integers(low, high)) for i in at}


def vector_of(entries: dict[int, int], dtype: str, size: int) -> Any:
    return gb.Vector.from_coo(list(entries), list(entries.values()), dtype=dtype, size=size)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", ["BOOL", "INT8", "INT64", "UINT32", "FP32", "FP64"])
def test_small(dtype: str, seed: int | None, device: str) -> None:
    """Matrices of many shapes, with and without keys everywhere, masks and preferred keys."""
    rng = np.random.default_rng(len(dtype) + (seed or 0) % 7)
    for full in (True, False):
        nrows, ncols = (int(side) for side in rng.integers(1, 45, 2))
        rows, cols, values = drawn(rng, nrows, ncols, 400)
        keys = some(rng, ncols, full=full, low=-3, high=6)
        prefer = some(rng, nrows, full=full, low=-3, high=6)
        key_type = "INT32" if full else "INT64"
        with gb.device(device):
            A = gb.Matrix.from_coo(rows, cols, values, nrows=nrows, ncols=ncols)
            A = A.apply("identity").new(dtype)
            u, p = vector_of(keys, key_type, ncols), vector_of(prefer, key_type, nrows)
            plain = A.mode_rowwise(u, seed=seed).new()
            chosen = A.mode_rowwise(u, prefer=p, seed=seed).new(mask=~p.S)
            flipped = A.T.new().T.mode_rowwise(u, prefer=p, seed=seed).new()
            coo = A.to_coo()
        summed = coo[2].astype(np.float64 if dtype.startswith("FP") else np.int64)
        coo = (*coo[:2], summed)
        assert plain.to_dict() == expected(coo, keys, {}, seed)
        best = expected(coo, keys, prefer, seed)
        assert flipped.to_dict() == best
        assert chosen.to_dict() == {i: key for i, key in best.items() if i not in prefer}
        assert plain.dtype.name == key_type


@pytest.mark.parametrize("iso", [True, False])
@pytest.mark.parametrize("distinct", [3, 40, 5000])
def test_rows_of_all_lengths(distinct: int, iso: bool, device: str) -> None:
    """Rows for a part of a warp, a warp, and a block; keys that no table of a block holds."""
    if device == "reference":
        pytest.skip("the reference is what others are compared with")
    rng = np.random.default_rng(distinct)
    lengths = [0, 1, 2, 7, 8, 9, 31, 32, 33, 127, 128, 129, 300, 2047, 5000, 4, 5, 6, 3, 8, 8]
    ncols = 6000
    cols = [np.sort(rng.choice(ncols, length, replace=False)) for length in lengths]
    rows = np.repeat(np.arange(len(lengths)), lengths)
    values = np.ones(len(rows), np.int32) if iso else rng.integers(-2, 4, len(rows))
    keys = {i: int(rng.integers(-distinct, distinct)) for i in range(ncols)}
    keys[17] = -(2**31)
    prefer = {i: int(rng.integers(-3, 3)) for i in range(len(lengths))}
    with gb.device(device):
        A = gb.Matrix.from_coo(
            rows, np.concatenate(cols), 1 if iso else values, nrows=len(lengths), ncols=ncols
        )
        u, p = vector_of(keys, "INT32", ncols), vector_of(prefer, "INT32", len(lengths))
        found = A.mode_rowwise(u, prefer=p, seed=3).new()
        least = A.mode_rowwise(u.apply("identity").new("INT64")).new()
    coo = rows, np.concatenate(cols), values
    assert found.to_dict() == expected(coo, keys, prefer, 3)
    assert least.to_dict() == expected(coo, keys, {}, None)


def test_in_a_loop(device: str) -> None:
    """The output is its own vector of keys, and the seed changes from one iteration to the next."""
    rng = np.random.default_rng(5)
    rows, cols, _ = drawn(rng, 30, 30, 120)
    with gb.device(device):
        A = gb.Matrix.from_coo(rows, cols, 1, nrows=30, ncols=30)
        label = gb.Vector.from_dense(np.arange(30, dtype=np.int32))
        key = gb.Scalar.from_value(7)

        def step() -> None:
            label(gb.binary.second) << A.mode_rowwise(label, prefer=label, seed=key)
            key << key.apply(gb.binary.plus, right=1)

        gb.repeat(step, 4)
        got = label.to_dense().tolist()
    labels = dict(enumerate(range(30)))
    for turn in range(4):
        coo = rows, cols, np.ones(len(rows), np.int64)
        labels = labels | expected(coo, labels, labels, 7 + turn)
    assert got == [labels[i] for i in range(30)]


@pytest.mark.parametrize("dtype", ["INT64", "FP32"])
def test_positions_of_the_largest_values(dtype: str, device: str) -> None:
    """With column numbers as keys: the first of the largest values of each row."""
    rng = np.random.default_rng(8)
    dense = rng.integers(-9, 9, (40, 70)).astype(dtype.lower().replace("fp", "float"))
    with gb.device(device):
        A = gb.Matrix.from_dense(dense)
        columns = gb.Vector.from_dense(np.arange(70, dtype=np.int32))
        found = A.mode_rowwise(columns).new().to_dense()
    assert found.tolist() == dense.argmax(axis=1).tolist()


def test_nothing_to_count(device: str) -> None:
    with gb.device(device):
        A = gb.Matrix(int, 3, 4)
        u = gb.Vector("INT32", 4)
        assert A.mode_rowwise(u).new().nvals == 0
        assert A.mode_rowwise(gb.Vector.from_scalar(1, 4, "INT32"), seed=1).new().nvals == 0


def test_nan_loses(device: str) -> None:
    with gb.device(device):
        A = gb.Matrix.from_coo([0, 0, 1], [0, 1, 0], [np.nan, -1.0, np.nan], nrows=2, ncols=2)
        u = gb.Vector.from_dense(np.array([1, 2]))
        assert A.mode_rowwise(u).new().to_dict() == {0: 2, 1: 1}


def test_empty_seed(device: str) -> None:
    with gb.device(device):
        A = gb.Matrix.from_coo([0], [0], 1, nrows=1, ncols=1)
        u = gb.Vector.from_scalar(1, 1, "INT32")
        with pytest.raises(gb.exceptions.EmptyObject):
            A.mode_rowwise(u, seed=gb.Scalar("INT64")).new()


def test_refusals() -> None:
    A, u = gb.Matrix(int, 3, 4), gb.Vector("INT32", 4)
    with pytest.raises(gb.exceptions.DimensionMismatch, match="3, and the matrix has 4 columns"):
        A.mode_rowwise(gb.Vector("INT32", 3))
    with pytest.raises(gb.exceptions.DimensionMismatch, match="prefer has size 4"):
        A.mode_rowwise(u, prefer=u)
    with pytest.raises(gb.exceptions.DomainMismatch, match="got INT8"):
        A.mode_rowwise(gb.Vector("INT8", 4))
    with pytest.raises(gb.exceptions.DomainMismatch, match="INT64 and keys INT32"):
        A.mode_rowwise(u, prefer=gb.Vector("INT64", 3))
    with pytest.raises(gb.exceptions.DomainMismatch, match="no order"):
        gb.Matrix("FC64", 3, 4).mode_rowwise(u)
    for seed in (1.5, True, "a", gb.Scalar("FP64")):
        with pytest.raises(gb.exceptions.DomainMismatch, match="seed must be an integer"):
            A.mode_rowwise(u, seed=seed)


def test_of_huge_shapes(device: str, request: pytest.FixtureRequest) -> None:
    """Entries far apart; with a seed, row numbers count, and devices that lack them say so."""
    far = 2**40
    with gb.device(device):
        A = gb.Matrix.from_coo([0, 0, far], [5, far, far], [1, 2, 1], nrows=far + 1, ncols=far + 1)
        u = gb.Vector.from_coo([5, far], np.array([7, 8]), size=far + 1)
        assert A.mode_rowwise(u).new().to_dict() == {0: 8, far: 8}
        # With --kernels the reference computes in the GPU's place.
        if device == "cpu" or (device == "cuda" and not request.config.getoption("--kernels")):
            with pytest.raises(gb.exceptions.NotImplementedException, match="leave the seed out"):
                A.mode_rowwise(u, seed=1).new()
