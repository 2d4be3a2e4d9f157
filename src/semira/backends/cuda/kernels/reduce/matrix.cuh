// Sums over all entries of a matrix.
#pragma once
#include "common/matrix.cuh"
#include "reduce/reduce.cuh"

// Values of whichever orientation is there: their order does not matter.
template <class A>
__device__ __forceinline__ const A* any_values(const MatrixDescriptor& d) {
  return static_cast<const A*>(d.csr.indptr != nullptr ? d.csr.values : d.csc.values);
}

// First phase of s = (+)_ij A_ij: the block's share; `reduce_total` is the second.
template <class Add, class A>
SEMIRA_PHASE void reduce_matrix_partials(const Team& team, const MatrixDescriptor& matrix,
                                         const PartialsDescriptor& d, int turn) {
  using T = typename Add::T;
  const A* values = any_values<A>(matrix);
  const long long stride = matrix.value_stride, nvals = matrix.nvals;
  T value{};
  bool has = false;
  for (long long at = team.thread; at < nvals; at += team.threads) {
    merge<Add>(value, has, cast<T>(values[at * stride]), true);
  }
  store_partial<Add>(value, has, d, turn);
}
