// Functions that operator expressions call; semira.ops.helpers spells the same in Python.
#pragma once
#include "common/complex.cuh"
#include "common/random.cuh"
#include "common/types.cuh"

// -x that wraps.
template <class T> SEMIRA_INLINE T wrapped_negative(T x) {
  return static_cast<T>(0ull - static_cast<unsigned long long>(x));
}

// Signed division rounding towards zero; x / 0 saturates, 0 / 0 is 0.
template <class T> SEMIRA_INLINE T int_div(T a, T b) {
  if (b == 0) return a == 0 ? T(0) : (a > 0 ? kHighest<T> : kLowest<T>);
  if (b == static_cast<T>(-1)) return wrapped_negative(a);
  return static_cast<T>(a / b);
}

// Unsigned division; x / 0 saturates, 0 / 0 is 0.
template <class T> SEMIRA_INLINE T uint_div(T a, T b) {
  if (b == 0) return a == 0 ? T(0) : kHighest<T>;
  return static_cast<T>(a / b);
}

// Signed division rounding down; x // 0 is 0.
template <class T> SEMIRA_INLINE T int_floordiv(T a, T b) {
  if (b == 0) return 0;
  if (b == static_cast<T>(-1)) return wrapped_negative(a);
  const T quotient = static_cast<T>(a / b);
  const bool rounds_up = (a % b != 0) && ((a < 0) != (b < 0));
  return static_cast<T>(quotient - (rounds_up ? 1 : 0));
}

// Unsigned division; x // 0 is 0.
template <class T> SEMIRA_INLINE T uint_floordiv(T a, T b) {
  return b == 0 ? T(0) : static_cast<T>(a / b);
}
