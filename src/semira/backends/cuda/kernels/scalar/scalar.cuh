// Scalars: every thread holds its own copy and computes the same.
#pragma once
#include "common/types.cuh"

struct ScalarDescriptor {
  void* cell;      // in device memory: the value's bytes in whole words, then a word that says
                   // whether there is one; null for a temporary and for a literal of one word
  long long bits;  // such a literal's bytes
  long long has;   // of a literal
};

template <class T> struct Scalar {
  using Value = T;
  static constexpr int kWords = (sizeof(T) + 7) / 8;
  T value;
  bool has;

  Scalar() = default;
  __device__ Scalar(T v, bool h) : value(v), has(h) {}
  __device__ explicit Scalar(const ScalarDescriptor& d) {
    const long long* cell = static_cast<const long long*>(d.cell);
    long long words[kWords] = {};
    if (cell == nullptr) words[0] = d.bits;
    for (int k = 0; cell != nullptr && k < kWords; ++k) words[k] = cell[k];
    memcpy(&value, words, sizeof(T));
    has = (cell != nullptr ? cell[kWords] : d.has) != 0;
  }

  __device__ void store(const ScalarDescriptor& d) const {
    long long* cell = static_cast<long long*>(d.cell);
    if (cell == nullptr) return;
    long long words[kWords] = {};
    memcpy(words, &value, sizeof(T));
    for (int k = 0; k < kWords; ++k) cell[k] = words[k];
    cell[kWords] = has ? 1 : 0;
  }
};

template <class Op, class A> SEMIRA_INLINE Scalar<typename Op::R> scalar_unary(const Scalar<A>& a) {
  return {Op::apply(cast<typename Op::T>(a.value), 0, 0), a.has};
}

// f(a, 0, 0, thunk).
template <class Op, class A, class X>
SEMIRA_INLINE Scalar<typename Op::R> scalar_index(const Scalar<A>& a, const Scalar<X>& thunk) {
  using Thunk = typename Op::Thunk;
  return {Op::apply(cast<typename Op::T>(a.value), 0, 0, cast<Thunk>(thunk.value)), a.has};
}

// a where f(a, 0, 0, thunk).
template <class Op, class A, class X>
SEMIRA_INLINE Scalar<A> scalar_select(const Scalar<A>& a, const Scalar<X>& thunk) {
  return {a.value, a.has && cast<bool>(scalar_index<Op>(a, thunk).value)};
}

// Empty if either operand is.
template <class Op, class A, class B>
SEMIRA_INLINE Scalar<typename Op::R> scalar_binary(const Scalar<A>& a, const Scalar<B>& b) {
  using T = typename Op::T;
  return {Op::apply(cast<T>(a.value), cast<T>(b.value), 0, 0, 0), a.has && b.has};
}

// An operand that is alone passes unchanged.
template <class Op, class A, class B>
SEMIRA_INLINE Scalar<typename Op::R> scalar_union(const Scalar<A>& a, const Scalar<B>& b) {
  using R = typename Op::R;
  if (a.has && b.has) return scalar_binary<Op>(a, b);
  return {a.has ? cast<R>(a.value) : cast<R>(b.value), a.has || b.has};
}

// A missing operand takes its default; empty if both are missing.
template <class Op, class A, class B, class X, class Y>
SEMIRA_INLINE Scalar<typename Op::R> scalar_filled(
    const Scalar<A>& a, const Scalar<B>& b, const Scalar<X>& x, const Scalar<Y>& y) {
  using T = typename Op::T;
  const T left = a.has ? cast<T>(a.value) : cast<T>(x.value);
  const T right = b.has ? cast<T>(b.value) : cast<T>(y.value);
  return {Op::apply(left, right, 0, 0, 0), a.has || b.has};
}

template <class Out, class Z>
SEMIRA_INLINE void scalar_write(Scalar<Out>& out, const Scalar<Z>& z) {
  out = Scalar<Out>(cast<Out>(z.value), z.has);
}

template <class Accum, class Out, class Z>
SEMIRA_INLINE void scalar_accumulate(Scalar<Out>& out, const Scalar<Z>& z) {
  if (!z.has) return;
  if (out.has) {
    scalar_write(out, scalar_binary<Accum>(out, z));
  } else {
    scalar_write(out, z);
  }
}
