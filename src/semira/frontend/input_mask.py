"""``input_mask``: a mask of the shape of the operand that an extract reads."""

from __future__ import annotations

from typing import Any

from semira.base.errors import DimensionMismatch, DomainMismatch
from semira.frontend.indexing import extract_axes
from semira.frontend.mask import Mask, as_mask


def _check_vector(mask: Mask, x: Any, axes: Any) -> int:
    """Check a Vector mask on a Matrix operand; returns the axis it runs along."""
    kept = [number for number, axis in enumerate(axes) if axis.length is not None]
    if len(kept) != 1:
        raise DomainMismatch("Got Vector `input_mask` when extracting a submatrix from a Matrix")
    if mask.parent.shape[0] != x.shape[kept[0]]:
        name = ("nrows", "ncols")[kept[0]]
        raise DimensionMismatch(
            f"Size of `input_mask` Vector does not match {name} of Matrix: "
            f"{mask.parent.shape[0]} and {x.shape[kept[0]]}"
        )
    return kept[0]


def output_mask(expression: Any, given: Any) -> Mask:
    """Return the mask of ``x[...].new(input_mask=given)`` for its result.

    ``x[I](input_mask=M)`` keeps what M lets through before indexing, which is what ``M[I]`` lets
    through after it. Raises DomainMismatch if the expression is no extract, or the mask is of a
    kind that does not fit. Raises DimensionMismatch if the mask does not have the operand's shape.
    """
    target = expression._target
    if target is None:
        raise DomainMismatch("`input_mask` argument may only be used for extract")
    if not expression.shape:
        raise DimensionMismatch("input_mask is not allowed when a single element is extracted")
    x, axes = target
    mask = as_mask(given)
    parent = mask.parent
    if x.kind == "vector" and parent.kind != "vector":
        raise DomainMismatch(f"Mask object must be type Vector; got {parent.kind}")
    if parent.kind == "vector":
        axis = 0 if x.kind == "vector" else _check_vector(mask, x, axes)
        if parent.shape[0] != x.shape[axis]:
            raise DimensionMismatch(
                f"Size of `input_mask` does not match size of input: {parent.shape} and {x.shape}"
            )
        indexed = extract_axes(parent, [axes[axis]]).new()
    else:
        if parent.shape != x.shape:
            raise DimensionMismatch(
                f"Shape of `input_mask` does not match shape of input: {parent.shape} and {x.shape}"
            )
        indexed = extract_axes(parent, axes).new()
    return Mask(indexed, structure=mask.structure, complement=mask.complement)
