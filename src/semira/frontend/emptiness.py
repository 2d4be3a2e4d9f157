"""What Python's operators on Scalars mean where one of the operands may be empty.

In eager code the host knows which is; in a recorded loop body nobody does, so statements say it.
"""

from __future__ import annotations

from typing import Any

from semira.base.dtypes import BOOL
from semira.base.errors import DomainMismatch
from semira.engine import recording
from semira.engine.calls import Call, Literal
from semira.frontend import elementwise
from semira.frontend.call import as_literal
from semira.frontend.checks import bad_type
from semira.frontend.kinds import OBJECTS
from semira.frontend.records import is_record
from semira.ops.registry import binary, unary


def compared(x: Any, other: Any, name: str) -> Any:
    """Return ``x == other`` or ``x != other`` of Scalars as a BOOL expression that has a value.

    Two empty Scalars are equal, an empty one and one with a value are not: as outside of loops.
    `name` is "eq" or "ne"; None stands for an empty Scalar.
    """
    if other is None:
        return elementwise.apply(x.nvals, binary[name], right=0)
    is_number = not hasattr(other, "_operand")
    if is_number and is_record(x.dtype):
        other, is_number = OBJECTS["scalar"].from_value(other, x.dtype), False
    if _has_value(x) and (is_number or _has_value(other)):
        return elementwise.apply(x, binary[name], right=other)
    if is_number:
        number = _number(other)
        return elementwise.filled(x, number, binary[name], _another(number), number)
    # Where both have a value they are compared; else they differ if either has one.
    differ = elementwise.ewise("ewise_mult", x, other, binary["ne"])
    either = elementwise.ewise("ewise_add", x, other, binary["first"]).nvals
    differ = elementwise.ewise("ewise_add", differ, either, binary["first"][BOOL])
    return differ if name == "ne" else elementwise.apply(differ, unary["lnot"])


def _number(given: Any) -> Literal:
    try:
        return as_literal(given)
    except DomainMismatch:
        raise bad_type(given, "Scalar", "other", "Scalar.isequal", literals=True) from None


def _another(number: Literal) -> Literal:
    """Return a number of the same dtype that is not equal to this one."""
    return Literal(number.dtype, number.dtype.scalar(0 if number.value != 0 else 1))


def _has_value(x: Any) -> bool:
    """Whether a Scalar of this recording is a count that nothing else was written to."""
    made = x._operand()[0]
    record = recording.current()
    if record is None or made.recording is not record:
        return False
    # A loop inside of the body may write to it.
    return all(
        isinstance(call, Call) and (call.out is not made or call.op == "nvals")
        for call in record.calls
    )
