"""What a product of matrices will take before it is computed, and what is free."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from semira.backends.registry import backend_for
from semira.base.errors import InvalidValue
from semira.base.memory import available_bytes
from semira.engine.values import default_device
from semira.formats.index import index_dtype, offset_dtype
from semira.frontend.call import require_operator
from semira.frontend.expr import Expression
from semira.frontend.mask import as_mask


@dataclass(frozen=True, slots=True)
class Estimate:
    """What ``A (+).(*) B`` takes.

    Attributes
    ----------
    products : int
        Pairs of entries that are multiplied: exact without a mask that is looked at before.
    entries : int
        Upper bound on the entries of the result.
    nbytes : int
        Bytes of a result with `entries` entries as CSR.
    available : int or None
        Bytes that were free on the device of the operands; see `free_memory`.

    Examples
    --------
    >>> print(Estimate(12, 9, 148))
    12 products, at most 9 entries in 148 bytes
    """

    products: int
    entries: int
    nbytes: int
    available: int | None = field(default=None, compare=False)

    def __str__(self) -> str:
        most = f"at most {self.entries:,} entries in {self.nbytes:,} bytes"
        if self.available is not None and self.nbytes > self.available:
            most += f", of which {self.available:,} are available"
        return f"{self.products:,} products, {most}"


def free_memory(device: str | None = None) -> int | None:
    """Return the bytes that objects on a device may still take.

    Parameters
    ----------
    device : "reference", "cpu", "cuda" or "suitesparse", optional
        None: where new objects go.

    Returns
    -------
    int or None
        On a GPU, what is free there and what its pool has in reserve. Elsewhere the least of the
        machine's free memory, of what its control groups leave (the limit of a container) and of
        what ``ulimit -v`` and ``ulimit -d`` leave. None if the system does not tell.

    Raises
    ------
    DeviceUnavailable
        There is no such device, or this machine lacks it.

    Examples
    --------
    >>> import semira as gb
    >>> gb.free_memory("cpu") > 1_000_000
    True
    """
    ask = getattr(backend_for(device or default_device()), "free_bytes", available_bytes)
    return ask()


def estimate(expression: Any, *, mask: Any = None) -> Estimate:
    """Return what a product of two matrices will take; nothing of it is computed.

    A row of the result has at most as many entries as products, columns, and entries that a plain
    mask names.

    Parameters
    ----------
    expression : MatrixExpression
        A product, such as ``A.mxm(B)``.
    mask : Mask or BOOL Matrix, optional
        The mask it would be written through.

    Returns
    -------
    Estimate

    Raises
    ------
    InvalidValue
        It is another expression.

    Notes
    -----
    O(entries of A and B): the lengths of B's rows, summed up over A's entries, on the device of the
    operands; one vector is read back.

    Examples
    --------
    >>> import semira as gb
    >>> A = gb.Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 0])
    >>> found = gb.estimate(A.mxm(A))
    >>> found.products, found.entries
    (5, 5)
    """
    if not isinstance(expression, Expression) or expression._template.op != "mxm":
        what = getattr(getattr(expression, "_template", None), "op", type(expression).__name__)
        raise InvalidValue(f"estimate takes a product of two matrices (mxm), got {what}")
    template = expression._template
    require_operator(template)
    a, b = template.args
    nrows, ncols = template.shape
    lengths = b.reduce_rowwise("count").new("INT64")
    products = a.mxv(lengths, "plus_second").new("INT64")
    rows, work = products.to_coo()
    most = np.minimum(work, ncols)
    given = None if mask is None else as_mask(mask)
    if given is not None and not given.complement:
        named = np.zeros(len(rows), np.int64)
        found, counts = given.parent.reduce_rowwise("count").new("INT64").to_coo()
        named[np.isin(rows, found)] = counts[np.isin(found, rows)]
        most = np.minimum(most, named)
    entries = int(most.sum())
    widths = np.dtype(index_dtype(nrows, ncols)).itemsize, template.dtype.itemsize
    offsets = (nrows + 1) * np.dtype(offset_dtype(entries)).itemsize
    nbytes = offsets + entries * sum(widths)
    return Estimate(int(work.sum()), entries, nbytes, free_memory(products.device))
