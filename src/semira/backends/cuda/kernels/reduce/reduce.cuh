// s = (+)_i u_i: one partial sum a block (a virtual one for a fixed order), then every block adds
// the partial sums up alike.
#pragma once
#include "common/vector.cuh"
#include "scalar/scalar.cuh"

struct PartialsDescriptor {
  void* values;  // three turns of so many values as there are parts
  void* has;
};

// Parts of a reduction in a fixed order, and threads of a block that add up: its result does not
// depend on the number of blocks, nor on how many more threads they have.
constexpr unsigned kOrderedBlocks = 128, kOrderedThreads = 512;

// Blocks among which a reduction is shared out: those of the team, or as many virtual ones.
template <bool kOrdered>
__device__ __forceinline__ unsigned parts_of_reduction(const Team& team) {
  return kOrdered ? kOrderedBlocks : team.blocks;
}

template <class Add>
__device__ __forceinline__ void merge(typename Add::T& value, bool& has, typename Add::T other,
                                      bool other_has) {
  if (!other_has) return;
  value = has ? Add::apply(value, other) : other;
  has = true;
}

// A sum of some of the values, perhaps of none.
template <class Add>
struct Partial {
  typename Add::T value;
  bool has;

  __device__ __forceinline__ void add(typename Add::T z) {
    value = has ? Add::apply(value, z) : z;
    has = true;
  }
  template <bool kExit>
  __device__ __forceinline__ bool settled() const {
    if constexpr (!kExit) return false;
    if constexpr (Add::kIsAny) return has;
    if constexpr (Add::kHasTerminal) return has && Add::is_terminal(value);
    return false;
  }
};

// Adds the lanes' sums up; every lane gets the result.
template <class Add>
__device__ __forceinline__ void add_over_lanes(Partial<Add>& sum) {
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) {
    const int other = static_cast<int>(threadIdx.x % kWarp) ^ step;
    const bool has = __shfl_sync(kAllLanes, sum.has, other) != 0;
    const typename Add::T value = shuffle(sum.value, other);
    if (has) sum.add(value);
  }
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

// Reduces `take(value, has, thread, threads)` over each part's block and keeps the sums for
// `reduce_total`. Consecutive warps lie in different parts.
template <bool kOrdered, class Add, class Take>
__device__ __forceinline__ void store_partials(const Team& team, const PartialsDescriptor& d,
                                               int turn, Take take) {
  const unsigned parts = parts_of_reduction<kOrdered>(team);
  const bool takes_all = !kOrdered || blockDim.x < kOrderedThreads;
  const unsigned threads = takes_all ? blockDim.x : kOrderedThreads;
  for (unsigned part = team.block; part < parts; part += team.blocks) {
    typename Add::T value{};
    bool has = false;
    const unsigned warp = threadIdx.x / kWarp * parts + part;
    if (threadIdx.x < threads) {
      take(value, has, warp * kWarp + threadIdx.x % kWarp, parts * threads);
    }
    reduce_block<Add>(value, has);
    if (threadIdx.x == 0) {
      static_cast<typename Add::T*>(d.values)[turn * parts + part] = value;
      static_cast<bool*>(d.has)[turn * parts + part] = has;
    }
  }
}

// Keeps the sum of a block whose threads have added up a share of their own.
template <class Add>
__device__ __forceinline__ void store_sum(const Team& team, const PartialsDescriptor& d, int turn,
                                          typename Add::T sum, bool has_sum) {
  using T = typename Add::T;
  store_partials<false, Add>(team, d, turn, [&](T& value, bool& has, unsigned, unsigned) {
    value = sum;
    has = has_sum;
  });
}

// First phase: sums of parts of the entries.
template <bool kOrdered, class Add, class U>
SEMIRA_PHASE void reduce_partials(const Team& team, const Vector<U>& u,
                                  const PartialsDescriptor& d, int turn) {
  using T = typename Add::T;
  auto take = [&](T& value, bool& has, unsigned thread, unsigned threads) {
    for (unsigned w = thread / kWarp; w < u.num_words(); w += threads / kWarp) {
      const unsigned lane = thread % kWarp;
      if (u.here.words[w] >> lane & 1u) {
        merge<Add>(value, has, cast<T>(u.here.values[w * kWarp + lane]), true);
      }
    }
  };
  store_partials<kOrdered, Add>(team, d, turn, take);
}

// After the barrier: every thread gets the same scalar.
template <bool kOrdered, class Add>
SEMIRA_PHASE Scalar<typename Add::T> reduce_total(const Team& team, const PartialsDescriptor& d,
                                                  int turn) {
  const unsigned parts = parts_of_reduction<kOrdered>(team);
  using T = typename Add::T;
  __shared__ T total;
  __shared__ bool any;
  T value{};
  bool has = false;
  for (unsigned part = threadIdx.x; part < parts; part += blockDim.x) {
    merge<Add>(value, has, static_cast<const T*>(d.values)[turn * parts + part],
               static_cast<const bool*>(d.has)[turn * parts + part]);
  }
  reduce_block<Add>(value, has);
  if (threadIdx.x == 0) {
    total = value;
    any = has;
  }
  __syncthreads();
  return {total, any};
}
