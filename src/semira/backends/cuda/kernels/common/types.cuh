// Integer types, limits and SuiteSparse's casts.
#pragma once
#include "common/values.cuh"

// Positions: every dimension is below 2**31.
using Index = int;
// Offsets into the entries of a matrix: int, or long long from 2**31 entries on.
#ifndef SEMIRA_OFFSET
#define SEMIRA_OFFSET int
#endif
using Offset = SEMIRA_OFFSET;
// Counters shared by the whole grid.
using Count = unsigned long long;

// Number of this block. A testing aid deals the numbers out in another order: results must not
// depend on which block does what.
SEMIRA_INLINE unsigned block_number() {
#ifdef SEMIRA_PERMUTED
  // A prime above any grid it meets there, so that every number comes once.
  constexpr unsigned kPrime = 1000003;
  if (gridDim.x % kPrime == 0) return blockIdx.x;
  return static_cast<unsigned>(
      (static_cast<unsigned long long>(blockIdx.x) * kPrime + 1) % gridDim.x);
#else
  return blockIdx.x;
#endif
}

constexpr int kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffffu;

// The bits that a word has, from the lowest on: for (const int k : SetBits{word}).
struct SetBits {
  unsigned left;
  SEMIRA_INLINE SetBits begin() const { return *this; }
  SEMIRA_INLINE SetBits end() const { return {0}; }
  SEMIRA_INLINE bool operator!=(const SetBits& other) const { return left != other.left; }
  SEMIRA_INLINE void operator++() { left &= left - 1; }
  SEMIRA_INLINE int operator*() const { return __ffs(static_cast<int>(left)) - 1; }
};

// Sum over this lane and those before it; all lanes of the warp call it.
template <class T> SEMIRA_INLINE T sum_upto(unsigned lane, T x) {
#pragma unroll
  for (int step = 1; step < kWarp; step *= 2) {
    const T other = __shfl_up_sync(kAllLanes, x, step);
    if (lane >= static_cast<unsigned>(step)) x += other;
  }
  return x;
}

// The first of low, low + 1, ... that `fits`, as all behind it do; `high` if none does.
template <class P, class Fits> SEMIRA_INLINE P first_where(P low, P high, const Fits& fits) {
  while (low < high) {
    const P middle = low + (high - low) / 2;
    if (!fits(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// What the end of a row counts for where an entry counts for one, in equal shares of a matrix; by
// what was fastest (docs/decisions/0045), to finish 32 rows takes a warp as long as 200 entries.
constexpr int kRowItems = 6;

// How threads at once add up by a monoid at one dtype; jit/accumulation.py decides.
enum class Method { kAny, kSum, kLeast, kGreatest, kSwap, kLock };

// Type of a semiring's sums.
template <class Semiring> using SumOf = typename Semiring::Add::T;

template <class A, class B> struct Same {
  static constexpr bool value = false;
};
template <class A> struct Same<A, A> {
  static constexpr bool value = true;
};

template <bool kFirst, class A, class B> struct Chosen {
  using Type = A;
};
template <class A, class B> struct Chosen<false, A, B> {
  using Type = B;
};
template <bool kFirst, class A, class B> using Choose = typename Chosen<kFirst, A, B>::Type;

template <class T> constexpr bool kIsFloat = Same<T, float>::value || Same<T, double>::value;

template <class T> constexpr bool kIsSigned = static_cast<T>(-1) < static_cast<T>(0);

// Greatest and least value of an integer type.
template <class T>
constexpr T kHighest = static_cast<T>(~0ull >> (64 - 8 * sizeof(T) + (kIsSigned<T> ? 1 : 0)));
template <class T>
constexpr T kLowest = kIsSigned<T> ? static_cast<T>(-kHighest<T> - 1) : static_cast<T>(0);

template <class To, class From> SEMIRA_INLINE To cast(From x);

// x on a side of type A, if it can stand there: records are cast to nothing else.
template <class A, class X> SEMIRA_INLINE A cast_side(X x) {
  if constexpr (Same<A, X>::value || (!kIsRecord<A> && !kIsRecord<X>)) {
    return cast<A>(x);
  } else {
    return A{};
  }
}
template <class To, class From> struct MixedCast;
template <class A, class B, class From> struct MixedCast<Mixed<A, B>, From> {
  static SEMIRA_INLINE Mixed<A, B> of(From x) { return {cast_side<A>(x), cast_side<B>(x)}; }
};

// Floats saturate when they become integers, NaN becomes 0, integers wrap, all but 0 is true. Of a
// complex number the real part is kept. Records are cast only where an operator ignores the operand:
// lowering refuses to move them into another dtype.
template <class To, class From> SEMIRA_INLINE To cast(From x) {
  if constexpr (Same<To, From>::value) {
    return x;
  } else if constexpr (kIsMixed<To>) {
    return MixedCast<To, From>::of(x);
  } else if constexpr (kIsRecord<From> || kIsRecord<To>) {
    return To{};
  } else if constexpr (Same<To, bool>::value) {
    return x != static_cast<From>(0);
  } else if constexpr (kIsComplex<From> && kIsComplex<To>) {
    return To(x);
  } else if constexpr (kIsComplex<From>) {
    return cast<To>(x.real);
  } else if constexpr (kIsComplex<To>) {
    return To(static_cast<typename To::Part>(x));
  } else if constexpr (kIsFloat<From> && !kIsFloat<To>) {
    if (x != x) return 0;
    if (x >= static_cast<From>(kHighest<To>)) return kHighest<To>;
    if (x <= static_cast<From>(kLowest<To>)) return kLowest<To>;
    return static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}
