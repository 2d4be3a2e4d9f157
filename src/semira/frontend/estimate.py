"""``estimate``: what a product of matrices will take, before it is computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from semira.base.errors import InvalidValue
from semira.formats.index import index_dtype, offset_dtype
from semira.frontend.expr import Expression, require_operator
from semira.frontend.mask import as_mask


@dataclass(frozen=True, slots=True)
class Estimate:
    """What ``A (+).(*) B`` takes.

    Attributes
    ----------
    products : int
        Pairs of entries that are multiplied: exact without a mask that is looked at before.
    entries : int
        The result has at most so many.
    nbytes : int
        Of the result's arrays with so many entries, as compressed rows.

    Examples
    --------
    >>> print(Estimate(12, 9, 148))
    12 products, at most 9 entries in 148 bytes
    """

    products: int
    entries: int
    nbytes: int

    def __str__(self) -> str:
        return (
            f"{self.products:,} products, at most {self.entries:,} entries in {self.nbytes:,} bytes"
        )


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
    return Estimate(int(work.sum()), entries, offsets + entries * sum(widths))
