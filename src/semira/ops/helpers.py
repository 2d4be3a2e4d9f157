"""Scalar functions that operator expressions call.

Their source is inlined into generated CPU kernels, so they use only what both NumPy scalars
and Numba understand; `kernels/common/helpers.cuh` of the cuda backend spells the same.
Integer division follows SuiteSparse:GraphBLAS: x/0 is the largest value for x > 0, the
smallest for x < 0, and 0 for x = 0.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np


def int_div(a: Any, b: Any, low: Any, high: Any) -> Any:
    """Divide signed integers, rounding towards zero."""
    if b == 0:
        if a == 0:
            return a
        return high if a > 0 else low
    if b == -1:
        return -a
    quotient = a // b
    if quotient < 0 and quotient * b != a:
        quotient += 1
    return quotient


def uint_div(a: Any, b: Any, high: Any) -> Any:
    """Divide unsigned integers, rounding down."""
    if b == 0:
        return a if a == 0 else high
    return a // b


def int_floordiv(a: Any, b: Any) -> Any:
    """Divide signed integers, rounding down; x // 0 is 0."""
    if b == 0:
        return b
    if b == -1:
        return -a
    return a // b


def uint_floordiv(a: Any, b: Any) -> Any:
    """Divide unsigned integers, rounding down; x // 0 is 0."""
    if b == 0:
        return b
    return a // b


def int_pow(a: Any, b: Any, low: Any, high: Any) -> Any:
    """Raise signed integers in double precision, then truncate and saturate."""
    power = np.float64(a) ** np.float64(b)
    if power >= high:
        return np.int64(high)
    if power <= low:
        return np.int64(low)
    return np.int64(power)


def uint_pow(a: Any, b: Any, high: Any) -> Any:
    """Raise unsigned integers in double precision, then truncate and saturate."""
    power = np.float64(a) ** np.float64(b)
    if power >= np.float64(high):
        return np.uint64(high)
    return np.uint64(power)


def bit_get(a: Any, b: Any, bits: Any) -> Any:
    """Return bit number `b` of `a`, counting from 1; 0 outside of the word."""
    at = np.int64(b)
    if at < 1 or at > bits:
        return np.int64(0)
    return (np.int64(a) >> (at - 1)) & 1


def bit_set(a: Any, b: Any, bits: Any) -> Any:
    """Set bit number `b` of `a`, counting from 1."""
    at = np.int64(b)
    if at < 1 or at > bits:
        return np.int64(a)
    return np.int64(a) | (np.int64(1) << (at - 1))


def bit_clear(a: Any, b: Any, bits: Any) -> Any:
    """Clear bit number `b` of `a`, counting from 1."""
    at = np.int64(b)
    if at < 1 or at > bits:
        return np.int64(a)
    return np.int64(a) & ~(np.int64(1) << (at - 1))


def int_shift(a: Any, b: Any, bits: Any) -> Any:
    """Shift a signed integer left by `b`, or right if negative; `b` is taken as an INT8."""
    by = ((np.int64(b) + 128) & 255) - 128
    word = np.int64(a)
    if by >= bits:
        return np.int64(0)
    if by >= 0:
        return word << by
    if by <= -bits:
        return np.int64(-1) if word < 0 else np.int64(0)
    return word >> -by


def uint_shift(a: Any, b: Any, bits: Any) -> Any:
    """Shift an unsigned integer left by `b`, or right if negative; `b` is taken as an INT8."""
    by = ((np.int64(b) + 128) & 255) - 128
    word = np.uint64(a)
    if by >= bits or by <= -bits:
        return np.uint64(0)
    if by >= 0:
        return word << np.uint64(by)
    return word >> np.uint64(-by)


def ieee_remainder(a: Any, b: Any) -> Any:
    """Return a - n*b for the integer n nearest to a/b, the even one at a tie."""
    if not np.isfinite(a) or np.isnan(b) or b == 0:
        return (a * b) / (a * b)
    size = abs(b)
    if np.isinf(size):
        return a
    # What is left after whole pairs of b is exact, and its half decides without division.
    rest = np.fmod(abs(a), size + size)
    if rest > size - rest:
        rest -= size
        if rest >= size - rest:
            rest -= size
    return -rest if np.signbit(a) else rest


def scale_power(a: Any, b: Any) -> Any:
    """Return a * 2**b; the exponent is truncated, and saturates long after the result has."""
    if b > 5000:
        return np.ldexp(a, 5000)
    if b < -5000:
        return np.ldexp(a, -5000)
    return np.ldexp(a, int(b))


def log_gamma(a: Any) -> Any:
    """Return the logarithm of the absolute value of the gamma function."""
    if a <= 0 and a == np.floor(a):
        return np.inf
    # The largest argument whose result is finite in double precision.
    if a > 2.556348e305:
        return np.inf
    return math.lgamma(a)


