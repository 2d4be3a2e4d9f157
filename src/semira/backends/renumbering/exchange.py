"""Huge objects from host arrays, and back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from semira.backends.renumbering.objects import Store, WideObject
from semira.base.errors import InvalidValue, OutOfMemory
from semira.contract.backend import Arrays
from semira.formats import MatrixArrays, VectorArrays, index_dtype, is_hypersparse
from semira.formats.index import WIDE


def is_huge(store: Store, arrays: Arrays) -> bool:
    """Whether a side is renumbered."""
    if isinstance(arrays, VectorArrays):
        return arrays.size >= WIDE
    if not isinstance(arrays, MatrixArrays):
        return False
    return any(store.lists(arrays.shape, arrays.nvals))


def from_arrays(store: Store, arrays: VectorArrays | MatrixArrays) -> WideObject:
    """Copy a huge object to the device; host arrays are numbered on the host."""
    if isinstance(arrays, MatrixArrays):
        return _matrix(store, arrays)
    shape, dtype = (arrays.size,), arrays.dtype
    if arrays.indices is None:
        if not arrays.iso:
            raise OutOfMemory(
                f"a vector of size {arrays.size} with a value at every position (limit: fewer "
                "than 2**31)"
            )
        one = VectorArrays.full(dtype, arrays.values[:1])
        # The list is of no meaning.
        first = store.library.zeros(1, np.int64)
        return WideObject(shape, dtype, (first,), store.put(one), everywhere=True)
    ids = store.upload(arrays.indices.astype(np.int64, copy=False))
    small = VectorArrays.full(dtype, np.array(arrays.entry_values()))
    return WideObject(shape, dtype, (ids,), store.put(small))


def _matrix(store: Store, arrays: MatrixArrays) -> WideObject:
    majors = minors = None
    indptr, indices = arrays.indptr, arrays.indices
    nmajor, nminor = arrays.nmajor, arrays.nminor
    by_rows = arrays.orientation == "csr"
    lists_rows, lists_cols = store.lists(arrays.shape, arrays.nvals)
    if lists_rows if by_rows else lists_cols:
        listed = arrays.hyper()
        majors, indptr = listed.majors, listed.indptr
        assert majors is not None
        nmajor = len(majors)
    else:
        indptr = arrays.ordinary().indptr
    if lists_cols if by_rows else lists_rows:
        minors, indices = np.unique(indices, return_inverse=True)
        nminor = len(minors)
    sides = (nmajor, nminor) if by_rows else (nminor, nmajor)
    small = MatrixArrays(
        *sides, arrays.dtype, arrays.orientation, indptr, indices.astype(np.int32, copy=False),
        arrays.values, arrays.iso, lean=arrays.lean,
    )  # fmt: skip
    given = [None if ids is None else ids.astype(np.int64, copy=False) for ids in (majors, minors)]
    lists = [None if ids is None else store.upload(ids) for ids in given]
    ids = tuple(lists if by_rows else lists[::-1])
    return WideObject(arrays.shape, arrays.dtype, ids, store.put(small))


def to_arrays(store: Store, x: WideObject) -> VectorArrays | MatrixArrays:
    """Copy a huge object to the host."""
    small = store.get(x.small)
    lists = [None if ids is None else store.download(ids) for ids in x.ids]
    if isinstance(small, VectorArrays):
        (size,), (ids,) = x.shape, lists
        values = small.entry_values()
        if x.everywhere:
            return VectorArrays(size, x.dtype, "full", values[:1], nvals=size, iso=True)
        assert ids is not None
        return VectorArrays.sparse(size, x.dtype, ids[small.entry_indices()], values)
    assert isinstance(small, MatrixArrays)
    return _numbered_back(x, small, lists)


def _numbered_back(x: WideObject, small: MatrixArrays, lists: list[Any]) -> MatrixArrays:
    nrows, ncols = x.shape
    by_rows = small.orientation == "csr"
    major_ids, minor_ids = lists if by_rows else lists[::-1]
    dtype = index_dtype(nrows, ncols)
    indptr, indices, majors = small.indptr, small.indices, None
    if minor_ids is not None:
        indices = minor_ids[indices]
    if major_ids is not None:
        listed = small.hyper()
        assert listed.majors is not None
        indptr, majors = listed.indptr, major_ids[listed.majors].astype(dtype, copy=False)
    made = MatrixArrays(
        nrows, ncols, x.dtype, small.orientation, indptr, indices.astype(dtype, copy=False),
        small.values, small.iso, majors=majors, lean=small.lean,
    )  # fmt: skip
    return made.hyper() if is_hypersparse(made.nmajor, made.nvals) else made


def converted(store: Store, x: WideObject, layout: str) -> WideObject:
    """Return a copy, or the object with an orientation made.

    Raises InvalidValue if there is no such layout: a huge vector is a list of entries.
    """
    if layout == "copy":
        return replace(x, small=store.duplicate(x.small))
    if x.kind == "matrix" and layout in ("csr", "csc"):
        store.need(x.small, layout)
    elif x.kind == "matrix" or layout != "sparse":
        raise InvalidValue(f"a {x.kind} of shape {x.shape} has no layout {layout!r}")
    return x
