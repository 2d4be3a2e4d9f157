"""Written by ``python -m tests.helpers.operator_names``."""

# fmt: off
from semira.frontend.namespaces import SubNamespace
from semira.ops.core import BinaryOp
from semira.ops.core import IndexUnaryOp
from semira.ops.core import SelectOp
from semira.ops.core import Semiring
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

_semirings: list[Semiring]
(
    any_absfirst, any_abssecond, any_any, any_atan2, any_band, any_bclr, any_bget, any_binom,
    any_bor, any_bset, any_bshift, any_bxnor, any_bxor, any_cdiv, any_cmplx, any_copysign, any_eq,
    any_first, any_firsti, any_firsti1, any_firstj, any_firstj1, any_floordiv, any_fmod, any_ge,
    any_gt, any_hypot, any_iseq, any_isge, any_isgt, any_isle, any_islt, any_isne, any_land,
    any_ldexp, any_le, any_lor, any_lt, any_lxnor, any_lxor, any_max, any_min, any_minus, any_ne,
    any_pair, any_plus, any_pow, any_rdiv, any_remainder, any_rfloordiv, any_rminus, any_rpow,
    any_rtruediv, any_second, any_secondi, any_secondi1, any_secondj, any_secondj1, any_times,
    any_truediv, band_absfirst, band_abssecond, band_any, band_band, band_bclr, band_bget,
    band_bor, band_bset, band_bshift, band_bxnor, band_bxor, band_cdiv, band_first, band_floordiv,
    band_iseq, band_isge, band_isgt, band_isle, band_islt, band_isne, band_land, band_lor,
    band_lxor, band_max, band_min, band_minus, band_pair, band_plus, band_pow, band_rdiv,
    band_rfloordiv, band_rminus, band_rpow, band_second, band_times, bor_absfirst, bor_abssecond,
    bor_any, bor_band, bor_bclr, bor_bget, bor_bor, bor_bset, bor_bshift, bor_bxnor, bor_bxor,
    bor_cdiv, bor_first, bor_floordiv, bor_iseq, bor_isge, bor_isgt, bor_isle, bor_islt, bor_isne,
    bor_land, bor_lor, bor_lxor, bor_max, bor_min, bor_minus, bor_pair, bor_plus, bor_pow,
    bor_rdiv, bor_rfloordiv, bor_rminus, bor_rpow, bor_second, bor_times, bxnor_absfirst,
    bxnor_abssecond, bxnor_any, bxnor_band, bxnor_bclr, bxnor_bget, bxnor_bor, bxnor_bset,
    bxnor_bshift, bxnor_bxnor, bxnor_bxor, bxnor_cdiv, bxnor_first, bxnor_floordiv, bxnor_iseq,
    bxnor_isge, bxnor_isgt, bxnor_isle, bxnor_islt, bxnor_isne, bxnor_land, bxnor_lor, bxnor_lxor,
    bxnor_max, bxnor_min, bxnor_minus, bxnor_pair, bxnor_plus, bxnor_pow, bxnor_rdiv,
    bxnor_rfloordiv, bxnor_rminus, bxnor_rpow, bxnor_second, bxnor_times, bxor_absfirst,
    bxor_abssecond, bxor_any, bxor_band, bxor_bclr, bxor_bget, bxor_bor, bxor_bset, bxor_bshift,
    bxor_bxnor, bxor_bxor, bxor_cdiv, bxor_first, bxor_floordiv, bxor_iseq, bxor_isge, bxor_isgt,
    bxor_isle, bxor_islt, bxor_isne, bxor_land, bxor_lor, bxor_lxor, bxor_max, bxor_min,
    bxor_minus, bxor_pair, bxor_plus, bxor_pow, bxor_rdiv, bxor_rfloordiv, bxor_rminus, bxor_rpow,
    bxor_second, bxor_times, eq_absfirst, eq_abssecond, eq_any, eq_cdiv, eq_eq, eq_first, eq_ge,
    eq_gt, eq_iseq, eq_isge, eq_isgt, eq_isle, eq_islt, eq_isne, eq_land, eq_le, eq_lor, eq_lt,
    eq_lxnor, eq_lxor, eq_max, eq_min, eq_minus, eq_ne, eq_pair, eq_plus, eq_pow, eq_rdiv,
    eq_rminus, eq_second, eq_times, land_absfirst, land_abssecond, land_any, land_atan2,
    land_cdiv, land_copysign, land_eq, land_first, land_firsti, land_firsti1, land_firstj,
    land_firstj1, land_floordiv, land_fmod, land_ge, land_gt, land_hypot, land_iseq, land_isge,
    land_isgt, land_isle, land_islt, land_isne, land_land, land_ldexp, land_le, land_lor, land_lt,
    land_lxnor, land_lxor, land_max, land_min, land_minus, land_ne, land_pair, land_plus,
    land_pow, land_rdiv, land_remainder, land_rfloordiv, land_rminus, land_rpow, land_rtruediv,
    land_second, land_secondi, land_secondi1, land_secondj, land_secondj1, land_times,
    land_truediv, lor_absfirst, lor_abssecond, lor_any, lor_atan2, lor_cdiv, lor_copysign, lor_eq,
    lor_first, lor_firsti, lor_firsti1, lor_firstj, lor_firstj1, lor_floordiv, lor_fmod, lor_ge,
    lor_gt, lor_hypot, lor_iseq, lor_isge, lor_isgt, lor_isle, lor_islt, lor_isne, lor_land,
    lor_ldexp, lor_le, lor_lor, lor_lt, lor_lxnor, lor_lxor, lor_max, lor_min, lor_minus, lor_ne,
    lor_pair, lor_plus, lor_pow, lor_rdiv, lor_remainder, lor_rfloordiv, lor_rminus, lor_rpow,
    lor_rtruediv, lor_second, lor_secondi, lor_secondi1, lor_secondj, lor_secondj1, lor_times,
    lor_truediv, lxnor_absfirst, lxnor_abssecond, lxnor_any, lxnor_atan2, lxnor_cdiv,
    lxnor_copysign, lxnor_eq, lxnor_first, lxnor_firsti, lxnor_firsti1, lxnor_firstj,
    lxnor_firstj1, lxnor_floordiv, lxnor_fmod, lxnor_ge, lxnor_gt, lxnor_hypot, lxnor_iseq,
    lxnor_isge, lxnor_isgt, lxnor_isle, lxnor_islt, lxnor_isne, lxnor_land, lxnor_ldexp, lxnor_le,
    lxnor_lor, lxnor_lt, lxnor_lxnor, lxnor_lxor, lxnor_max, lxnor_min, lxnor_minus, lxnor_ne,
    lxnor_pair, lxnor_plus, lxnor_pow, lxnor_rdiv, lxnor_remainder, lxnor_rfloordiv, lxnor_rminus,
    lxnor_rpow, lxnor_rtruediv, lxnor_second, lxnor_secondi, lxnor_secondi1, lxnor_secondj,
    lxnor_secondj1, lxnor_times, lxnor_truediv, lxor_absfirst, lxor_abssecond, lxor_any,
    lxor_atan2, lxor_cdiv, lxor_copysign, lxor_eq, lxor_first, lxor_firsti, lxor_firsti1,
    lxor_firstj, lxor_firstj1, lxor_floordiv, lxor_fmod, lxor_ge, lxor_gt, lxor_hypot, lxor_iseq,
    lxor_isge, lxor_isgt, lxor_isle, lxor_islt, lxor_isne, lxor_land, lxor_ldexp, lxor_le,
    lxor_lor, lxor_lt, lxor_lxnor, lxor_lxor, lxor_max, lxor_min, lxor_minus, lxor_ne, lxor_pair,
    lxor_plus, lxor_pow, lxor_rdiv, lxor_remainder, lxor_rfloordiv, lxor_rminus, lxor_rpow,
    lxor_rtruediv, lxor_second, lxor_secondi, lxor_secondi1, lxor_secondj, lxor_secondj1,
    lxor_times, lxor_truediv, max_absfirst, max_abssecond, max_any, max_atan2, max_band, max_bclr,
    max_bget, max_binom, max_bor, max_bset, max_bshift, max_bxnor, max_bxor, max_cdiv,
    max_copysign, max_eq, max_first, max_firsti, max_firsti1, max_firstj, max_firstj1,
    max_floordiv, max_fmod, max_ge, max_gt, max_hypot, max_iseq, max_isge, max_isgt, max_isle,
    max_islt, max_isne, max_land, max_ldexp, max_le, max_lor, max_lt, max_lxnor, max_lxor,
    max_max, max_min, max_minus, max_ne, max_pair, max_plus, max_pow, max_rdiv, max_remainder,
    max_rfloordiv, max_rminus, max_rpow, max_rtruediv, max_second, max_secondi, max_secondi1,
    max_secondj, max_secondj1, max_times, max_truediv, min_absfirst, min_abssecond, min_any,
    min_atan2, min_band, min_bclr, min_bget, min_binom, min_bor, min_bset, min_bshift, min_bxnor,
    min_bxor, min_cdiv, min_copysign, min_eq, min_first, min_firsti, min_firsti1, min_firstj,
    min_firstj1, min_floordiv, min_fmod, min_ge, min_gt, min_hypot, min_iseq, min_isge, min_isgt,
    min_isle, min_islt, min_isne, min_land, min_ldexp, min_le, min_lor, min_lt, min_lxnor,
    min_lxor, min_max, min_min, min_minus, min_ne, min_pair, min_plus, min_pow, min_rdiv,
    min_remainder, min_rfloordiv, min_rminus, min_rpow, min_rtruediv, min_second, min_secondi,
    min_secondi1, min_secondj, min_secondj1, min_times, min_truediv, plus_absfirst,
    plus_abssecond, plus_any, plus_atan2, plus_band, plus_bclr, plus_bget, plus_binom, plus_bor,
    plus_bset, plus_bshift, plus_bxnor, plus_bxor, plus_cdiv, plus_cmplx, plus_copysign,
    plus_first, plus_firsti, plus_firsti1, plus_firstj, plus_firstj1, plus_floordiv, plus_fmod,
    plus_hypot, plus_iseq, plus_isge, plus_isgt, plus_isle, plus_islt, plus_isne, plus_land,
    plus_ldexp, plus_lor, plus_lxor, plus_max, plus_min, plus_minus, plus_pair, plus_plus,
    plus_pow, plus_rdiv, plus_remainder, plus_rfloordiv, plus_rminus, plus_rpow, plus_rtruediv,
    plus_second, plus_secondi, plus_secondi1, plus_secondj, plus_secondj1, plus_times,
    plus_truediv, times_absfirst, times_abssecond, times_any, times_atan2, times_band, times_bclr,
    times_bget, times_binom, times_bor, times_bset, times_bshift, times_bxnor, times_bxor,
    times_cdiv, times_cmplx, times_copysign, times_eq, times_first, times_firsti, times_firsti1,
    times_firstj, times_firstj1, times_floordiv, times_fmod, times_ge, times_gt, times_hypot,
    times_iseq, times_isge, times_isgt, times_isle, times_islt, times_isne, times_land,
    times_ldexp, times_le, times_lor, times_lt, times_lxnor, times_lxor, times_max, times_min,
    times_minus, times_ne, times_pair, times_plus, times_pow, times_rdiv, times_remainder,
    times_rfloordiv, times_rminus, times_rpow, times_rtruediv, times_second, times_secondi,
    times_secondi1, times_secondj, times_secondj1, times_times, times_truediv,
) = _semirings

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
