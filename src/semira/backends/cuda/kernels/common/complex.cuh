// Functions of complex numbers, computed in double precision; the names and the meaning are those
// of the real ones, or of semira.ops.helpers.
//
// Inverse functions follow W. Kahan, Branch cuts for complex elementary functions, 1987.
#pragma once
#include "common/values.cuh"

using Complex64 = Complex<double>;

SEMIRA_INLINE double no_number() { return __longlong_as_double(0x7ff8000000000000ll); }
SEMIRA_INLINE double infinity() { return __longlong_as_double(0x7ff0000000000000ll); }

template <class P> SEMIRA_INLINE P magnitude(const Complex<P>& z) { return hypot(z.real, z.imag); }
template <class P> SEMIRA_INLINE Complex<P> conjugate(const Complex<P>& z) {
  return {z.real, -z.imag};
}
template <class P> SEMIRA_INLINE bool isnan(const Complex<P>& z) { return z != z; }
template <class P> SEMIRA_INLINE bool isinf(const Complex<P>& z) {
  return isinf(z.real) || isinf(z.imag);
}
template <class P> SEMIRA_INLINE bool isfinite(const Complex<P>& z) {
  return isfinite(z.real) && isfinite(z.imag);
}
#define SEMIRA_OF_PARTS(f)                                             \
  template <class P> SEMIRA_INLINE Complex<P> f(const Complex<P>& z) { \
    return {f(z.real), f(z.imag)};                                     \
  }
SEMIRA_OF_PARTS(floor)
SEMIRA_OF_PARTS(ceil)
SEMIRA_OF_PARTS(trunc)
SEMIRA_OF_PARTS(round)

// By real part, then by imaginary part; a NaN wins.
template <class P> SEMIRA_INLINE Complex<P> complex_max(const Complex<P>& a, const Complex<P>& b) {
  if (a != a || b != b) return a != a ? a : b;
  return a.real > b.real || (a.real == b.real && a.imag >= b.imag) ? a : b;
}
template <class P> SEMIRA_INLINE Complex<P> complex_min(const Complex<P>& a, const Complex<P>& b) {
  if (a != a || b != b) return a != a ? a : b;
  return a.real < b.real || (a.real == b.real && a.imag <= b.imag) ? a : b;
}

// R. L. Smith, Algorithm 116: Complex division, 1962.
__device__ inline Complex64 complex_div(const Complex64& a, const Complex64& b) {
  if (b.imag == 0) return {a.real / b.real, a.imag / b.real};
  if (b.real == 0) return {a.imag / b.imag, -a.real / b.imag};
  if (fabs(b.real) >= fabs(b.imag)) {
    const double ratio =
        isinf(b.imag) ? copysign(1.0, b.real) * copysign(1.0, b.imag) : b.imag / b.real;
    const double size = b.real + b.imag * ratio;
    return {(a.real + a.imag * ratio) / size, (a.imag - a.real * ratio) / size};
  }
  const double ratio = b.real / b.imag, size = b.imag + b.real * ratio;
  return {(a.real * ratio + a.imag) / size, (a.imag * ratio - a.real) / size};
}
template <class P> SEMIRA_INLINE Complex<P> operator/(const Complex<P>& x, const Complex<P>& y) {
  return complex_div(x, y);
}

template <class P> SEMIRA_INLINE Complex<P> complex_sign(const Complex<P>& z) {
  if (z.real == 0 && z.imag == 0) return {0, 0};
  const P size = magnitude(z);
  return {z.real / size, z.imag / size};
}

__device__ inline Complex64 sqrt(const Complex64& z) {
  double x = z.real, y = z.imag;
  if (x == 0 && y == 0) return {0, y};
  if (isinf(y)) return {infinity(), y};
  if (x != x || y != y) {
    if (!isinf(x)) return {no_number(), no_number()};
    return x > 0 ? Complex64(x, y) : Complex64(no_number(), copysign(x, y));
  }
  if (isinf(x)) return x > 0 ? Complex64(x, copysign(0.0, y)) : Complex64(0, copysign(x, y));
  // Away from overflow and from numbers that lost digits.
  double scale = 1;
  if (fabs(x) > 1e307 || fabs(y) > 1e307) {
    x *= 0.0625, y *= 0.0625, scale = 4;
  } else if (fabs(x) < 1e-300 && fabs(y) < 1e-300) {
    x *= 0x1p60, y *= 0x1p60, scale = 0x1p-30;
  }
  const double root = sqrt((fabs(x) + hypot(x, y)) * 0.5);
  if (x >= 0) return {root * scale, y / (2 * root) * scale};
  return {fabs(y) / (2 * root) * scale, copysign(root, y) * scale};
}

