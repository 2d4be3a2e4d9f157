"""The calls of cuSPARSE, on a stand-in that has the names and signatures of CuPy 14's modules."""

from __future__ import annotations

import ctypes
import gc
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from benchmarks import cupy_calls as peer
from benchmarks.studies import spmm
from benchmarks.studies.formats import draw
from benchmarks.studies.spmm import SpmmOptions, fastest_of, load_sparse
from scipy import sparse as scipy_sparse


class Array(np.ndarray):
    """An array whose `data` has an address, like CuPy's."""

    @property
    def data(self) -> Any:  # type: ignore[override]
        return SimpleNamespace(ptr=self.ctypes.data)

    def get(self) -> np.ndarray:
        return np.array(self)


class Cusparse(ModuleType):
    """cuSPARSE, which knows only addresses and descriptors."""

    CUSPARSE_ORDER_COL, CUSPARSE_ORDER_ROW = 1, 2
    CUSPARSE_OPERATION_NON_TRANSPOSE = 0

    def __init__(self) -> None:
        super().__init__("cusparse")
        self.described: dict[int, Any] = {}
        self.algorithms: list[int] = []

    def describe(self, thing: Any) -> int:
        number = 1 + max(self.described, default=0)
        self.described[number] = thing
        return number

    def createDnMat(self, rows, cols, ld, values, valueType, order):
        assert valueType == 0
        shape = (rows, ld) if order == self.CUSPARSE_ORDER_ROW else (cols, ld)
        flat = (ctypes.c_float * (shape[0] * shape[1])).from_address(values)
        found = np.frombuffer(flat, np.float32).reshape(shape)
        return self.describe(found if order == self.CUSPARSE_ORDER_ROW else found.T)

    def dnMatGet(self, desc):
        return self.described[desc]

    def destroyDnMat(self, desc):
        del self.described[desc]

    def spMM_bufferSize(self, handle, opA, opB, alpha, matA, matB, beta, matC, kind, alg):
        assert (handle, opA, opB, kind) == (7, 0, 0, 0)
        assert {matA, matB, matC} <= self.described.keys()
        assert alpha
        assert beta
        assert alg in (0, 6)
        return 0

    def spMM(self, handle, opA, opB, alpha, matA, matB, beta, matC, kind, alg, room):
        assert (handle, opA, opB, kind) == (7, 0, 0, 0)
        assert room
        factors = [ctypes.c_float.from_address(each).value for each in (alpha, beta)]
        assert factors == [1.0, 0.0]
        self.algorithms.append(alg)
        self.described[matC][...] = self.described[matA]() @ self.described[matB]


def descriptors(library: Cusparse) -> Any:
    class Descriptor:
        def __init__(self, descriptor, get=None, destroyer=None):
            self.desc, self.get, self.destroy = descriptor, get, destroyer

        def __del__(self):
            self.destroy(self.desc)

        @classmethod
        def create(cls, matrix):
            def look():
                return matrix

            return cls(library.describe(look), None, library.destroyDnMat)

    return SimpleNamespace(DnMatDescriptor=Descriptor, SpMatDescriptor=Descriptor)


@pytest.fixture
def cusparse(monkeypatch: pytest.MonkeyPatch) -> Cusparse:
    library = Cusparse()

    def asarray(given: Any, order: Any = None) -> Any:
        return np.array(given, order=order).view(Array)

    cupy = SimpleNamespace(
        asarray=asarray,
        empty=lambda shape, dtype, order="C": np.empty(shape, dtype, order).view(Array),
        cuda=SimpleNamespace(device=SimpleNamespace(get_cusparse_handle=lambda: 7)),
    )
    monkeypatch.setattr(peer, "cupy", cupy)
    monkeypatch.setattr(peer, "sparse", scipy_sparse)
    libs, cupyx = ModuleType("cupy_backends.cuda.libs"), ModuleType("cupyx")
    libs.cusparse, cupyx.cusparse = library, descriptors(library)  # type: ignore[attr-defined]
    modules = {"cupyx": cupyx, "cupy_backends": ModuleType("cupy_backends"), libs.__name__: libs}
    modules["cupy_backends.cuda"] = ModuleType("cupy_backends.cuda")
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    return library


@pytest.mark.parametrize("by_columns", [False, True])
def test_products_outlive_their_making(cusparse: Cusparse, by_columns: bool) -> None:
    matrix = load_sparse("er:50,degree=3", None)
    dense = np.random.default_rng(2).random((50, 6), np.float32)
    calls = peer.spmm_calls(matrix, dense, by_columns=by_columns)
    expected = scipy_sparse.csr_array(
        (matrix.values, matrix.indices, matrix.indptr), shape=matrix.shape
    ).toarray()
    for call in calls.values():
        for _ in range(2):
            gc.collect()
            np.testing.assert_allclose(call(), expected @ dense, rtol=1e-5)
    assert cusparse.algorithms == ([0, 0] if by_columns else [0, 0, 6, 6])
    assert cusparse.described
    del calls, call
    gc.collect()
    assert not cusparse.described


def test_dense_and_sparse_products_of_cupy(cusparse: Cusparse) -> None:
    drawn = draw(40, 0.2, 3)
    np.testing.assert_allclose(
        peer.dense_call(drawn.dense, drawn.operand)(), drawn.expected, rtol=1e-5
    )
    vector = draw(40, 0.2, 0)
    np.testing.assert_allclose(peer.spmv_call(vector, vector.operand)(), vector.expected, rtol=1e-5)
    assert not cusparse.algorithms


def test_the_fastest_on_the_device_is_the_peer() -> None:
    def fails() -> Any:
        raise RuntimeError("not supported")

    calls = {"slow": lambda: (1, [1.0], [3.0]), "fails": fails, "fast": lambda: (2, [9.0], [2.0])}
    assert fastest_of(calls, lambda call: call()) == ("fast", (2, [9.0], [2.0]))
    with pytest.raises(RuntimeError, match="not supported"):
        fastest_of({"fails": fails}, lambda call: call())


def test_a_failing_peer_of_spmm_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_given: Any) -> Any:
        raise AttributeError("module has no attribute 'CUSPARSE_SPMM_ALG_DEFAULT'")

    monkeypatch.setattr(spmm, "_scipy_product", fails)
    records = spmm.STUDY.run(SpmmOptions(("dense:3x40",), trials=1, seconds=0.1, columns=(2,)))
    assert [each.verified for each in records] == [True, None]
    assert "CUSPARSE_SPMM_ALG_DEFAULT" in records[1].note
    assert spmm.spmm_table(records)[1][0][-3] == "-"
    assert spmm.summary_table(records)[1][0][1] == "-"
