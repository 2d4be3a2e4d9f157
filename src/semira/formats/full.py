"""Matrices with an entry at every position, as operands of products."""

from __future__ import annotations

from semira.base.errors import PlanError


def check_full_operand(pin: str, value: str, nvals: int, shape: tuple[int, int]) -> None:
    """Check that the right operand of a product of matrices has every entry, as a pin asks for.

    Raises PlanError if it lacks some.
    """
    if nvals != shape[0] * shape[1]:
        remedy = "leave the pin out"
        if value in ("csr", "csc"):
            remedy = (
                "its rows have to be there otherwise (the pin is the call's, or a matrix' with "
                "memory='lean'; matrix_storage='both' transposes)"
            )
        raise PlanError(
            f"mxm: {pin}={value!r} is for a product whose right operand has every entry, and this "
            f"one has {nvals} of {shape[0]} x {shape[1]}; {remedy}"
        )
