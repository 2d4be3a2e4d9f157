// Scalars: every thread holds its own copy and computes the same.
#pragma once
#include "common/types.cuh"

struct ScalarDescriptor {
  void* cell;      // ScalarCell in device memory; null for a literal or a temporary
  long long bits;  // the literal's bytes
  long long has;
};

struct ScalarCell {
  long long bits, has;
};

template <class T>
struct Scalar {
  using Value = T;
  T value;
  bool has;

  Scalar() = default;
  __device__ Scalar(T v, bool h) : value(v), has(h) {}
  __device__ explicit Scalar(const ScalarDescriptor& d) {
    const ScalarCell* cell = static_cast<const ScalarCell*>(d.cell);
    long long bits = cell != nullptr ? cell->bits : d.bits;
    value = *reinterpret_cast<T*>(&bits);
    has = (cell != nullptr ? cell->has : d.has) != 0;
  }

  __device__ void store(const ScalarDescriptor& d) const {
    if (d.cell == nullptr) return;
    ScalarCell* cell = static_cast<ScalarCell*>(d.cell);
    cell->bits = 0;
    *reinterpret_cast<T*>(&cell->bits) = value;
    cell->has = has ? 1 : 0;
  }
};

template <class Op, class A>
__device__ __forceinline__ Scalar<typename Op::R> scalar_unary(const Scalar<A>& a) {
  return {Op::apply(cast<typename Op::T>(a.value), 0, 0), a.has};
}

// Empty if either operand is.
template <class Op, class A, class B>
__device__ __forceinline__ Scalar<typename Op::R> scalar_binary(const Scalar<A>& a,
                                                                const Scalar<B>& b) {
  using T = typename Op::T;
  return {Op::apply(cast<T>(a.value), cast<T>(b.value), 0, 0, 0), a.has && b.has};
}

// An operand that is alone passes unchanged.
template <class Op, class A, class B>
__device__ __forceinline__ Scalar<typename Op::R> scalar_union(const Scalar<A>& a,
                                                               const Scalar<B>& b) {
  using R = typename Op::R;
  if (a.has && b.has) return scalar_binary<Op>(a, b);
  return {a.has ? cast<R>(a.value) : cast<R>(b.value), a.has || b.has};
}

// A missing operand takes its default; empty if both are missing.
template <class Op, class A, class B, class X, class Y>
__device__ __forceinline__ Scalar<typename Op::R> scalar_filled(const Scalar<A>& a,
                                                                const Scalar<B>& b,
                                                                const Scalar<X>& x,
                                                                const Scalar<Y>& y) {
  using T = typename Op::T;
  const T left = a.has ? cast<T>(a.value) : cast<T>(x.value);
  const T right = b.has ? cast<T>(b.value) : cast<T>(y.value);
  return {Op::apply(left, right, 0, 0, 0), a.has || b.has};
}

template <class Out, class Z>
__device__ __forceinline__ void scalar_write(Scalar<Out>& out, const Scalar<Z>& z) {
  out = Scalar<Out>(cast<Out>(z.value), z.has);
}

template <class Accum, class Out, class Z>
__device__ __forceinline__ void scalar_accumulate(Scalar<Out>& out, const Scalar<Z>& z) {
  if (!z.has) return;
  if (out.has) {
    scalar_write(out, scalar_binary<Accum>(out, z));
  } else {
    scalar_write(out, z);
  }
}
