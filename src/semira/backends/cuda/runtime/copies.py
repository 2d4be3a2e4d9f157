"""The copies that a matrix keeps beside its rows, made one by one: for measurements."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from semira.backends.cuda.lower.context import Made
from semira.backends.cuda.runtime.made import need_made
from semira.backends.cuda.runtime.objects import CudaMatrix
from semira.contract import VARIANTS, variant_part
from semira.contract.methods import FOLDERS


def _variant(name: str, matrix: CudaMatrix) -> None:
    variant_part(name, "cuda").make(matrix, "csr")


def _padded(storage: str, matrix: CudaMatrix) -> None:
    need_made(matrix, Made(0, storage, "csr"))


#: What makes each of them at a matrix that has its rows.
COPIES: dict[str, Callable[[CudaMatrix], object]] = {
    "make columns": lambda matrix: matrix.need("csc"),
    "entry rows": lambda matrix: matrix.entry_rows("csr"),
    "occupied rows": lambda matrix: matrix.occupied_lines("csr"),
    "slices": lambda matrix: matrix.need_slices("csr"),
    **{name.replace("_", " "): partial(_variant, name) for name in VARIANTS},
    **{storage: partial(_padded, storage) for storage in FOLDERS["ell"]},
}
