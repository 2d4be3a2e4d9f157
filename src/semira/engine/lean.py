"""Matrices that keep one orientation: products are planned for the one that exists."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from semira.base.errors import PlanError
from semira.contract import PRODUCTS, Hints, row_of


def lean_hints(op: str, args: tuple[Any, ...], hints: Hints) -> Hints:
    """Return the hints of a product, its matrix storage pinned to what lean operands keep.

    What the call pins itself stays, ``matrix_storage`` or a method with a folder:
    ``matrix_storage="both"`` lets one call transpose. Raises PlanError if the operands keep
    different orientations.
    """
    if op not in PRODUCTS or hints.matrix_storage is not None:
        return hints
    row = row_of(op, hints.method)
    if row is not None and row.keeps != ():
        # It is made of whichever orientation there is.
        return hints
    kept = {arg.lean for arg, _ in args if getattr(arg, "lean", None) is not None}
    if not kept:
        return hints
    if len(kept) > 1:
        raise PlanError(
            f"{op} of a matrix that keeps csr and one that keeps csc (memory='lean'); give one "
            "memory='fast', or pass matrix_storage='both' to transpose for this call"
        )
    return replace(hints, matrix_storage=kept.pop())
