"""Arrays of the caller as an object: what ``import_*`` and ``pack_*`` have in common.

Everything is checked, whatever ``secure_import`` says: O(nvals) passes over the indices, and no
import can make an object that later reads outside of its arrays.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from semira.base.dtypes import DataType
from semira.base.errors import InvalidValue
from semira.base.memory import tells_shortage
from semira.formats import MatrixArrays, VectorArrays
from semira.formats.index import check_bounds, check_indices, index_dtype, offset_dtype
from semira.formats.matrix import is_hypersparse
from semira.frontend import construct
from semira.frontend.range_check import as_fitting, dtype_of
from semira.frontend.reading import listed
from semira.frontend.records import prepared

Order = Literal["C", "F"]


@dataclass(frozen=True, slots=True)
class Terms:
    """How arrays are handed over."""

    #: All entries share ``values[0]``.
    is_iso: bool = False
    #: The object keeps the caller's arrays; otherwise it copies them.
    take: bool = False
    #: Dtype of the object; that of the values if None.
    dtype: DataType | None = None


def _kept(given: Any, array: NDArray[Any], terms: Terms) -> NDArray[Any]:
    """Return `array`, copied unless it may be taken or shares nothing with what was `given`."""
    if terms.take or not isinstance(given, np.ndarray) or not np.may_share_memory(given, array):
        return array
    return array.copy()


def _values(
    values: Any, count: int, terms: Terms, order: Order = "C", ndim: int = 1
) -> tuple[NDArray[Any], DataType, bool]:
    """Return (the first `count` values or the shared one, dtype, whether it is shared).

    Dimensions beyond `ndim` make a sub-array dtype.
    """
    array = prepared(values, terms.dtype, ndim)
    dtype = terms.dtype
    if dtype is None or array.dtype.names is not None:
        dtype = dtype_of(array)
    is_iso = terms.is_iso or array.ndim == 0
    flat = array.ravel(order)
    needed = 1 if is_iso else count
    if len(flat) < needed:
        raise InvalidValue(f"{len(flat)} values for {needed} entries")
    return _kept(values, as_fitting(flat[:needed], dtype), terms), dtype, is_iso


def _positions(given: Any, size: int, name: str, terms: Terms) -> NDArray[Any]:
    checked = check_indices(construct.as_indices(given, name), size, name)
    return _kept(given, checked, terms)


def _offsets(given: Any, lines: int, name: str, terms: Terms) -> NDArray[Any]:
    offsets = construct.as_indices(given, "indptr")
    if offsets.ndim != 1 or len(offsets) != lines + 1:
        raise InvalidValue(
            f"indptr must hold {lines + 1} offsets, one more than there are {name}; "
            f"got shape {offsets.shape}"
        )
    if int(offsets[0]) != 0 or bool(np.any(offsets[1:] < offsets[:-1])):
        raise InvalidValue("indptr must start at 0 and not decrease")
    return _kept(given, offsets, terms)


def _in_order(arrays: MatrixArrays) -> MatrixArrays:
    """Return the matrix with the entries of each line in order; itself if they are."""
    indices, fresh = arrays.indices, np.ones(arrays.nvals, bool)
    fresh[1:] = indices[1:] > indices[:-1]
    starts = arrays.indptr[:-1]
    fresh[starts[starts < arrays.nvals]] = True
    if bool(fresh.all()):
        return arrays
    return listed(
        arrays.orientation, arrays.shape, (arrays.entry_major(), indices), arrays.values,
        arrays.dtype, is_iso=arrays.iso,
    )  # fmt: skip


@tells_shortage("ss.import")
def compressed(
    orientation: str, shape: tuple[int, int], given: dict[str, Any], terms: Terms
) -> MatrixArrays:
    """Return the matrix of csr, csc, hypercsr or hypercsc arrays.

    Given are ``indptr``, ``indices``, ``values``, ``is_sorted``; hypersparse also ``majors``,
    ``nvec``. `indices` and `values` may be longer than needed: what is beyond the last offset is
    spare room. Raises InvalidValue if lengths do not fit, offsets decrease, or (not sorted) a
    position repeats, InvalidObject if rows are said to be sorted, but do not strictly rise, and
    IndexOutOfBound if an index lies outside the shape.
    """
    nmajor, nminor = shape if orientation == "csr" else shape[::-1]
    line_name = "rows" if orientation == "csr" else "columns"
    majors, indptr = given.get("majors"), given["indptr"]
    if majors is not None:
        count = len(majors) if given["nvec"] is None else int(given["nvec"])
        listed = _positions(majors[:count], nmajor, line_name, terms)
        indptr, majors = indptr[: len(listed) + 1], listed
    lines = nmajor if majors is None else len(majors)
    offsets = _offsets(indptr, lines, line_name, terms)
    nvals = int(offsets[-1])
    if len(given["indices"]) < nvals:
        raise InvalidValue(f"{len(given['indices'])} indices, indptr ends at {nvals}")
    indices = _positions(given["indices"][:nvals], nminor, "indices", terms)
    values, dtype, is_iso = _values(given["values"], nvals, terms)
    arrays = MatrixArrays(
        *shape, dtype, orientation, offsets, indices, values, is_iso, None, majors
    )
    if majors is not None:
        arrays = _listing_only_used(arrays)
    if not given["is_sorted"]:
        arrays = _in_order(arrays)
    adopted: Any = adopt(arrays)
    if adopted.is_hyper and not is_hypersparse(nmajor, nvals):
        adopted = adopted.ordinary()
    return adopted  # type: ignore[no-any-return]


def _listing_only_used(arrays: MatrixArrays) -> MatrixArrays:
    """Return a hypersparse matrix that does not list empty lines."""
    assert arrays.majors is not None
    used = arrays.indptr[1:] > arrays.indptr[:-1]
    if bool(used.all()):
        return arrays
    indptr = np.append(arrays.indptr[:-1][used], arrays.indptr[-1:])
    return replace(arrays, majors=arrays.majors[used], indptr=indptr)


@tells_shortage("ss.import")
def coordinates(
    orientation: str, shape: tuple[int, int], given: dict[str, Any], terms: Terms
) -> MatrixArrays:
    """Return the matrix of entries; stored by rows (``csr``) or by columns (``csc``).

    Raises InvalidValue if lengths differ or a position repeats.
    """
    rows = construct.as_indices(given["rows"], "rows")
    cols = construct.as_indices(given["cols"], "cols")
    if rows.shape != cols.shape:
        raise InvalidValue(f"`rows` and `cols` lengths must match: {rows.size}, {cols.size}")
    rows = check_bounds(rows, shape[0], "rows")
    cols = check_bounds(cols, shape[1], "cols")
    values, dtype, is_iso = _values(given["values"], len(rows), terms)
    lines = (rows, cols) if orientation == "csr" else (cols, rows)
    made = listed(orientation, shape, lines, values, dtype, is_iso=is_iso)
    if made.nvals < len(rows):
        raise InvalidValue(
            f"Duplicate indices found, `ss.import_coo` has no dup_op "
            f"({len(rows) - made.nvals} of {len(rows)} entries repeat a position); use from_coo"
        )
    return made


def matrix_shape(nrows: Any, ncols: Any, *arrays: Any) -> tuple[int, int]:
    """Return a shape, sizes not given taken from the first array of two dimensions.

    Raises InvalidValue if a size is missing and no array has two dimensions.
    """
    if nrows is None or ncols is None:
        shapes = [np.shape(array) for array in arrays if np.ndim(array) >= 2]
        if not shapes:
            raise InvalidValue(
                "Either nrows and ncols must be provided, or an array of two dimensions"
            )
        nrows = shapes[0][0] if nrows is None else nrows
        ncols = shapes[0][1] if ncols is None else ncols
    return construct.check_size(nrows, "nrows"), construct.check_size(ncols, "ncols")


def _presence(bitmap: Any, count: int, nvals: Any, order: Order = "C") -> NDArray[np.bool_]:
    array = np.asarray(bitmap)
    if array.dtype.kind not in "biu":
        raise InvalidValue(f"bitmap must hold booleans or integers, not {array.dtype}")
    flat = array.ravel(order)
    if len(flat) < count:
        raise InvalidValue(f"{len(flat)} bits of a bitmap for {count} positions")
    present: NDArray[np.bool_] = flat[:count].astype(np.bool_, copy=False)
    found = int(np.count_nonzero(present))
    if nvals is not None and int(nvals) != found:
        raise InvalidValue(f"nvals={nvals}, and the bitmap has {found} entries")
    return present


@tells_shortage("ss.import")
def dense_matrix(
    orientation: str, shape: tuple[int, int], given: dict[str, Any], terms: Terms
) -> MatrixArrays:
    """Return the matrix of bitmap (with ``bitmap``) or full arrays, by rows or by columns.

    The arrays are read in that order if they have two dimensions. They are always copied: a
    matrix lists its entries.
    """
    nmajor, nminor = shape if orientation == "csr" else shape[::-1]
    count = nmajor * nminor
    order: Order = "C" if orientation == "csr" else "F"
    values, dtype, is_iso = _values(given["values"], count, terms, order, 1 if terms.is_iso else 2)
    if given.get("bitmap") is None:
        present = np.ones(count, bool)
    else:
        present = _presence(given["bitmap"], count, given["nvals"], order)
    at = np.flatnonzero(present)
    narrow = index_dtype(*shape)
    lines = tuple(part.astype(narrow) for part in np.divmod(at, max(nminor, 1)))
    stored = values if is_iso else values[at]
    return listed(orientation, shape, lines, stored, dtype, is_iso=is_iso)


@tells_shortage("ss.import")
def sparse_vector(size: int, given: dict[str, Any], terms: Terms) -> VectorArrays:
    """Return the vector of indices and values, of which the first `nvals` count."""
    nvals = len(given["indices"]) if given["nvals"] is None else int(given["nvals"])
    indices = _positions(given["indices"][:nvals], size, "indices", terms)
    values, dtype, is_iso = _values(given["values"], len(indices), terms)
    if not given["is_sorted"] and bool(np.any(indices[1:] <= indices[:-1])):
        order = np.argsort(indices, kind="stable")
        indices, values = indices[order], values if is_iso else values[order]
        if bool(np.any(indices[1:] == indices[:-1])):
            raise InvalidValue("Duplicate indices found; use from_coo with a `dup_op`")
    arrays = VectorArrays.sparse(size, dtype, indices, values, iso=is_iso)
    return adopt(arrays)


@tells_shortage("ss.import")
def dense_vector(size: int, given: dict[str, Any], terms: Terms) -> VectorArrays:
    """Return the vector of bitmap (with ``bitmap``) or full arrays."""
    values, dtype, is_iso = _values(given["values"], size, terms)
    if given.get("bitmap") is None:
        arrays = VectorArrays(size, dtype, "full", values, nvals=size, iso=is_iso)
        return adopt(arrays)
    present = _presence(given["bitmap"], size, given["nvals"])
    present = _kept(given["bitmap"], present, terms)
    nvals = int(np.count_nonzero(present))
    if is_iso:
        indices = np.flatnonzero(present).astype(index_dtype(size))
        return VectorArrays.sparse(size, dtype, indices, values, iso=True)
    arrays = VectorArrays(size, dtype, "bitmap", values, None, present, nvals)
    return adopt(arrays)


def parts_of(arrays: Any) -> dict[str, NDArray[Any]]:
    """Return the arrays of an object by name."""
    names = ("values", "indices", "indptr", "majors", "present")
    return {name: part for name in names if (part := getattr(arrays, name, None)) is not None}


def stored_widths(arrays: MatrixArrays | VectorArrays) -> dict[str, np.dtype[Any]]:
    """Return the dtypes of the indices and offsets that an object stores."""
    narrow = index_dtype(*arrays.shape)
    return {"indices": narrow, "majors": narrow, "indptr": offset_dtype(arrays.nvals)}


_Arrays = TypeVar("_Arrays", MatrixArrays, VectorArrays)


def adopt(arrays: _Arrays) -> _Arrays:
    """Return arrays of the caller for an object to keep, without a copy.

    The caller's arrays become read-only. Only indices of another width than `index_dtype` and
    `offset_dtype` ask for, and arrays that are not contiguous, are copied. Raises InvalidObject if
    an invariant of the format is broken, which takes O(nvals) to check; the caller's arrays are as
    they were.
    """
    wanted, given = stored_widths(arrays), parts_of(arrays)
    kept: dict[str, Any] = {
        name: _as_kept(part, wanted.get(name, part.dtype)) for name, part in given.items()
    }
    adopted = replace(arrays, **kept)
    adopted.validate()
    for name, part in given.items():
        if np.shares_memory(part, kept[name]):
            part.flags.writeable = False
    return adopted


def _as_kept(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return a view of an array, a copy if dtype or layout must change."""
    is_same_width = array.dtype.kind in "iu" and array.dtype.itemsize == dtype.itemsize
    if is_same_width and array.flags.c_contiguous:
        return array.view(dtype)
    return np.ascontiguousarray(array, dtype).view()
