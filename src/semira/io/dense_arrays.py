"""Dense arrays: NumPy, and every library that speaks DLPack."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.backends.registry import backend_for
from semira.base.dtypes import DataType, lookup_dtype
from semira.base.errors import DeviceUnavailable, DomainMismatch, InvalidValue
from semira.base.memory import tells_shortage
from semira.base.settings import GPU
from semira.formats.raw import on_gpu, shape_of
from semira.frontend.expr import as_literal
from semira.frontend.matrix import Matrix
from semira.frontend.vector import Vector
from semira.io.givens import check_object
from semira.ops.meaning import cast_scalar


def from_numpy(values: Any, missing_value: Any = None) -> Any:
    """Return the Vector or Matrix of a dense array.

    Parameters
    ----------
    values : array_like
        Of one or two dimensions. Masked elements of a masked array have no entry.
    missing_value : optional
        Positions that hold it have no entry.

    Examples
    --------
    >>> from_numpy(np.ma.array([1.5, 2.5, 3.5], mask=[False, True, False])).to_dict()
    {0: 1.5, 2: 3.5}
    """
    array = np.asanyarray(values)
    return (Vector if array.ndim == 1 else Matrix).from_dense(array, missing_value)


@tells_shortage("io.from_dlpack")
def from_dlpack(x: Any, missing_value: Any = None, *, name: str | None = None) -> Any:
    """Return the Vector or Matrix of a tensor of any library that speaks DLPack.

    Parameters
    ----------
    x : object with ``__dlpack__``
        A tensor of PyTorch, CuPy, JAX, NumPy, ...; of one or two dimensions. One on a GPU makes
        an object on device ``"cuda"``, without passing through the host; on a machine where that
        device cannot be used it is copied to the host, if its library can do that for DLPack.
    missing_value : optional
        Positions that hold it have no entry.
    name : str, optional

    Raises
    ------
    DomainMismatch
        `x` does not speak DLPack, has a dtype that NumPy lacks, or other dimensions.
    InvalidValue
        It lies on a device and its library does not copy.

    Examples
    --------
    >>> from_dlpack(np.array([1.5, 0.0]), missing_value=0).to_dict()
    {0: 1.5}
    """
    if not hasattr(x, "__dlpack__"):
        raise DomainMismatch(f"{type(x).__name__} has no __dlpack__; use from_numpy")
    if on_gpu(x) and _has_gpu():
        return _of_array(x, len(shape_of(x)), missing_value, name)
    if isinstance(x, np.ndarray):
        return _of_array(x, x.ndim, missing_value, name)
    try:
        array = np.from_dlpack(x)
    except (BufferError, RuntimeError) as error:
        array = _copied_to_host(x, error)
    return _of_array(array, array.ndim, missing_value, name)


def _of_array(array: Any, ndim: int, missing_value: Any, name: str | None) -> Any:
    if ndim not in (1, 2):
        raise DomainMismatch(f"a tensor of {ndim} dimensions is no Vector and no Matrix")
    return (Vector if ndim == 1 else Matrix).from_dense(array, missing_value, name=name)


def _has_gpu() -> bool:
    try:
        return backend_for(GPU).capabilities().own_memory
    except DeviceUnavailable:
        return False


def _copied_to_host(x: Any, cause: Exception) -> Any:
    try:
        return np.from_dlpack(x, device="cpu", copy=True)
    except (BufferError, RuntimeError, TypeError, ValueError):
        raise InvalidValue(
            f"NumPy cannot take this {type(x).__name__} over DLPack ({cause}); copy it to the "
            "host first, for example with .cpu()"
        ) from cause


@tells_shortage("io.to_dlpack")
def to_dlpack(x: Any, fill_value: Any = None, *, dtype: Any = None) -> Any:
    """Return the values as an object with ``__dlpack__`` for another library to read.

    The result is a NumPy array that nothing else refers to, so the other library may keep and
    change it. A full Vector or Matrix has ``__dlpack__`` itself.

    Parameters
    ----------
    x : Vector, Matrix or TransposedMatrix
        On any device; the values are copied to the host.
    fill_value : optional
        Stands for missing entries.
    dtype : optional
        That of the array; of `x` if None.

    Raises
    ------
    InvalidValue
        The dtype cannot hold the fill value.
    DomainMismatch
        `x` is neither a Vector nor a Matrix, or the fill value no number.
    TypeError
        Entries are missing and there is no `fill_value`.

    Examples
    --------
    >>> np.from_dlpack(to_dlpack(Vector.from_coo([1], [2.5], size=3), 0)).tolist()
    [0.0, 2.5, 0.0]
    """
    check_object(x, "to_dlpack")
    wanted = x.dtype if dtype is None else lookup_dtype(dtype)
    if fill_value is not None:
        _check_fill(fill_value, wanted)
        cast = cast_scalar(fill_value, wanted.array_dtype)
        if not np.array_equal(cast, fill_value, equal_nan=True):
            raise InvalidValue(
                f"{wanted} cannot hold fill_value={fill_value!r}; give another `dtype`"
            )
    return x.to_dense(fill_value, dtype=wanted)


def _check_fill(value: Any, dtype: DataType) -> None:
    """Check that a fill value is a number; whether it fits is asked later."""
    if dtype.kind == "V":
        return
    try:
        as_literal(value)
    except DomainMismatch:
        raise DomainMismatch(
            f"fill_value={value!r} of to_dlpack is no number, which arrays of {dtype} are made of"
        ) from None
