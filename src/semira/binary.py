"""The namespace ``semira.binary``: operators by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semira.frontend.namespaces import install
from semira.frontend.user_operators import function_registrars
from semira.ops.registry import namespace_from_string

if TYPE_CHECKING:
    from semira.frontend.namespaces import SubNamespace
    from semira.ops import BinaryOp
    from semira.ops.user import Parameterized

from_string = namespace_from_string("binary")
register_new, register_anonymous = function_registrars("BinaryOp")

if TYPE_CHECKING:
    # Written by `python -m tests.helpers.operator_names`: the names for type checkers.
    numpy: SubNamespace
    ss: SubNamespace
    _binaryops: list[BinaryOp] = []
    (
        absfirst, abssecond, any, atan2, band, bclr, bget, binom, bor, bset, bshift, bxnor, bxor,
        cdiv, cmplx, copysign, eq, first, firsti, firsti1, firstj, firstj1, floordiv, fmod, ge, gt,
        hypot, iseq, isge, isgt, isle, islt, isne, land, ldexp, le, lor, lt, lxnor, lxor, max, min,
        minus, ne, pair, plus, pow, rdiv, remainder, rfloordiv, rminus, rpow, rtruediv, second,
        secondi, secondi1, secondj, secondj1, times, truediv,
    ) = _binaryops  # fmt: skip
    _parameterizeds: list[Parameterized] = []
    (
        isclose,
    ) = _parameterizeds  # fmt: skip
else:
    __getattr__, __dir__ = install(__name__, "BinaryOp")
