// C<M> = A (+).(*) B with full B: B is read at the positions that the mask's columns and A's rows name.
// A may be full as well (sampled dense products).
#pragma once
#include "mxm/full.cuh"

// Row i of A: pairs (k, value).
template <class A> struct SparseRow {
  const Entries<A>& a;
  Offset begin;
  long long length;

  __device__ SparseRow(const Entries<A>& entries, const Full<A>&, long long, Index i)
      : a(entries), begin(entries.indptr[i]), length(entries.indptr[i + 1] - begin) {}
  SEMIRA_INLINE Index k(long long n) const { return a.indices[begin + static_cast<Offset>(n)]; }
  SEMIRA_INLINE A value(long long n) const { return a.value(begin + static_cast<Offset>(n)); }
};
template <class A> struct FullRow {
  const Full<A>& a;
  Index i;
  long long length;

  __device__ FullRow(const Entries<A>&, const Full<A>& full, long long inner, Index row)
      : a(full), i(row), length(inner) {}
  SEMIRA_INLINE Index k(long long n) const { return static_cast<Index>(n); }
  SEMIRA_INLINE A value(long long n) const { return a.value(i, n); }
};

// One dot product for each entry of the mask; kLanes of them share one out: 1 where B's rows are
// contiguous (neighbours in a row of the mask then read neighbours in B), a warp where its columns
// are. `inner` is the length of A's rows where A is full. Calls `emit(e, value, has)` for each.
template <class Row, int kLanes, bool kExit, class Semiring, bool kStructural, class A, class B,
    class M, class Emit>
__device__ void masked_times_full(const Entries<A>& a, const Full<A>& full_a, long long inner,
    const Full<B>& b, const Entries<M>& mask, Emit emit) {
  using Add = typename Semiring::Add;
  const unsigned lane = threadIdx.x % kLanes;
  for (const long long e : items_below(mask.nvals, kLanes)) {
    const Offset at = static_cast<Offset>(e);
    const Index i = mask.rows[at], j = mask.indices[at];
    bool is_open = true;
    if constexpr (!kStructural) is_open = cast<bool>(mask.value(at));
    const Row row(a, full_a, inner, i);
    const long long length = is_open ? row.length : 0;
    typename Add::T value{};
    bool has = false;
    for (long long base = 0; base < length; base += kLanes) {
      const long long n = base + lane;
      if (n < length) {
        const Index k = row.k(n);
        A x{};
        B y{};
        if constexpr (Semiring::Multiply::kReadsA) x = row.value(n);
        if constexpr (Semiring::Multiply::kReadsB) y = b.value(k, j);
        merge<Add>(value, has, multiply_values<Semiring>(x, y, i, k, j), true);
      }
      if constexpr (kExit) {
        const bool is_done = has && is_final<kExit, Add>(value);
        if (kLanes == 1 ? is_done : __any_sync(kAllLanes, is_done) != 0) break;
      }
    }
    if constexpr (kLanes > 1) {
#pragma unroll
      for (int step = kLanes / 2; step > 0; step /= 2) {
        const int other = static_cast<int>(lane ^ step);
        const typename Add::T other_value = shuffle(value, other);
        const bool other_has = __shfl_sync(kAllLanes, has, other) != 0;
        merge<Add>(value, has, other_value, other_has);
      }
    }
    if (lane == 0) emit(at, value, has);
  }
}
