// What the merges of matrix statements keep, and the values they write.
#pragma once
#include "common/mask.cuh"
#include "matrix/merge.cuh"
#include "scalar/scalar.cuh"

// f(a_ij, b_ij) where both are.
template <class Op, class A, class B> struct Intersect {
  static constexpr bool kHasY = false;
  Entries<A> a;
  Entries<B> b;
  SEMIRA_INLINE bool keep_x(Offset, Index i, Index j) const {
    Offset at;
    return b.find(i, j, at);
  }
  SEMIRA_INLINE typename Op::R value_x(Offset e, Index i, Index j) const {
    using T = typename Op::T;
    return Op::apply(cast<T>(a.value(e)), cast<T>(b.value(b.place(i, j))), i, j, j);
  }
};

// Every entry of two matrices.
template <class A, class B> struct Union {
  static constexpr bool kHasY = true;
  Entries<A> a;
  Entries<B> b;
  SEMIRA_INLINE bool keep_x(Offset, Index, Index) const { return true; }
  SEMIRA_INLINE bool keep_y(Offset, Index i, Index j) const {
    Offset at;
    return !a.find(i, j, at);
  }
};

// f(a_ij, b_ij) where both are; an entry that is alone passes unchanged.
template <class Op, class A, class B> struct Unite : Union<A, B> {
  using R = typename Op::R;
  using Union<A, B>::a;
  using Union<A, B>::b;
  SEMIRA_INLINE R value_x(Offset e, Index i, Index j) const {
    using T = typename Op::T;
    Offset at;
    if (!b.find(i, j, at)) return cast<R>(a.value(e));
    return Op::apply(cast<T>(a.value(e)), cast<T>(b.value(at)), i, j, j);
  }
  SEMIRA_INLINE R value_y(Offset e, Index, Index) const { return cast<R>(b.value(e)); }
};

// f(a_ij, b_ij), a missing side taking its default.
template <class Op, class A, class B, class P, class Q> struct UniteFilled : Union<A, B> {
  using R = typename Op::R;
  using T = typename Op::T;
  using Union<A, B>::a;
  using Union<A, B>::b;
  Scalar<P> missing_a;
  Scalar<Q> missing_b;
  SEMIRA_INLINE R value_x(Offset e, Index i, Index j) const {
    Offset at;
    const T y = b.find(i, j, at) ? cast<T>(b.value(at)) : cast<T>(missing_b.value);
    return Op::apply(cast<T>(a.value(e)), y, i, j, j);
  }
  SEMIRA_INLINE R value_y(Offset e, Index i, Index j) const {
    return Op::apply(cast<T>(missing_a.value), cast<T>(b.value(e)), i, j, j);
  }
};

// Entries where f(a_ij, i, j, thunk).
template <class Op, class A, class X> struct Select {
  static constexpr bool kHasY = false;
  Entries<A> a;
  Scalar<X> thunk;
  SEMIRA_INLINE bool keep_x(Offset e, Index i, Index j) const {
    return cast<bool>(
        Op::apply(cast<typename Op::T>(a.value(e)), i, j, cast<typename Op::Thunk>(thunk.value)));
  }
  SEMIRA_INLINE A value_x(Offset e, Index, Index) const { return a.value(e); }
};

// Entries that were flagged before, with values of their own.
template <class R> struct Flagged {
  static constexpr bool kHasY = false;
  const R* found;
  SEMIRA_INLINE R value_x(Offset e, Index, Index) const { return found[e]; }
};

// Values of ``out accum= t``: x is t, y is what the output held.
template <class Accum, class T, class Out> struct Accumulated {
  static constexpr bool kHasY = true;
  Entries<T> t;
  Entries<Out> out;
  SEMIRA_INLINE Out value_x(Offset e, Index i, Index j) const {
    if constexpr (Accum::kAccumulates) {
      using C = typename Accum::T;
      Offset at;
      if (out.find(i, j, at)) {
        return cast<Out>(Accum::apply(cast<C>(out.value(at)), cast<C>(t.value(e)), i, j, j));
      }
    }
    return cast<Out>(t.value(e));
  }
  SEMIRA_INLINE Out value_y(Offset e, Index, Index) const { return out.value(e); }
};