__device__ inline Complex64 exp(const Complex64& z) {
  const double x = z.real, y = z.imag;
  if (y == 0) return {exp(x), y};
  if (!isfinite(y)) {
    if (isinf(x)) return x < 0 ? Complex64(0, 0) : Complex64(x, no_number());
    return {no_number(), no_number()};
  }
  if (x > 709 && !isinf(x)) {
    const double half = exp(x / 2);
    return {half * cos(y) * half, half * sin(y) * half};
  }
  const double size = exp(x);
  return {size * cos(y), size * sin(y)};
}

__device__ inline Complex64 log(const Complex64& z) {
  const double angle = atan2(z.imag, z.real), size = hypot(z.real, z.imag);
  const double most = fmax(fabs(z.real), fabs(z.imag)), least = fmin(fabs(z.real), fabs(z.imag));
  // Near the unit circle the logarithm of a rounded size has few digits.
  if (size > 0.5 && size < 2) {
    return {log1p(fma(least, least, (most - 1) * (most + 1))) / 2, angle};
  }
  if (isinf(size) && isfinite(z)) {
    return {log(hypot(z.real / 4, z.imag / 4)) + 1.3862943611198906, angle};
  }
  return {log(size), angle};
}
__device__ inline Complex64 log1p(const Complex64& z) { return log(Complex64(z.real + 1, z.imag)); }
SEMIRA_INLINE Complex64 scaled(const Complex64& z, double by) { return {z.real * by, z.imag * by}; }
__device__ inline Complex64 log2(const Complex64& z) { return scaled(log(z), 1.4426950408889634); }
__device__ inline Complex64 log10(const Complex64& z) { return scaled(log(z), 0.4342944819032518); }
__device__ inline Complex64 exp2(const Complex64& z) {
  if (z.imag == 0) return {exp2(z.real), 0};
  // The product with the complex number log(2): an infinite part leaves no angle.
  constexpr double kLog2 = 0.6931471805599453;
  return exp(Complex64(z.real * kLog2 - z.imag * 0.0, z.imag * kLog2 + z.real * 0.0));
}
__device__ inline Complex64 expm1(const Complex64& z) {
  const Complex64 power = exp(z);
  return {power.real - 1, power.imag};
}

__device__ inline Complex64 complex_pow(const Complex64& a, const Complex64& b) {
  const bool has_root = a.real < 0 && isfinite(b.real) && b.real != trunc(b.real);
  if (a.imag == 0 && b.imag == 0 && !has_root) {
    if (isnan(a.real) || isnan(b.real)) return {a.real + b.real, 0};
    return {pow(a.real, b.real), 0};
  }
  if (a != a || b != b) return {no_number(), no_number()};
  if (b.real == 0 && b.imag == 0) return {1, 0};
  const Complex64 base = log(a);
  return exp(
      Complex64(b.real * base.real - b.imag * base.imag, b.real * base.imag + b.imag * base.real));
}

