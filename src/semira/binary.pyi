"""Written by ``python -m tests.helpers.operator_names``."""

# fmt: off
from semira.frontend.namespaces import SubNamespace
from semira.ops.core import BinaryOp
from semira.ops.user import Parameterized
from typing import Any

def from_string(text: str) -> Any: ...
numpy: SubNamespace
def register_anonymous(func: Any, name: str | None = None, *, parameterized: bool = False, is_udt: bool = False) -> Any: ...
def register_new(name: str, func: Any, *, parameterized: bool = False, is_udt: bool = False, lazy: bool = False) -> Any: ...
ss: SubNamespace

_binaryops: list[BinaryOp]
(
    absfirst, abssecond, any, atan2, band, bclr, bget, binom, bor, bset, bshift, bxnor, bxor,
    cdiv, cmplx, copysign, eq, first, firsti, firsti1, firstj, firstj1, floordiv, fmod, ge, gt,
    hypot, iseq, isge, isgt, isle, islt, isne, land, ldexp, le, lor, lt, lxnor, lxor, max, min,
    minus, ne, pair, plus, pow, rdiv, remainder, rfloordiv, rminus, rpow, rtruediv, second,
    secondi, secondi1, secondj, secondj1, times, truediv,
) = _binaryops

_parameterizeds: list[Parameterized]
(
    isclose,
) = _parameterizeds
