"""Written by ``python -m tests.helpers.operator_names``."""

# fmt: off
from semira._semirings import *  # noqa: F403 - hundreds of names
from semira.frontend.namespaces import SubNamespace
from semira.ops.core import BinaryOp
from semira.ops.core import IndexUnaryOp
from semira.ops.core import SelectOp
from semira.ops.core import UnaryOp
from semira.ops.user import Parameterized
from typing import Any

def from_string(text: str) -> Any: ...
numpy: SubNamespace
ss: SubNamespace

_unaryops: list[UnaryOp]
(
    abs, acos, acosh, ainv, asin, asinh, atan, atanh, bnot, carg, cbrt, ceil, cimag, conj, cos,
    cosh, creal, erf, erfc, exp, exp2, expm1, floor, frexpe, frexpx, identity, isfinite, isinf,
    isnan, lgamma, lnot, log, log10, log1p, log2, minv, one, positioni, positioni1, positionj,
    positionj1, round, signum, sin, sinh, sqrt, tan, tanh, tgamma, trunc,
) = _unaryops

_binaryops: list[BinaryOp]
(
    absfirst, abssecond, any, atan2, band, bclr, bget, binom, bor, bset, bshift, bxnor, bxor,
    cdiv, cmplx, copysign, eq, first, firsti, firsti1, firstj, firstj1, floordiv, fmod, ge, gt,
    hypot, iseq, isge, isgt, isle, islt, isne, land, ldexp, le, lor, lt, lxnor, lxor, max, min,
    minus, ne, pair, plus, pow, rdiv, remainder, rfloordiv, rminus, rpow, rtruediv, second,
    secondi, secondi1, secondj, secondj1, times, truediv,
) = _binaryops

_selectops: list[SelectOp]
(
    colgt, colle, diag, indexgt, indexle, offdiag, rowgt, rowle, tril, triu, valueeq, valuege,
    valuegt, valuele, valuelt, valuene,
) = _selectops

_indexunaryops: list[IndexUnaryOp]
(
    colindex, diagindex, index, random_below, random_bits, random_uniform, rowindex,
) = _indexunaryops

_parameterizeds: list[Parameterized]
(
    isclose,
) = _parameterizeds