// An exact zero stays one where the other factor is infinite.
SEMIRA_INLINE double zero_or_product(double zero, double x) { return zero == 0 ? zero : zero * x; }
__device__ inline Complex64 sinh(const Complex64& z) {
  if (z.imag == 0) return {sinh(z.real), z.imag};
  if (isinf(z.real) && !isfinite(z.imag)) return {z.real, no_number()};
  return {zero_or_product(sinh(z.real), cos(z.imag)), cosh(z.real) * sin(z.imag)};
}
__device__ inline Complex64 cosh(const Complex64& z) {
  if (z.imag == 0) return {cosh(z.real), copysign(0.0, z.real) * z.imag};
  if (isinf(z.real) && !isfinite(z.imag)) return {infinity(), no_number()};
  return {cosh(z.real) * cos(z.imag), zero_or_product(sinh(z.real), sin(z.imag))};
}
__device__ inline Complex64 tanh(const Complex64& z) {
  if (z.imag == 0) return {tanh(z.real), z.imag};
  if (z.real == 0) return {z.real, tan(z.imag)};
  if (fabs(z.real) > 22) {
    // exp(-2 * 22) is below the precision of 1; the imaginary part is what is left.
    const double height = isfinite(z.imag) ? z.imag : 0;
    return {copysign(1.0, z.real), 2 * sin(2 * height) * exp(-2 * fabs(z.real))};
  }
  const double slope = tan(z.imag), s = sinh(z.real), rho = sqrt(1 + s * s);
  const double beta = 1 + slope * slope, size = 1 + beta * s * s;
  return {beta * rho * s / size, slope / size};
}
// i z, and z / i: functions of z as those of i z.
SEMIRA_INLINE Complex64 turned(const Complex64& z) { return {-z.imag, z.real}; }
SEMIRA_INLINE Complex64 turned_back(const Complex64& z) { return {z.imag, -z.real}; }
__device__ inline Complex64 sin(const Complex64& z) { return turned_back(sinh(turned(z))); }
__device__ inline Complex64 cos(const Complex64& z) { return cosh(turned(z)); }
__device__ inline Complex64 tan(const Complex64& z) { return turned_back(tanh(turned(z))); }

// Where an infinite part leads, seen from 0.
SEMIRA_INLINE double direction(double x) { return copysign(isinf(x) ? 1.0 : 0.0, x); }
__device__ inline Complex64 asin(const Complex64& z) {
  if (isinf(z) && !isnan(z)) {
    return {atan2(direction(z.real), fabs(direction(z.imag))), copysign(infinity(), z.imag)};
  }
  const Complex64 below = sqrt(Complex64(1 - z.real, -z.imag));
  const Complex64 above = sqrt(Complex64(1 + z.real, z.imag));
  const double across = below.real * above.real - below.imag * above.imag;
  return {atan2(z.real, across), asinh(below.real * above.imag - below.imag * above.real)};
}
__device__ inline Complex64 acos(const Complex64& z) {
  if (isinf(z) && !isnan(z)) {
    return {atan2(fabs(direction(z.imag)), direction(z.real)), copysign(infinity(), -z.imag)};
  }
  const Complex64 below = sqrt(Complex64(1 - z.real, -z.imag));
  const Complex64 above = sqrt(Complex64(1 + z.real, z.imag));
  return {
      2 * atan2(below.real, above.real), asinh(above.real * below.imag - above.imag * below.real)};
}
__device__ inline Complex64 acosh(const Complex64& z) {
  if (isinf(z) && !isnan(z)) {
    return {infinity(), atan2(direction(z.imag), direction(z.real))};
  }
  const Complex64 below = sqrt(Complex64(z.real - 1, z.imag));
  const Complex64 above = sqrt(Complex64(z.real + 1, z.imag));
  return {
      asinh(below.real * above.real + below.imag * above.imag), 2 * atan2(below.imag, above.real)};
}
__device__ inline Complex64 asinh(const Complex64& z) { return turned_back(asin(turned(z))); }
__device__ inline Complex64 atanh(const Complex64& z) {
  const double x = z.real, y = z.imag;
  if (!isfinite(z) || fabs(x) > 1e150 || fabs(y) > 1e150) {
    if (isnan(x) || (isnan(y) && !isinf(x))) {
      return {isinf(y) ? copysign(0.0, x) : x + y, no_number()};
    }
    // 1/z is all that is left of the real part.
    const double rest = isinf(x) || isinf(y) ? copysign(0.0, x) : complex_div(Complex64(1), z).real;
    return {rest, copysign(1.5707963267948966, y)};
  }
  const double gap = (1 - fabs(x)) * (1 - fabs(x)) + y * y;
  const double real = copysign(log1p(4 * fabs(x) / gap) / 4, x);
  return {real, atan2(2 * y, (1 - x) * (1 + x) - y * y) / 2};
}
__device__ inline Complex64 atan(const Complex64& z) { return turned_back(atanh(turned(z))); }
