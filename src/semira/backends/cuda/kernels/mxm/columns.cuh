// Columns of A times full B: every entry adds its row of B to a row of the result.
#pragma once
#include "mxm/rowwise.cuh"
#include "mxm/spmm.cuh"

// What sums of the result begin with.
template <class Add> SEMIRA_INLINE void open_sums(long long count, typename Add::T* out) {
  for (const long long at : items_below(count)) out[at] = resting_value<Add>();
}

// A thread an entry and a column of B: neighbours read neighbouring values of B, and add to
// neighbouring places. Entries of a column of A are neighbours as well, so that its row of B is near.
// `line_of` is null if every row has entries; a bit of `taken` says that a sum has an operand.
template <class Semiring, class A, class B>
__device__ void spmm_by_column(
    const SparseTimesFull<Semiring, A, B>& product, const int* line_of, unsigned* taken) {
  using Add = typename Semiring::Add;
  using T = typename Add::T;
  const Entries<A>& a = product.a;
  const long long ncols = product.ncols;
  for (const long long item : items_below(a.nvals * ncols)) {
    const long long j = item % ncols;
    const Offset e = static_cast<Offset>(item / ncols);
    const Index i = a.indices[e], k = a.rows[e];
    const long long place = (line_of != nullptr ? line_of[i] : i) * ncols + j;
    const auto claims = [&] { return claim(taken + place / kWarp, place % kWarp); };
    A x{};
    B y{};
    if constexpr (Semiring::Multiply::kReadsA) x = a.value(e);
    if constexpr (Semiring::Multiply::kReadsB) y = product.b.value(k, j);
    const T z = multiply_values<Semiring>(x, y, i, k, static_cast<Index>(j));
    T* const sum = product.out + place;
    if constexpr (Add::kIsAny) {
      if (claims()) *sum = z;
    } else if constexpr (Add::kMethod == Method::kLock) {
      with_lock(sum, [&] { *sum = claims() ? z : Add::apply(*sum, z); });
    } else {
      atomic_accumulate<Add>(sum, z);
    }
  }
}
