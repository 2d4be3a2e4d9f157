// Sums over all entries of a matrix.
#pragma once
#include "common/matrix.cuh"
#include "reduce/reduce.cuh"

// Values of whichever orientation is there, by rows if both are: only a fixed order minds.
template <class A> SEMIRA_INLINE const A* any_values(const MatrixDescriptor& d) {
  return static_cast<const A*>(d.csr.indptr != nullptr ? d.csr.values : d.csc.values);
}

// First phase of s = (+)_ij A_ij: sums of parts; `reduce_total` is the second.
template <bool kOrdered, class Add, class A>
SEMIRA_PHASE void reduce_matrix_partials(
    const Team& team, const MatrixDescriptor& matrix, const PartialsDescriptor& d, int turn) {
  using T = typename Add::T;
  const A* values = any_values<A>(matrix);
  const long long stride = matrix.value_stride, nvals = entries_in(matrix);
  auto take = [&](T& value, bool& has, unsigned thread, unsigned threads) {
    for (long long at = thread; at < nvals; at += threads) {
      merge<Add>(value, has, cast<T>(values[at * stride]), true);
    }
  };
  store_partials<kOrdered, Add>(team, d, turn, take);
}
