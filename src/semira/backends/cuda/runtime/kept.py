"""Everything that a matrix keeps beside its rows, made one by one: for measurements."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from semira.backends.cuda.lower.context import Made
from semira.backends.cuda.lower.copies import HotPull
from semira.backends.cuda.runtime.diagonals import make_diagonals
from semira.backends.cuda.runtime.hot import make_hot
from semira.backends.cuda.runtime.made import need_made
from semira.backends.cuda.runtime.objects import CudaMatrix
from semira.contract import HotColumns
from semira.contract.methods import FOLDERS

#: Bytes of the values that hot columns are kept for: FP32.
WIDTH = 4

#: Hot columns as a pin asks for them: of every matrix, whatever their share.
_ALWAYS = HotColumns(0, 0.0, 0, 0.0)


def _hot(matrix: CudaMatrix) -> None:
    make_hot(matrix.runtime, matrix, HotPull(0, "csr", _ALWAYS, WIDTH, ()))


def _diagonals(matrix: CudaMatrix) -> None:
    make_diagonals(matrix.runtime, matrix, "csr")


def _padded(storage: str, matrix: CudaMatrix) -> None:
    need_made(matrix, Made(0, storage, "csr"))


#: What makes each of them at a matrix that has its rows.
COPIES: dict[str, Callable[[CudaMatrix], object]] = {
    "make columns": lambda matrix: matrix.need("csc"),
    "entry rows": lambda matrix: matrix.entry_rows("csr"),
    "occupied rows": lambda matrix: matrix.occupied_lines("csr"),
    "slices": lambda matrix: matrix.need_slices("csr"),
    "hot columns": _hot,
    "diagonals": _diagonals,
    **{storage: partial(_padded, storage) for storage in FOLDERS["ell"]},
}