// out<mask, replace> accum= t.
template <class Accum, bool kReplace, class T, class Out, class MaskT>
struct Finish : Accumulated<Accum, T, Out> {
  using Accumulated<Accum, T, Out>::t;
  MaskT mask;
  SEMIRA_INLINE bool keep_x(Offset, Index i, Index j) const { return mask.allows(i, j); }
  SEMIRA_INLINE bool keep_y(Offset, Index i, Index j) const {
    if (!mask.allows(i, j)) return !kReplace;
    Offset at;
    if constexpr (Accum::kAccumulates) return !t.find(i, j, at);
    return false;
  }
};

// Numbers inside the region by position; null: the whole axis, each its own number.
struct Inside {
  const Index* numbers;
  SEMIRA_INLINE Index operator()(Index i) const { return numbers != nullptr ? numbers[i] : i; }
};

// out[I, J]<mask, replace> accum= t, where t lies at its final positions already. With kSubmask
// the mask counts positions inside the region and nothing else can change.
template <class Accum, bool kReplace, bool kSubmask, class T, class Out, class MaskT>
struct AssignRegion : Accumulated<Accum, T, Out> {
  using Accumulated<Accum, T, Out>::t;
  MaskT mask;
  Inside rows, columns;
  SEMIRA_INLINE bool allows(Index i, Index j) const {
    return kSubmask ? mask.allows(rows(i), columns(j)) : mask.allows(i, j);
  }
  SEMIRA_INLINE bool keep_x(Offset, Index i, Index j) const { return allows(i, j); }
  SEMIRA_INLINE bool keep_y(Offset, Index i, Index j) const {
    const bool inside = rows(i) >= 0 && columns(j) >= 0;
    if (kSubmask && !inside) return true;
    if (!allows(i, j)) return !kReplace;
    Offset at;
    if (t.find(i, j, at)) return false;
    return !inside || Accum::kAccumulates;
  }
};

// f of every value, the pattern unchanged.
template <class Op, class A> struct MapUnary {
  Entries<A> a;
  SEMIRA_INLINE typename Op::R operator()(Offset e) const {
    return Op::apply(cast<typename Op::T>(a.value(e)), a.rows[e], a.indices[e]);
  }
};
template <class Op, bool kScalarLeft, class A, class X> struct MapBound {
  Entries<A> a;
  Scalar<X> x;
  SEMIRA_INLINE typename Op::R operator()(Offset e) const {
    using T = typename Op::T;
    const T u = cast<T>(a.value(e)), v = cast<T>(x.value);
    const Index i = a.rows[e], j = a.indices[e];
    return kScalarLeft ? Op::apply(v, u, i, j, j) : Op::apply(u, v, i, j, j);
  }
};
template <class Op, class A, class X> struct MapIndex {
  Entries<A> a;
  Scalar<X> thunk;
  SEMIRA_INLINE typename Op::R operator()(Offset e) const {
    return Op::apply(cast<typename Op::T>(a.value(e)), a.rows[e], a.indices[e],
        cast<typename Op::Thunk>(thunk.value));
  }
};
// Of two values at the same place, where both matrices have one pattern.
template <class Op, class A, class B> struct MapPair {
  Entries<A> a;
  Entries<B> b;
  SEMIRA_INLINE typename Op::R operator()(Offset e) const {
    using T = typename Op::T;
    const Index i = a.rows[e], j = a.indices[e];
    return Op::apply(cast<T>(a.value(e)), cast<T>(b.value(e)), i, j, j);
  }
};
// Entries need no places: a product with a full operand has whole rows without a list of them.
template <class R, class A> struct MapCast {
  Entries<A> a;
  SEMIRA_INLINE R operator()(Offset e) const { return cast<R>(a.value(e)); }
};

template <class R, class Map, class A>
__device__ void map_values(const Map& map, const Entries<A>& a, long long count, void* out) {
  const long long end = count < a.nvals ? count : a.nvals;
  for (const long long e : items_below(end)) {
    static_cast<R*>(out)[e] = map(static_cast<Offset>(e));
  }
}
