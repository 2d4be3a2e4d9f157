// What statements over regions, index vectors and matrix lines compute at a position.
#pragma once
#include "common/matrix.cuh"
#include "common/region.cuh"
#include "common/vector.cuh"
#include "scalar/scalar.cuh"

// u[region_k].
template <class U> struct RegionSource {
  using Value = U;
  Plane<U> u;
  Region region;
  SEMIRA_INLINE bool get(Index k, U& z) const {
    const Index i = region.at(static_cast<unsigned>(k));
    if (!u.has(i)) return false;
    z = u.values[i];
    return true;
  }
};

// u[index_i], wherever index (a plane or a cell) has an entry. Its values were checked before, or
// are in the same phase: with kGuards those that are no positions are left out.
template <bool kGuards, class I, class U> struct GatherSource {
  using Value = U;
  I index;
  Plane<U> u;
  Index nvals, size;
  SEMIRA_INLINE bool get(Index i, U& z) const {
    if (!index.has(i)) return false;
    if (kGuards && !is_position(index.values[i], size)) return false;
    const Index from = static_cast<Index>(index.values[i]);
    // No value waits for a word where all are present.
    if (nvals != size && !u.has(from)) return false;
    z = u.values[from];
    return true;
  }
};

// Entry (major, minor) of a matrix by binary search.
template <class A>
SEMIRA_INLINE bool find_entry(const Compressed<A>& matrix, Index major, Index minor, A& z) {
  const Offset end = matrix.indptr[major + 1];
  const Offset at = first_where(
      matrix.indptr[major], end, [&](Offset e) { return !(matrix.indices[e] < minor); });
  if (at == end || matrix.indices[at] != minor) return false;
  z = matrix.value(at);
  return true;
}

// A[line, region_k] of a matrix compressed along `line`.
template <class A, class RegionT> struct LineSource {
  using Value = A;
  Compressed<A> matrix;
  Index line;
  RegionT region;
  SEMIRA_INLINE bool get(Index k, A& z) const {
    return find_entry(matrix, line, region.at(static_cast<unsigned>(k)), z);
  }
};

// A[i + down, i + right].
template <class A> struct DiagonalSource {
  using Value = A;
  Compressed<A> matrix;
  Index down, right;
  SEMIRA_INLINE bool get(Index i, A& z) const { return find_entry(matrix, i + down, i + right, z); }
};

// One entry as a scalar.
template <class U> SEMIRA_INLINE Scalar<U> scalar_at(const Plane<U>& u, Index i) {
  const bool has = u.has(i);
  return {has ? u.values[i] : U{}, has};
}
template <class A>
SEMIRA_INLINE Scalar<A> scalar_at(const Compressed<A>& matrix, Index major, Index minor) {
  A z{};
  const bool has = find_entry(matrix, major, minor, z);
  return {z, has};
}
