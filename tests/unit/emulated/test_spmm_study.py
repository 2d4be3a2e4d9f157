"""The tiled kernels of spmm_study.cu, on the emulated GPU beside NumPy."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from tests.helpers.emulated import build, driver, studies

pytestmark = pytest.mark.skipif(
    not build.has_compiler(), reason="the emulation needs g++ on an x86-64 processor"
)


study = functools.partial(studies.study, "spmm_study")
kernels = functools.partial(studies.kernels_of, "spmm_study")


class Gpu:
    """Memory and launches of one test."""

    def __init__(self) -> None:
        self.driver = driver.EmulatedDriver()
        self.device = driver.EmulatedDevice(self.driver)
        self.kept: list[Any] = []

    def put(self, values: np.ndarray) -> tuple[int, np.ndarray]:
        """Return the address of a copy, and the copy."""
        buffer = self.device.allocate(max(values.nbytes, 16), stream=None)
        self.kept.append(buffer)
        start = buffer.handle - buffer.memory.ctypes.data
        view = buffer.memory[start : start + values.nbytes].view(values.dtype)
        view[:] = values.ravel()
        return buffer.handle, view

    def start(self, name: str, blocks: int, threads: int, *words: int) -> None:
        kernel = kernels().get_kernel(name)
        self.driver.start(kernel.handle, name, (blocks, threads, 0), list(words))


def sparse(nrows: int, ncols: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Return a matrix of small whole numbers, an empty row and a full one among them; and B."""
    rng = np.random.default_rng(nrows * ncols)
    a = rng.integers(1, 5, (nrows, ncols)) * (rng.random((nrows, ncols)) < share)
    a[-1] = 0
    a[0] = 2
    return a.astype(np.float32), rng.integers(-3, 4, (ncols, 64)).astype(np.float32)


def multiply(gpu: Gpu, variant: Any, a: np.ndarray, b: np.ndarray, wanted: int) -> np.ndarray:
    """Return A B, as the script launches it, over `wanted` ranges of columns at most."""
    (nrows, ncols), columns = a.shape, b.shape[1]
    rows, indices = np.nonzero(a)
    indptr = np.searchsorted(rows, np.arange(nrows + 1)).astype(np.int32)
    tiles = -(-ncols // variant.tile)
    each = -(-tiles // wanted)
    ranges, parts = -(-tiles // each), tiles * variant.split
    given = [gpu.put(x)[0] for x in (indptr, indices.astype(np.int32), a[rows, indices], b)]
    starts, found = gpu.put(np.full(nrows * (parts + 1), -1, np.int32))
    gpu.start(
        "find_starts",
        3,
        64,
        given[0],
        given[1],
        starts,
        nrows,
        parts,
        variant.tile // variant.split,
    )
    assert found.reshape(nrows, -1)[:, 0].tolist() == indptr[:-1].tolist()
    assert found.reshape(nrows, -1)[:, -1].tolist() == indptr[1:].tolist()
    room, _ = gpu.put(np.full((ranges, nrows, columns), np.nan, np.float32))
    out, made = gpu.put(np.full((nrows, columns), np.nan, np.float32))
    groups = -(-nrows // variant.rows_of_block)
    gpu.start(variant.name, groups * ranges, 512, starts, *given[1:], room, nrows, ncols, each)
    gpu.start("add_parts", -(-nrows * columns // 64), 64, room, out, nrows * columns, ranges)
    return made.reshape(nrows, columns)


@pytest.mark.parametrize("number", range(len(study().VARIANTS)))
@pytest.mark.parametrize("backwards", [False, True], ids=["forwards", "backwards"])
def test_products(number: int, backwards: bool) -> None:
    gpu, variant = Gpu(), study().VARIANTS[number]
    gpu.driver.backwards = backwards
    # The last tile, part, range and block of rows are not full; some rows have nothing in a part.
    nrows = variant.rows_of_block + 3
    for ncols, share, wanted in ((3 * variant.tile + 37, 0.15, 2), (variant.tile - 1, 0.9, 1)):
        a, b = sparse(nrows, ncols, share)
        np.testing.assert_array_equal(multiply(gpu, variant, a, b, wanted), a @ b)


def test_every_multiprocessor_has_work() -> None:
    for variant in study().VARIANTS:
        for nrows, ncols in ((2, 1 << 23), (128, 131_072), (4096, 4096)):
            ranges, each = variant.ranges(nrows, ncols, 132)
            tiles = -(-ncols // variant.tile)
            assert (ranges - 1) * each < tiles <= ranges * each
            if study().suits(variant, nrows):
                assert ranges * -(-nrows // variant.rows_of_block) >= 132
