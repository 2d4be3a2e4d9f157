"""The second orientation of small matrices, which the host makes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from tests.helpers.every import every
from tests.helpers.fake_cuda import FakeCuda, fake_cuda

from semira.backends.cuda.runtime import turning
from semira.backends.cuda.runtime.primitives import Primitives
from semira.base.dtypes import FP64, INT8
from semira.formats import MatrixArrays

__all__ = ["fake_cuda"]


def arrays_of(given: scipy.sparse.csr_array, dtype, *, iso: bool, orientation="csr"):
    nrows, ncols = given.shape if orientation == "csr" else given.shape[::-1]
    values = np.ones(1, dtype.np_type) if iso else given.data.astype(dtype.np_type)
    return MatrixArrays(
        nrows, ncols, dtype, orientation, given.indptr.astype(np.int64),
        given.indices.astype(np.int32), values, iso,
    )  # fmt: skip


def random(nrows: int, ncols: int, seed: int = 0) -> scipy.sparse.csr_array:
    rng = np.random.default_rng(seed)
    dense = rng.integers(1, 9, (nrows, ncols)) * (rng.random((nrows, ncols)) < 0.3)
    return scipy.sparse.csr_array(dense)


def downloaded(handle, orientation: str) -> list[np.ndarray]:
    read, runtime = handle.runtime.download, handle.runtime
    assert read.__self__ is runtime
    indptr, indices, values = handle.orientations[orientation]
    lines = handle.nrows if orientation == "csr" else handle.ncols
    count = 1 if handle.iso else handle.nvals
    return [
        read(indptr, handle.offset_type, lines + 1), read(indices, np.int32, handle.nvals),
        read(values, handle.dtype.array_dtype, count),
    ]  # fmt: skip


@every("iso", [False, True])
@every("dtype", [INT8, FP64])
@every("orientation", ["csr", "csc"])
@every("shape", [(7, 12), (12, 7), (9, 9), (1, 5), (5, 1), (3, 0), (0, 0)])
def test_it_is_what_scipy_makes(fake_cuda: FakeCuda, shape, orientation, dtype, iso) -> None:
    given = random(*shape)
    handle = fake_cuda.backend.put(arrays_of(given, dtype, iso=iso, orientation=orientation))
    other = "csc" if orientation == "csr" else "csr"
    handle.need(other)
    wanted = given.tocsc()
    indptr, indices, values = downloaded(handle, other)
    assert np.array_equal(indptr, wanted.indptr)
    assert np.array_equal(indices, wanted.indices)
    assert np.array_equal(values, np.ones(1) if iso else wanted.data)
    if not handle.symmetric:
        rows = handle.runtime.download(
            handle.companions.get("entry_rows", other), np.int32, handle.nvals
        )
        assert np.array_equal(rows, np.repeat(np.arange(shape[1]), np.diff(wanted.indptr)))


def test_a_symmetric_matrix_keeps_one(fake_cuda: FakeCuda) -> None:
    given = random(20, 20)
    both = scipy.sparse.csr_array(given + given.T)
    handle = fake_cuda.backend.put(arrays_of(both, FP64, iso=False))
    handle.need("csc")
    assert handle.symmetric
    assert handle.orientations["csc"] is handle.orientations["csr"]
    # One value of a pair is another: the pattern alone does not make it symmetric.
    both.data[1] += 1
    handle = fake_cuda.backend.put(arrays_of(both, FP64, iso=False))
    handle.need("csc")
    assert handle.symmetric is False
    assert handle.orientations["csc"] is not handle.orientations["csr"]


class SortedThere(Exception):  # noqa: N818 - what a test waits for
    """The device was asked to sort."""


@pytest.mark.parametrize("is_apart", [False, True])
@pytest.mark.parametrize("spare", [-1, 0])
def test_larger_ones_are_sorted_on_the_device(
    fake_cuda: FakeCuda, monkeypatch, is_apart, spare
) -> None:
    handle = fake_cuda.backend.put(arrays_of(random(9, 9), FP64, iso=False))
    fake_cuda.backend.runtime.keeps_apart = is_apart
    monkeypatch.setattr(turning, "FEW", handle.nvals + 18 + spare)

    def sort(*given: object) -> None:
        raise SortedThere

    monkeypatch.setattr(Primitives, "transpose", sort)
    if is_apart or spare < 0:
        monkeypatch.setattr(Primitives, "entry_rows", lambda *given: None)
        with pytest.raises(SortedThere):
            handle.need("csc")
    else:
        handle.need("csc")
        assert "csc" in handle.orientations
