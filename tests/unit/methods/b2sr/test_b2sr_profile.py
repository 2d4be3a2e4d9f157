"""What tiles of bits would take: counted, estimated with a bound, and classes of patterns."""

from __future__ import annotations

import numpy as np
import pytest

import semira as gb
from semira.methods.b2sr.profile import TileCount, auto_size


def matrix(rows, cols, size: int) -> gb.Matrix:
    places = np.unique(np.asarray(rows) * size + cols)
    return gb.Matrix.from_coo(*np.divmod(places, size), True, dtype=bool, nrows=size, ncols=size)


def clustered(size: int, seed: int = 0) -> gb.Matrix:
    """Return a graph whose entries lie in clumps, of which some rows have more."""
    rng = np.random.default_rng(seed)
    rows = np.repeat(rng.permutation(size), rng.integers(0, 24, size))
    return matrix(rows, (rows // 40 * 37 + rng.integers(0, 30, len(rows))) % size, size)


def test_counts_and_bytes_of_a_counted_profile():
    A = clustered(3000)
    found = A.bits_profile()
    rows, cols, _ = A.to_coo()
    assert (found.nrows, found.nvals, found.sampled, found.bands) == (3000, len(rows), 94, 94)
    for each in found.sizes:
        tiles = len({(i // each.bits, j // each.bits) for i, j in zip(rows, cols, strict=True)})
        nbytes = 4 * (-(-3000 // each.bits) + 1) + tiles * (2 + each.bits**2 // 8)
        assert (each.tiles, each.error, each.nbytes) == (tiles, 0, nbytes)
        assert each.of_pattern == nbytes / (4 * len(rows) + 4 * 3001)
        assert each.of_matrix == nbytes / (8 * len(rows) + 4 * 3001)
        assert each.fill == len(rows) / (tiles * each.bits**2)
    assert found.smallest == min(found.sizes, key=lambda each: each.nbytes).bits
    with gb.device("cpu"):
        B = clustered(3000)
        u = gb.Vector.from_coo([1, 2000], 1, size=3000)
        B.mxv(u, "any_pair").new(method="b2sr", bits=8, direction="pull").wait()
    kept = next(size for name, size in B.memory_usage().items() if name == "csr.b2sr")
    assert kept == found.sizes[1].nbytes


def test_the_interval_of_a_sample_holds_the_number_nearly_always():
    A = clustered(20_000)
    exact = {each.bits: each.tiles for each in A.bits_profile().sizes}
    inside, tried = 0, 0
    for seed in range(40):
        found = A.bits_profile(bands=64, seed=seed)
        assert (found.sampled, found.bands) == (64, 625)
        for each in found.sizes:
            assert 0 < each.error < 0.2 * exact[each.bits]
            inside += abs(each.tiles - exact[each.bits]) <= each.error
            tried += 1
    # 95 % of 160, less three standard deviations.
    assert inside >= 143
    assert A.bits_profile(bands=64, seed=3) == A.bits_profile(bands=64, seed=3)
    assert A.bits_profile(bands=10_000).sizes == A.bits_profile().sizes


def test_a_sample_of_one_is_refused():
    with pytest.raises(gb.exceptions.InvalidValue, match="bands=1; give 2 or more, or None"):
        clustered(100).bits_profile(bands=1)
    for options in ({"bands": "2"}, {"bands": 2.5}, {"seed": -1}, {"seed": None}):
        with pytest.raises(gb.exceptions.InvalidValue, match="; give"):
            clustered(100).bits_profile(**options)


def test_empty_and_rectangular():
    assert [each.tiles for each in gb.Matrix(bool, 0, 0).bits_profile().sizes] == [0] * 4
    assert [each.tiles for each in gb.Matrix(bool, 40, 3).bits_profile().sizes] == [0] * 4
    A = gb.Matrix.from_coo([0, 39], [99, 0], True, nrows=40, ncols=100)
    assert [each.tiles for each in A.bits_profile().sizes] == [2] * 4


GRID = np.arange(900).reshape(30, 30)
LINKS = np.concatenate([
    np.stack([GRID[:, :-1].ravel(), GRID[:, 1:].ravel()]),
    np.stack([GRID[:-1].ravel(), GRID[1:].ravel()]),
], axis=1)  # fmt: skip
FAR = np.random.default_rng(0).integers(0, 2000, (2, 9000))
DENSE = np.divmod(np.arange(64 * 64), 64)
PATTERNS = {
    "dot": (FAR[0], FAR[1], 2000, {"dot"}),
    "block": (DENSE[0] + 900, DENSE[1], 1024, {"block"}),
    "stripe": (np.arange(900), np.arange(900)[::-1], 900, {"stripe", "road"}),
    "hybrid": (np.arange(900), np.arange(900), 900, {"diagonal", "stripe", "road", "hybrid"}),
    "road": (LINKS.ravel(), LINKS[::-1].ravel(), 900, {"diagonal", "stripe", "road", "hybrid"}),
}


@pytest.mark.parametrize("name", PATTERNS)
def test_classes(name):
    rows, cols, size, wanted = PATTERNS[name]
    found = matrix(rows, cols, size).bits_profile().classes
    assert list(found) == ["dot", "diagonal", "block", "stripe", "road", "hybrid"]
    assert {name for name, holds in found.items() if holds} == wanted


def test_the_size_that_auto_takes_weighs_tiles():
    counts = [TileCount(4, 1000, 0), TileCount(8, 300, 0), TileCount(16, 200, 0)]
    assert auto_size(tuple(counts)) == (8, 300)
    assert auto_size((*counts, TileCount(32, 50, 0))) == (32, pytest.approx(245))


def test_its_text_is_a_table():
    found = clustered(3000).bits_profile(bands=30)
    first, *table, last = str(found).splitlines()
    assert first.startswith("3000 x 3000")
    assert "30 of 94 bands" in first
    cells = [line.split() for line in table[1:]]
    assert [row[:4] for row in cells] == [
        [str(part) for part in (each.bits, each.tiles, each.error, each.nbytes)]
        for each in found.sizes
    ]
    assert last == f"smallest: bits={found.smallest}; bits='auto' takes {found.auto}"