def gamma(a: Any) -> Any:
    """Return the gamma function; NaN at the negative integers."""
    if a == 0:
        return np.copysign(np.inf, a)
    if a < 0 and a == np.floor(a):
        return np.nan
    if a > 171.7:
        return np.inf
    if abs(a) < 5.6e-309:
        return np.copysign(np.inf, a)
    return math.gamma(a)


def binomial(n: Any, k: Any) -> Any:
    """Return the number of ways to choose k of n; 0 if there are none or it overflows INT64."""
    if k < 0 or k > n:
        return np.int64(0)
    ways = np.int64(1)
    for step in range(min(k, n - k)):
        if ways > 9223372036854775807 // (n - step):
            return np.int64(0)
        ways = ways * (n - step) // (step + 1)
    return ways


def int_fmod(a: Any, b: Any) -> Any:
    """Return the remainder of signed integers with the sign of `a`; 0 if `b` is."""
    if b in (0, -1):
        return np.int64(0)
    rest = np.int64(a) % np.int64(b)
    if rest != 0 and (rest < 0) != (a < 0):
        rest -= np.int64(b)
    return rest


def int_mod(a: Any, b: Any) -> Any:
    """Return the remainder of signed integers with the sign of `b`; 0 if `b` is."""
    if b in (0, -1):
        return np.int64(0)
    return np.int64(a) % np.int64(b)


def uint_mod(a: Any, b: Any) -> Any:
    """Return the remainder of unsigned integers; 0 if `b` is."""
    if b == 0:
        return np.uint64(0)
    return np.uint64(a) % np.uint64(b)


def int_gcd(a: Any, b: Any) -> Any:
    """Return the greatest common divisor of signed integers."""
    x, y = np.int64(a), np.int64(b)
    while y != 0:
        x, y = y, (x % y if y != -1 else np.int64(0))
    return -x if x < 0 else x


def uint_gcd(a: Any, b: Any) -> Any:
    """Return the greatest common divisor of unsigned integers."""
    x, y = np.uint64(a), np.uint64(b)
    while y != 0:
        x, y = y, x % y
    return x


def log_add(a: Any, b: Any) -> Any:
    """Return log(exp(a) + exp(b)) without overflow."""
    if a == b:
        return a + np.log(2.0)
    gap = a - b
    if gap > 0:
        return a + np.log1p(np.exp(-gap))
    if gap <= 0:
        return b + np.log1p(np.exp(gap))
    return gap


def log_add2(a: Any, b: Any) -> Any:
    """Return log2(2**a + 2**b) without overflow."""
    if a == b:
        return a + 1
    gap = a - b
    if gap > 0:
        return a + np.log1p(np.exp2(-gap)) * 1.4426950408889634
    if gap <= 0:
        return b + np.log1p(np.exp2(gap)) * 1.4426950408889634
    return gap


def complex_div(a: Any, b: Any) -> Any:
    """Divide complex numbers in double precision without needless overflow.

    References
    ----------
    Robert L. Smith: Algorithm 116: Complex division, CACM 5(8), 1962. Division by a real or an
    imaginary number divides the parts.
    """
    ar, ai = np.float64(a.real), np.float64(a.imag)
    br, bi = np.float64(b.real), np.float64(b.imag)
    if bi == 0:
        return complex(ar / br, ai / br)
    if br == 0:
        return complex(ai / bi, -ar / bi)
    if abs(br) >= abs(bi):
        ratio = bi / br if abs(bi) != np.inf else np.copysign(1.0, br) * np.copysign(1.0, bi)
        size = br + bi * ratio
        return complex((ar + ai * ratio) / size, (ai - ar * ratio) / size)
    ratio = br / bi
    size = bi + br * ratio
    return complex((ar * ratio + ai) / size, (ai * ratio - ar) / size)


def complex_pow(a: Any, b: Any) -> Any:
    """Raise complex numbers in double precision; real ones stay real where they can."""
    ar, ai = np.float64(a.real), np.float64(a.imag)
    br, bi = np.float64(b.real), np.float64(b.imag)
    if ai == 0 and bi == 0 and not (ar < 0 and np.isfinite(br) and br != np.trunc(br)):
        if np.isnan(ar) or np.isnan(br):
            return complex(ar + br, 0.0)
        return complex(ar**br, 0.0)
    if np.isnan(ar) or np.isnan(ai) or np.isnan(br) or np.isnan(bi):
        return complex(np.nan, np.nan)
    if br == 0 and bi == 0:
        return complex(1.0, 0.0)
    base = np.log(complex(ar, ai))
    return np.exp(complex(br * base.real - bi * base.imag, br * base.imag + bi * base.real))


def complex_sign(a: Any) -> Any:
    """Return a / |a|; 0 for 0."""
    if a.real == 0 and a.imag == 0:
        return complex(0.0, 0.0)
    size = abs(a)
    return complex(a.real / size, a.imag / size)


def complex_round(a: Any) -> Any:
    """Round both parts to the nearest integer, halves away from zero."""
    x, y = np.trunc(a.real), np.trunc(a.imag)
    if abs(a.real - x) >= 0.5:
        x += np.copysign(1, a.real)
    if abs(a.imag - y) >= 0.5:
        y += np.copysign(1, a.imag)
    return complex(x, y)


