// s = (+)_i u_i: one partial sum a block, then every block adds the partial sums up alike.
#pragma once
#include "common/vector.cuh"
#include "scalar/scalar.cuh"

struct PartialsDescriptor {
  void* values;  // three turns of gridDim.x values
  void* has;
};

template <class Add>
__device__ __forceinline__ void merge(typename Add::T& value, bool& has, typename Add::T other,
                                      bool other_has) {
  if (!other_has) return;
  value = has ? Add::apply(value, other) : other;
  has = true;
}

// Reduces over the block; thread 0 gets the result. The order of operands is fixed.
template <class Add>
__device__ void reduce_block(typename Add::T& value, bool& has) {
  using T = typename Add::T;
  __shared__ T values[kWarp];
  __shared__ bool present[kWarp];
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp;
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) {
    const int other = static_cast<int>(lane) + step;
    const bool other_has = __shfl_sync(kAllLanes, has, other % kWarp) && other < kWarp;
    const T other_value = shuffle(value, other % kWarp);
    merge<Add>(value, has, other_value, other_has);
  }
  __syncthreads();
  if (lane == 0) {
    values[warp] = value;
    present[warp] = has;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned w = 1; w < warps; ++w) merge<Add>(value, has, values[w], present[w]);
  }
}

// Reduces over the block and keeps the sum for `reduce_total`.
template <class Add>
__device__ void store_partial(typename Add::T value, bool has, const PartialsDescriptor& d,
                              int turn) {
  reduce_block<Add>(value, has);
  if (threadIdx.x == 0) {
    static_cast<typename Add::T*>(d.values)[turn * gridDim.x + blockIdx.x] = value;
    static_cast<bool*>(d.has)[turn * gridDim.x + blockIdx.x] = has;
  }
}

// First phase: the block's share of the entries.
template <class Add, class U>
SEMIRA_PHASE void reduce_partials(const Team& team, const Vector<U>& u, const PartialsDescriptor& d,
                                  int turn) {
  using T = typename Add::T;
  T value{};
  bool has = false;
  for (unsigned w = team.warp; w < u.num_words(); w += team.warps) {
    if (u.here.words[w] >> team.lane & 1u) {
      merge<Add>(value, has, cast<T>(u.here.values[w * kWarp + team.lane]), true);
    }
  }
  store_partial<Add>(value, has, d, turn);
}

// After the barrier: every thread gets the same scalar.
template <class Add>
SEMIRA_PHASE Scalar<typename Add::T> reduce_total(const PartialsDescriptor& d, int turn) {
  using T = typename Add::T;
  __shared__ T total;
  __shared__ bool any;
  T value{};
  bool has = false;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
    merge<Add>(value, has, static_cast<const T*>(d.values)[turn * gridDim.x + b],
               static_cast<const bool*>(d.has)[turn * gridDim.x + b]);
  }
  reduce_block<Add>(value, has);
  if (threadIdx.x == 0) {
    total = value;
    any = has;
  }
  __syncthreads();
  return {total, any};
}
