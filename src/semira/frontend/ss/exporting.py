"""An object as a dict of arrays: ``export`` and ``unpack``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.base.errors import InvalidValue
from semira.base.memory import tells_shortage
from semira.base.record_dtypes import visible
from semira.formats import MatrixArrays, VectorArrays
from semira.frontend import reading
from semira.frontend.reading import oriented
from semira.frontend.ss.importing import parts_of

#: Each format of a matrix and the orientation it needs.
MATRIX_FORMATS: dict[str, str | None] = {
    "csr": "csr", "csc": "csc", "hypercsr": "csr", "hypercsc": "csc", "bitmapr": "csr",
    "bitmapc": "csc", "fullr": "csr", "fullc": "csc", "coo": None, "coor": "csr", "cooc": "csc",
}  # fmt: skip
VECTOR_FORMATS = ("sparse", "bitmap", "full")
_SIDES = {"rowwise": "csr", "row": "csr", "columnwise": "csc", "colwise": "csc", "col": "csc"}


def stored_format(arrays: Any) -> str:
    """Return the name of the format that arrays are in."""
    if isinstance(arrays, VectorArrays):
        return arrays.storage
    return f"hyper{arrays.orientation}" if arrays.is_hyper else arrays.orientation


def check_format(given: str | None, known: Iterable[str]) -> None:
    """Check the name of a format; raises InvalidValue if there is no such format."""
    if given is not None and given not in known:
        raise InvalidValue(f"Invalid format: {given}; choose one of {', '.join(known)}")


def _refuse_gaps(name: str, nvals: int, positions: int) -> None:
    if nvals != positions:
        raise InvalidValue(
            f"{name} needs an entry at every position; there are {nvals} of {positions}. "
            "Export a bitmap, or fill it first"
        )


def export_matrix(arrays: MatrixArrays, wanted: str | None, *, raw: bool) -> dict[str, Any]:
    """Return the dict that describes a matrix; its arrays may be those of the matrix.

    Raises InvalidValue if there is no such format, or ``full`` is asked for and entries are
    missing.
    """
    wanted = _SIDES.get(wanted, wanted) if wanted is not None else stored_format(arrays)
    check_format(wanted, MATRIX_FORMATS)
    assert wanted is not None
    arrays = oriented(arrays, MATRIX_FORMATS[wanted] or arrays.orientation)
    by_columns = arrays.orientation == "csc"
    shape = {"nrows": arrays.nrows, "ncols": arrays.ncols}
    common = {"is_iso": arrays.iso, "format": wanted}
    if wanted.startswith(("bitmap", "full")):
        return _dense_matrix(arrays, wanted, shape, common, raw=raw)
    if wanted.startswith("coo"):
        return _coordinates(arrays, wanted, shape, common)
    arrays = arrays.hyper() if wanted.startswith("hyper") else arrays.ordinary()
    minor, flag = ("row_indices", "sorted_rows") if by_columns else ("col_indices", "sorted_cols")
    parts: dict[str, Any] = {"indptr": arrays.indptr}
    if arrays.majors is not None:
        parts["cols" if by_columns else "rows"] = arrays.majors
    return {**parts, minor: arrays.indices, flag: True, **shape, **common, "values": arrays.values}


def _coordinates(
    arrays: MatrixArrays, wanted: str, shape: dict[str, int], common: dict[str, Any]
) -> dict[str, Any]:
    rows, cols, _ = arrays.to_coo()
    by_rows = arrays.orientation == "csr"
    # python-graphblas' `sorted_cols` of a coo: by rows, the columns of each row in order.
    flags = {"sorted_rows": True, "sorted_cols": True}
    if wanted == "coo":
        flags = {"sorted_rows": not by_rows, "sorted_cols": by_rows}
    values = arrays.values[:1] if arrays.iso else arrays.values
    return {**flags, **shape, **common, "values": values, "rows": rows, "cols": cols}


def _dense_matrix(
    arrays: MatrixArrays, wanted: str, shape: dict[str, int], common: dict[str, Any], *, raw: bool
) -> dict[str, Any]:
    positions = arrays.nrows * arrays.ncols
    if wanted.startswith("full"):
        _refuse_gaps(wanted, arrays.nvals, positions)
    sizes = (arrays.nmajor, arrays.nminor)
    at = arrays.entry_major().astype(np.int64) * arrays.nminor + arrays.indices

    def shaped(flat: NDArray[Any]) -> NDArray[Any]:
        if raw:
            return flat
        table = flat.reshape(sizes)
        return table if arrays.orientation == "csr" else table.T

    parts: dict[str, Any] = {}
    if wanted.startswith("bitmap"):
        present = np.zeros(positions, bool)
        present[at] = True
        parts = {"bitmap": shaped(present), "nvals": arrays.nvals}
    if raw or (arrays.iso and not parts):
        parts.update(shape)
    if arrays.iso:
        return {**parts, **common, "values": arrays.values[:1]}
    values = np.zeros(positions, arrays.values.dtype)
    values[at] = arrays.values
    return {**parts, **common, "values": shaped(values)}


def export_vector(arrays: VectorArrays, wanted: str | None, *, raw: bool) -> dict[str, Any]:
    """Return the dict that describes a vector; its arrays may be those of the vector.

    Raises InvalidValue if there is no such format, or ``full`` is asked for and entries are
    missing.
    """
    wanted = stored_format(arrays) if wanted is None else wanted
    check_format(wanted, VECTOR_FORMATS)
    common = {"is_iso": arrays.iso, "format": wanted}
    size = {"size": arrays.size}
    if wanted == "sparse":
        shared = arrays.values[:1] if arrays.iso else arrays.entry_values()
        indices = arrays.entry_indices()
        return {**size, "indices": indices, "sorted_index": True, **common, "values": shared}
    if wanted == "full":
        _refuse_gaps("full", arrays.nvals, arrays.size)
        shared = arrays.values[:1] if arrays.iso else arrays.entry_values()
        return {**(size if raw or arrays.iso else {}), **common, "values": shared}
    present, values = arrays.present, arrays.values
    if arrays.storage != "bitmap":
        present = np.zeros(arrays.size, bool)
        present[arrays.entry_indices()] = True
        if not arrays.iso:
            values = np.zeros(arrays.size, arrays.values.dtype)
            values[present] = arrays.values
    if arrays.iso:
        values = values[:1]
    parts = {"bitmap": present, "nvals": arrays.nvals, **(size if raw else {})}
    return {**parts, **common, "values": values}


@tells_shortage("ss.export")
def export(item: Any, wanted: str | None, *, raw: bool, give: bool) -> dict[str, Any]:
    """Return the dict that describes an object; with `give` the object is left empty.

    Without `give` every array is the caller's own. With it, arrays that the object stores in this
    format are not copied; they are read-only, because other objects may share them.
    """
    make: Any = export_matrix if item.kind == "matrix" else export_vector
    arrays = reading.host_arrays(item, "export")
    made: dict[str, Any] = make(arrays, wanted, raw=raw)
    made["values"] = visible(made["values"])
    if give:
        item._value.surrender()
        return made
    own = parts_of(arrays).values()
    for name, part in made.items():
        if isinstance(part, np.ndarray) and (
            not part.flags.writeable or any(np.may_share_memory(part, kept) for kept in own)
        ):
            made[name] = part.copy("K")
    return made
