"""Arrays: on the host, with a number for each vertex, and whether more of them fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira import Matrix, Vector, device_traits, free_memory
from semira.exceptions import (
    DimensionMismatch,
    DomainMismatch,
    InvalidValue,
    InvalidWeight,
    OutOfMemory,
)
from semira.frontend.range_check import as_array


def on_host(array: Any) -> NDArray[Any]:
    """Return an array of a device, or a list, as one of NumPy; without a copy if possible.

    Examples
    --------
    >>> on_host([1, 2]).tolist()
    [1, 2]
    """
    return np.asarray(array.get() if hasattr(array, "get") else array)


def as_given(given: Any, name: str) -> Any:
    """Return an array or a Vector as it is, and a list as an array of NumPy.

    Raises InvalidValue if elements of the list have different shapes.
    """
    return given if hasattr(given, "dtype") else as_array(given, name)


def check_real(A: Matrix, name: str) -> None:
    """Check that entries may be weights; raises DomainMismatch if they are no real numbers."""
    if A.dtype.kind not in "BIUF":
        raise DomainMismatch(f"{name}: values of dtype {A.dtype} are no weights; use real numbers")


def per_vertex(
    given: Any,
    n: int,
    name: str,
    xp: Any,
    device: str,
    *,
    of: str = "vertices",
    kinds: str = "biuf",
    missing: float | None = None,
    finite: bool = False,
) -> Any:
    """Return a number for each vertex, given as a Vector, array or list, as an array of the device.

    `name` and `of` say what errors call it, and what there is one for. `kinds` are those of dtypes
    that are taken, as NumPy calls them: with floats among them the result is float64, else as it
    was given. `missing` stands for entries that a Vector lacks; None: it may lack none. Each must
    be finite if `finite`.

    Raises DomainMismatch if it is of another dtype, DimensionMismatch if it is not one for each,
    InvalidValue if a Vector lacks entries, and InvalidWeight if one is not finite.
    """
    takes_floats, is_vector = "f" in kinds, isinstance(given, Vector)
    given = as_given(given, name)
    kind = given.dtype.kind.lower() if is_vector else given.dtype.kind
    if kind not in kinds:
        wanted = "real numbers" if takes_floats else "integers"
        raise DomainMismatch(f"{name} is of {given.dtype}; pass {wanted}")
    shape = (given.size,) if is_vector else given.shape
    if shape != (n,):
        raise DimensionMismatch(f"{name} has shape {shape}; pass one for each of the {n} {of}")
    if is_vector:
        if missing is None and given.nvals < n:
            lacks = n - given.nvals
            raise InvalidValue(f"{name} lacks {lacks} of {n}; pass one for each of the {of}")
        lends = xp is not np and device_traits(device).lends_arrays and given.device == device
        dtype = "FP64" if takes_floats else None
        given = given.to_dense(missing, dtype, device=device if lends else None)
    given = on_host(given) if xp is np else given
    found = xp.ascontiguousarray(xp.asarray(given, xp.float64 if takes_floats else None))
    if finite and not bool(xp.isfinite(found).all()):
        at = int(xp.argmin(xp.isfinite(found)))
        raise InvalidWeight(f"{name}[{at}]={float(found[at])} is no finite number")
    return found


def check_room(needed: int, device: str, what: str, remedy: str, *, least: int = 2**26) -> None:
    """Check that `needed` bytes are free on a device; fewer than `least` are taken to be.

    Raises OutOfMemory if they are not; the message says how many bytes are needed, and how many are
    free.
    """
    # Asking costs more than a small call.
    free = free_memory(device) if needed >= least else None
    if free is not None and needed > free:
        raise OutOfMemory(
            f"{what} take {needed:,} bytes, and {free:,} are free on {device}: {remedy}"
        )
