"""Which scalars the host knows to have a value: an eager statement then need not wait for them."""

from __future__ import annotations

import pytest

from semira.backends.cuda.runtime.launch import values_known
from semira.backends.cuda.runtime.objects import CudaScalar, Literal
from semira.base.dtypes import FP64, INT64
from semira.contract import Arg, Loop, Program, Slot, Statement
from semira.ops.registry import binary, monoid, unary

SLOTS = (
    Slot("scalar", FP64, "inout"), Slot("scalar", FP64), Slot("scalar", FP64),
    Slot("vector", FP64), Slot("scalar", INT64),
)  # fmt: skip
PLUS = binary["plus"].typed(FP64)
ADD = Statement("apply", 0, (Arg(0), Arg(1)), PLUS)
NEGATE = Statement("apply", 0, (Arg(2),), unary["ainv"].typed(FP64))


def things(first: bool, second: bool):
    return [
        CudaScalar(None, FP64, None, has_value=first), Literal([0, 1]),
        CudaScalar(None, FP64, None, has_value=second), object(), Literal([3, 1]),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "first", "second", "expected"),
    [
        ((ADD,), True, False, True),
        ((ADD,), False, False, False),
        ((NEGATE,), False, True, True),
        ((NEGATE,), True, False, False),
        ((NEGATE, ADD), True, False, False),
        ((NEGATE, ADD), False, True, True),
        ((Statement("nvals", 0, (Arg(3),)),), False, False, True),
        ((Statement("reduce", 0, (Arg(3),), monoid["plus"].typed(FP64)),), True, True, False),
        (
            (Statement("reduce", 0, (Arg(3),), monoid["plus"].typed(FP64),
                       params=(("identity", True),)),), False, False, True,
        ),
        ((Loop(((ADD,),), (None,), 4, explicit_limit=True),), True, True, False),
        ((Statement("assign", 0, (Arg(3),)),), True, True, False),
    ],
)  # fmt: skip
def test_what_is_known_of_a_written_scalar(body, first, second, expected):
    given = things(first, second)
    assert values_known(Program(SLOTS, body), given) == {0: expected}
    assert (given[0].has_value, given[2].has_value) == (first, second)
