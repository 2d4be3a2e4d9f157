"""A Vector beside a Matrix: on the left it stands in every column, on the right in every row."""

from __future__ import annotations

from typing import Any

from semira.base.errors import DimensionMismatch, OutOfMemory
from semira.engine import recording
from semira.formats.index import WIDE
from semira.frontend.compose import outer
from semira.frontend.deferred import Deferred
from semira.frontend.kinds import OBJECTS


def broadcast(left: Any, right: Any, op: str) -> tuple[Any, Any]:
    """Return the operands with the Vector spread over the Matrix' shape.

    For an intersection only the Matrix' own entries count, so the Vector is spread over those:
    O(nvals). For a union it is spread over all, one entry of it over a whole row or column. Raises
    DimensionMismatch if the Vector's size is not the number of rows (Vector on the left) or
    columns.
    """
    vector_first = left.kind == "vector"
    vector, matrix = (left, right) if vector_first else (right, left)
    axis = 0 if vector_first else 1
    if vector.size != matrix.shape[axis]:
        raise DimensionMismatch(
            f"{op}: a Vector {'left' if vector_first else 'right'} of a Matrix needs its "
            f"{('nrows', 'ncols')[axis]} = {matrix.shape[axis]} positions, it has {vector.size}"
        )

    def spread() -> Any:
        recording.refuse_host_read(
            f"{op} of a Vector and a Matrix makes objects of its own",
            "spread the Vector before the loop: `v.outer(ones, 'first')`",
        )
        if op == "ewise_mult":
            diagonal = vector.diag() if hasattr(vector, "diag") else vector.new().diag()
            product = (
                diagonal.mxm(matrix, "any_first")
                if vector_first
                else matrix.mxm(diagonal, "any_second")
            )
            return product.new(vector.dtype)
        return _everywhere(vector, matrix.shape, axis)

    wide = Deferred("matrix", vector.dtype, tuple(matrix.shape), spread)
    return (wide, matrix) if vector_first else (matrix, wide)


def _everywhere(vector: Any, shape: tuple[int, ...], axis: int) -> Any:
    """Return the Vector in every row or column; OutOfMemory for 2**31 of them or more."""
    copies = shape[1 - axis]
    if copies >= WIDE:
        # The row of all ones below cannot be listed. Nothing spread everywhere is nothing.
        if vector.nvals:
            raise OutOfMemory(
                f"a Vector beside a Matrix of shape {shape} has an entry at each of {copies} "
                f"{('columns', 'rows')[axis]} for each of its own (limit: fewer than 2**31); use "
                "ewise_mult, which needs it only where the Matrix has entries"
            )
        return OBJECTS["matrix"](vector.dtype, *shape)
    full = OBJECTS["vector"].from_scalar(True, copies)
    pair = (vector, full, "first") if axis == 0 else (full, vector, "second")
    return outer(*pair).new(vector.dtype)
