"""largest_per_row against sorted lists, and samples of rows that loops draw by it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from tests.helpers.every import every

import semira as gb
from semira.exceptions import DomainMismatch, InvalidValue

DTYPES = ["BOOL", "INT16", "UINT32", "INT64", "UINT64", "FP32", "FP64"]


def matrix_of(rows: Any, cols: Any, values: Any, shape: tuple[int, int], dtype: str) -> Any:
    kept = {"nrows": shape[0], "ncols": shape[1], "dtype": dtype}
    return gb.Matrix.from_coo(rows, cols, values, **kept)


def drawn(dtype: str, count: int) -> Any:
    """Draw values with ties, extremes and, of floats, NaN, infinities and both zeros."""
    rng = np.random.default_rng(len(dtype))
    kind = gb.dtypes.lookup_dtype(dtype).np_type
    values = rng.integers(0, 2 if dtype == "BOOL" else 7, count).astype(kind)
    if np.dtype(kind).kind == "f":
        special = [np.nan, np.inf, -np.inf, -0.0, 0.0, -1.5, 1e-40]
        values[: len(special)] = special
    elif dtype != "BOOL":
        low, high = np.iinfo(kind).min, np.iinfo(kind).max
        values[:3] = [low, high, high - 1]
    rng.shuffle(values)
    return values


def expected(rows: Any, cols: Any, values: Any, k: int) -> dict[int, dict[int, Any]]:
    """Sort each row by value, NaN last, then column."""
    found: dict[int, list[Any]] = {}
    for i, j, value in zip(*(each.tolist() for each in (rows, cols, values)), strict=True):
        is_nan = bool(np.isnan(value))
        found.setdefault(i, []).append((is_nan, 0 if is_nan else -value, j, value))
    cut = {i: {j: value for *_, j, value in sorted(row)[:k]} for i, row in found.items()}
    return {i: row for i, row in cut.items() if row}


def same(found: Any, wanted: dict[int, dict[int, Any]]) -> None:
    rows, cols, values = found.to_coo()
    flat = [(i, j, row[j]) for i, row in sorted(wanted.items()) for j in sorted(row)]
    assert rows.tolist() == [i for i, _, _ in flat]
    assert cols.tolist() == [j for _, j, _ in flat]
    assert np.array_equal(
        values, np.array([v for *_, v in flat]), equal_nan=values.dtype.kind == "f"
    )


@every("dtype", DTYPES)
def test_values_of_every_dtype(dtype: str, device: str) -> None:
    flat = np.sort(np.random.default_rng(1).choice(12 * 30, 120, replace=False))
    rows, cols, values = flat // 30, flat % 30, drawn(dtype, 120)
    with gb.device(device):
        A = matrix_of(rows, cols, values, (12, 30), dtype)
        for k in (0, 1, 4, 30):
            same(A.largest_per_row(k).new(), expected(rows, cols, values, k))


def test_transposes_and_masks(device: str) -> None:
    flat = np.sort(np.random.default_rng(1).choice(12 * 30, 120, replace=False))
    rows, cols, values = flat // 30, flat % 30, drawn("FP64", 120)
    with gb.device(device):
        A = matrix_of(rows, cols, values, (12, 30), "FP64")
        flipped = A.T.largest_per_row(2).new()
        kept = A.largest_per_row(3).new(mask=A.first_per_row(2).new().S)
    same(flipped, expected(cols, rows, values, 2))
    first = expected(rows, cols, -np.arange(120), 2)
    both = {
        i: {j: value for j, value in row.items() if j in first[i]}
        for i, row in expected(rows, cols, values, 3).items()
    }
    same(kept, {i: row for i, row in both.items() if row})


@pytest.mark.parametrize("dtype", ["INT16", "FP64"])
def test_rows_of_all_lengths(dtype: str, device: str) -> None:
    """Rows for the lanes of a warp, a warp and a block, ties at the border among them."""
    lengths = [0, 1, 31, 32, 33, 64, 300, 4096, 4097, 5000, 7]
    rng = np.random.default_rng(3)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    cols = np.concatenate([np.sort(rng.choice(6000, length, replace=False)) for length in lengths])
    values = rng.integers(-500, 500, len(rows))
    values[rows == 9] = 5
    with gb.device(device):
        A = matrix_of(rows, cols, values, (len(lengths), 6000), dtype)
        for k in (1, 20, 4096):
            same(A.largest_per_row(k).new(), expected(rows, cols, values, k))


def test_equal_values_and_empty_matrices(device: str) -> None:
    with gb.device(device):
        A = gb.Matrix.from_coo([0, 0, 0, 2], [1, 2, 4, 0], 7, nrows=3, ncols=5)
        assert A.largest_per_row(2).new().to_dicts() == {0: {1: 7, 2: 7}, 2: {0: 7}}
        assert gb.Matrix("FP64", 0, 3).largest_per_row(1).new().nvals == 0
        assert gb.Matrix("FP64", 3, 3).largest_per_row(1).new().nvals == 0
        with pytest.raises(InvalidValue, match="k=-1 must lie in"):
            A.largest_per_row(-1)
        for k in (1.5, None):
            with pytest.raises(InvalidValue, match=f"k must be an integer, got {k}"):
                A.first_per_row(k)
        for cut in (A.first_per_row, A.largest_per_row):
            assert cut(2**40).new().isequal(A)
        with pytest.raises(DomainMismatch, match="FC64 have no order"):
            gb.Matrix("FC64", 2, 2).largest_per_row(1)


def test_huge_sides(device: str) -> None:
    far = 2**40
    with gb.device(device):
        A = gb.Matrix.from_coo(
            [5, 5, 5, far], [9, far, far + 1, 3], [1.0, 4.0, 2.0, 3.0], nrows=far + 2, ncols=far + 2
        )
        found = A.largest_per_row(2).new().to_dicts()
    assert found == {5: {far: 4.0, far + 1: 2.0}, far: {3: 3.0}}


# Samples in loops ---------------------------------------------------------------------------------


def counted(device: str, rounds: int, draw: Any, weights: list[float]) -> Counter[tuple[int, ...]]:
    """Count the sets of columns that a loop draws of rows with the same entries."""
    size = 60 if device == "reference" else 200
    with gb.device(device):
        A = gb.Matrix.from_dense(np.tile(weights, (size, 1)))
        keys, taken = gb.Matrix("FP64", *A.shape), gb.Matrix("INT64", *A.shape)
        bits, seed = gb.Matrix("INT64", *A.shape), gb.Scalar.from_value(5)

        def step() -> None:
            draw(A, keys, seed)
            taken << keys.largest_per_row(2).new().apply("one")
            bits << bits.apply("times", right=16)
            bits(gb.binary.plus) << taken
            seed << seed + 1

        bits << A.apply("one").new("INT64")
        bits << bits.apply("times", right=0)
        gb.repeat(step, max_iterations=rounds)
        digits = bits.to_dense(fill_value=0)
    sets: Counter[tuple[int, ...]] = Counter()
    for at in range(rounds):
        for row in digits >> (4 * at) & 1:
            sets[tuple(np.flatnonzero(row).tolist())] += 1
    return sets


@pytest.mark.parametrize("weighted", [False, True])
def test_loops_draw_sets_with_their_probabilities(weighted: bool, device: str) -> None:
    weights = [1.0, 3.0, 0.5, 2.0]

    def uniform(A: Any, keys: Any, seed: Any) -> None:
        keys << A.apply("random_uniform", seed)

    def by_weight(A: Any, keys: Any, seed: Any) -> None:
        uniform(A, keys, seed)
        keys << keys.apply("log")
        keys << keys.ewise_mult(A, "truediv")

    found = counted(device, 12, by_weight if weighted else uniform, weights)
    share = np.array(weights) / sum(weights) if weighted else np.full(4, 0.25)
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    chances = [
        share[i] * share[j] / (1 - share[i]) + share[j] * share[i] / (1 - share[j])
        for i, j in pairs
    ]
    counts = np.array([found[pair] for pair in pairs])
    assert counts.sum() == found.total()
    from scipy.stats import chisquare  # takes a second to load

    assert chisquare(counts, np.array(chances) * counts.sum()).pvalue > 1e-4


def test_a_loop_that_samples_reads_no_size(device: str) -> None:
    """Every device draws the same, and the cuda backend has room for what rows may keep."""

    def draw(where: str) -> tuple[Any, Any]:
        with gb.device(where):
            A = gb.io.read("kron:6")
            keys, sample = gb.Matrix("FP64", *A.shape), gb.Matrix("BOOL", *A.shape)
            seed = gb.Scalar.from_value(1)

            def step() -> None:
                keys << A.apply("random_uniform", seed)
                sample << keys.largest_per_row(3).new().apply("one")
                seed << seed + 1

            gb.repeat(step, max_iterations=3)
            told = gb.explain(step, max_iterations=3, device="cuda") if where == device else None
            return sample.to_coo(), str(told)

    (rows, cols, _), told = draw(device)
    expected_rows, expected_cols, _ = draw("reference")[0]
    assert rows.tolist() == expected_rows.tolist()
    assert cols.tolist() == expected_cols.tolist()
    assert "reads its size" not in told
    assert told.count("a matrix with room for all it may hold") == 3
