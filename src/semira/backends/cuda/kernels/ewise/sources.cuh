// What a position-by-position statement computes: `get` says whether there is an entry at i.
// Operands are planes, or cells that hold one position of a plane.
#pragma once
#include "common/vector.cuh"
#include "scalar/scalar.cuh"

// x everywhere.
template <class X> struct ScalarSource {
  using Value = X;
  Scalar<X> x;
  SEMIRA_INLINE bool get(Index, X& z) const {
    z = x.value;
    return x.has;
  }
};

// u_i.
template <class U> struct VectorSource {
  using Value = typename U::Value;
  U u;
  SEMIRA_INLINE bool get(Index i, Value& z) const {
    if (!u.has(i)) return false;
    z = u.values[i];
    return true;
  }
};

// f(u_i).
template <class Op, class U> struct UnarySource {
  using Value = typename Op::R;
  U u;
  SEMIRA_INLINE bool get(Index i, Value& z) const {
    if (!u.has(i)) return false;
    z = Op::apply(cast<typename Op::T>(u.values[i]), i, 0);
    return true;
  }
};

// f(u_i, x), or f(x, u_i) if the scalar stands on the left.
template <class Op, bool kScalarLeft, class U, class X> struct BoundSource {
  using Value = typename Op::R;
  U u;
  Scalar<X> x;
  SEMIRA_INLINE bool get(Index i, Value& z) const {
    using T = typename Op::T;
    if (!u.has(i)) return false;
    const T a = cast<T>(u.values[i]), b = cast<T>(x.value);
    z = kScalarLeft ? Op::apply(b, a, i, 0, 0) : Op::apply(a, b, i, 0, 0);
    return true;
  }
};

// f(u_i, i, 0, thunk).
template <class Op, class U, class X> struct IndexSource {
  using Value = typename Op::R;
  U u;
  Scalar<X> thunk;
  SEMIRA_INLINE bool get(Index i, Value& z) const {
    if (!u.has(i)) return false;
    z = Op::apply(cast<typename Op::T>(u.values[i]), i, 0, cast<typename Op::Thunk>(thunk.value));
    return true;
  }
};

// u_i where f(u_i, i, 0, thunk).
template <class Op, class U, class X> struct SelectSource {
  using Value = typename U::Value;
  U u;
  Scalar<X> thunk;
  SEMIRA_INLINE bool get(Index i, Value& z) const {
    if (!u.has(i)) return false;
    z = u.values[i];
    return cast<bool>(
        Op::apply(cast<typename Op::T>(z), i, 0, cast<typename Op::Thunk>(thunk.value)));
  }
};

// f(u_i, v_i) where both are.
template <class Op, class U, class V> struct IntersectionSource {
  using Value = typename Op::R;
  U u;
  V v;
  SEMIRA_INLINE bool get(Index i, Value& z) const {
    using T = typename Op::T;
    if (!u.has(i) || !v.has(i)) return false;
    z = Op::apply(cast<T>(u.values[i]), cast<T>(v.values[i]), i, 0, 0);
    return true;
  }
};

// f(u_i, v_i) where both are; an entry that is alone passes unchanged.
template <class Op, class U, class V> struct UnionSource {
  using Value = typename Op::R;
  U u;
  V v;
  SEMIRA_INLINE bool get(Index i, Value& z) const {
    using T = typename Op::T;
    const bool in_u = u.has(i), in_v = v.has(i);
    if (in_u && in_v) {
      z = Op::apply(cast<T>(u.values[i]), cast<T>(v.values[i]), i, 0, 0);
    } else if (in_u) {
      z = cast<Value>(u.values[i]);
    } else if (in_v) {
      z = cast<Value>(v.values[i]);
    }
    return in_u || in_v;
  }
};

// f(u_i, v_i), a missing side taking its default.
template <class Op, class U, class V, class X, class Y> struct FilledSource {
  using Value = typename Op::R;
  U u;
  V v;
  Scalar<X> x;
  Scalar<Y> y;
  SEMIRA_INLINE bool get(Index i, Value& z) const {
    using T = typename Op::T;
    const bool in_u = u.has(i), in_v = v.has(i);
    if (!in_u && !in_v) return false;
    const T a = in_u ? cast<T>(u.values[i]) : cast<T>(x.value);
    const T b = in_v ? cast<T>(v.values[i]) : cast<T>(y.value);
    z = Op::apply(a, b, i, 0, 0);
    return true;
  }
};