def complex_exp2(a: Any) -> Any:
    """Return 2 to the power of a complex number."""
    x, y = np.float64(a.real), np.float64(a.imag)
    if y == 0:
        return complex(np.exp2(x), 0.0)
    # The product with the complex number log(2): an infinite part leaves no angle.
    return np.exp(complex(x * 0.6931471805599453 - y * 0.0, y * 0.6931471805599453 + x * 0.0))


def complex_log2(a: Any) -> Any:
    """Return the logarithm of a complex number to the base 2."""
    natural = np.log(complex(a.real, a.imag))
    return complex(natural.real * 1.4426950408889634, natural.imag * 1.4426950408889634)


def complex_expm1(a: Any) -> Any:
    """Return exp(a) - 1 of a complex number."""
    power = np.exp(complex(a.real, a.imag))
    return complex(power.real - 1, power.imag)


def complex_tanh(a: Any) -> Any:
    """Return the hyperbolic tangent of a complex number, also far from the imaginary axis."""
    if abs(a.real) > 22:
        # exp(-2 * 22) is below the precision of 1; the imaginary part is what is left.
        height = np.float64(a.imag) if np.isfinite(a.imag) else 0.0
        rest = 2 * np.sin(2 * height) * np.exp(-2 * abs(np.float64(a.real)))
        return complex(np.copysign(1.0, a.real), rest)
    return np.tanh(complex(a.real, a.imag))


def complex_max(a: Any, b: Any) -> Any:
    """Return the larger by real part, then by imaginary part; a NaN wins."""
    if np.isnan(a) or np.isnan(b):
        return a if np.isnan(a) else b
    return a if a.real > b.real or (a.real == b.real and a.imag >= b.imag) else b


def complex_min(a: Any, b: Any) -> Any:
    """Return the smaller by real part, then by imaginary part; a NaN wins."""
    if np.isnan(a) or np.isnan(b):
        return a if np.isnan(a) else b
    return a if a.real < b.real or (a.real == b.real and a.imag <= b.imag) else b


def philox(draw: Any, i: Any, j: Any, key: Any, below: Any) -> Any:
    """Return the first 64 bits of Philox4x32-10, or an integer below `below` if that is not 0.

    The counter is `draw`, then the position (i, j): the bits of the row number, joined by
    exclusive or with those of the column number with its halves exchanged. An integer is the
    remainder of the first draw, from `draw` on, that favours none.

    References
    ----------
    J. Salmon, M. Moraes, R. Dror, D. Shaw, *Parallel random numbers: as easy as 1, 2, 3*, SC 2011.
    """
    word, half, one = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(1)
    factor0, factor2 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
    step0, step1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
    column, bound, bits = np.uint64(j), np.uint64(below), np.uint64(0)
    place = np.uint64(i) ^ np.uint64(column << half | column >> half)
    least = bound
    if bound > 0:
        least = np.uint64(~bound + one) % bound
    counter = np.uint64(draw)
    while True:
        c0, c1 = counter & word, counter >> half
        c2, c3 = place & word, place >> half
        k0 = np.uint64(np.int64(key) & np.int64(0xFFFFFFFF))
        k1 = np.uint64((np.int64(key) >> np.int64(32)) & np.int64(0xFFFFFFFF))
        for _ in range(10):
            first, second = factor0 * c0, factor2 * c2
            c0, c1 = (second >> half) ^ c1 ^ k0, second & word
            c2, c3 = (first >> half) ^ c3 ^ k1, first & word
            k0 = (k0 + step0) & word
            k1 = (k1 + step1) & word
        bits = c1 << half | c0
        if bits >= least:
            break
        counter = np.uint64(counter + one)
    if bound > 0:
        bits = bits % bound
    return bits


def _on_integers(text: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that computes its 64-bit words as integers of Python: three times as fast.

    The text is still what kernels inline.
    """
    words = SimpleNamespace(int64=int, uint64=lambda value: int(value) & 0xFFFFFFFFFFFFFFFF)
    function = FunctionType(text.__code__, {"np": words})

    @functools.wraps(text)
    def call(*args: Any) -> Any:
        return np.uint64(function(*args))

    return call


philox = _on_integers(philox)


#: Names that an expression may call.
NAMES = (
    "int_div", "uint_div", "int_floordiv", "uint_floordiv", "int_pow", "uint_pow",
    "bit_get", "bit_set", "bit_clear", "int_shift", "uint_shift", "ieee_remainder",
    "scale_power", "log_gamma", "gamma", "binomial", "int_fmod", "int_mod", "uint_mod",
    "int_gcd", "uint_gcd", "log_add", "log_add2", "complex_div", "complex_pow", "complex_sign",
    "complex_round", "complex_exp2", "complex_log2", "complex_expm1", "complex_tanh",
    "complex_max", "complex_min", "philox",
)  # fmt: skip
