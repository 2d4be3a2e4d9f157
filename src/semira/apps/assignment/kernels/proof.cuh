// The proof of an assignment: a block for each row. See proof.py.
#pragma once
#include "semira.apps.assignment.kernels:row.cuh"

// All threads of the block get the least of what they have.
__device__ inline double least_of_block(double mine) {
  __shared__ double parts[32];
  for (int step = 16; step > 0; step /= 2) {
    mine = fmin(mine, __shfl_xor_sync(kAllLanes, mine, step));
  }
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = mine;
  __syncthreads();
  mine = parts[0];
  for (unsigned k = 1; k < blockDim.x / 32; ++k) mine = fmin(mine, parts[k]);
  __syncthreads();
  return mine;
}

template <class C, class P, class I>
__device__ void prove(long long items, long long mode, const C* cost, const P* indptr,
                      const I* indices, const double* x, const double* y, long long rank,
                      double sign, long long columns, const int* column_of, const double* v,
                      double* u, double* taken) {
  const CostRows<C, P, I> costs{mode, cost, indptr, indices, x, y, rank, columns, blockDim.x};
  for (long long i = block_number(); i < items; i += gridDim.x) {
    const long long held = column_of[i];
    double least = __longlong_as_double(0x7ff0000000000000ll);
    const auto look = [&](long long j, double product, double given, double its) {
      const double found = __dmul_rn(sign, product) + __dmul_rn(sign, given);
      least = fmin(least, found - its);
      if (j == held) taken[i] = found;
    };
    if (costs.is_plain()) {
      costs.each_of_all(i, v, [&](long long j, double given, double its) {
        look(j, 0.0, given, its);
      });
    } else {
      costs.each(i, v, [&](long long j, double given, double its) {
        look(j, costs.added(0.0, i, j), given, its);
      });
    }
    least = least_of_block(least);
    if (threadIdx.x == 0) u[i] = least;
  }
}

__device__ inline void tighten(long long items, double tolerance, const int* column_of, double* v,
                               const double* u, const double* taken, long long* state) {
  const Group<1> mine;
  for (long long i = mine.first; i < items; i += mine.step) {
    const int j = column_of[i];
    if (taken[i] - v[j] - u[i] > tolerance) {
      v[j] = taken[i] - u[i];
      state[1] = 1;
    }
  }
}

__device__ inline void judge(long long items, long long most, long long* state) {
  const Group<1> mine;
  if (mine.first >= items) return;
  state[2] += 1;
  if (state[1] == 0 || state[2] >= most) state[0] = 1;
  state[1] = 0;
}
