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
template <bool kOrdered> SEMIRA_INLINE unsigned parts_of_reduction(const Team& team) {
  return kOrdered ? kOrderedBlocks : team.blocks;
}

template <class Add>
SEMIRA_INLINE void merge(typename Add::T& value, bool& has, typename Add::T other, bool other_has) {
  if (!other_has) return;
  value = has ? Add::apply(value, other) : other;
  has = true;
}

// A sum of some of the values, perhaps of none.
template <class Add> struct Partial {
  typename Add::T value;
  bool has;

  SEMIRA_INLINE void add(typename Add::T z) {
    value = has ? Add::apply(value, z) : z;
    has = true;
  }
  SEMIRA_INLINE void add(const Partial& other) {
    if (other.has) add(other.value);
  }
  // What another lane has; all lanes of the warp call it.
  SEMIRA_INLINE Partial of_lane(int lane) const {
    const bool is_there = __shfl_sync(kAllLanes, has, lane) != 0;
    return {shuffle(value, lane), is_there};
  }
  template <bool kExit> SEMIRA_INLINE bool settled() const {
    if constexpr (!kExit) return false;
    if constexpr (Add::kIsAny) return has;
    if constexpr (Add::kHasTerminal) return has && Add::is_terminal(value);
    return false;
  }
};

// Adds the lanes' sums up; every lane gets the result.
template <class Add> SEMIRA_INLINE void add_over_lanes(Partial<Add>& sum) {
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) {
    sum.add(sum.of_lane(static_cast<int>(threadIdx.x % kWarp) ^ step));
  }
}

// A sum that is nothing yet, as what takes part in all additions alike: the identity changes no bit
// of any number, so presence need not be asked at each.
template <class Add> SEMIRA_INLINE typename Add::T or_identity(typename Add::T value, bool has) {
  return has ? value : Add::identity();
}

// Reduces over a warp; lane 0 gets the result. The order of operands is that of the lanes.
template <class Add> SEMIRA_INLINE void reduce_warp(typename Add::T& value, bool& has) {
  const int lane = static_cast<int>(threadIdx.x % kWarp);
  if constexpr (Add::kMethod == Method::kSum) {
    value = or_identity<Add>(value, has);
#pragma unroll
    for (int step = kWarp / 2; step > 0; step /= 2) {
      // Lanes that have no such lane behind them go into no sum that lane 0 gets.
      value = Add::apply(value, shuffle(value, (lane + step) % kWarp));
    }
    has = __any_sync(kAllLanes, has) != 0;
  } else {
#pragma unroll
    for (int step = kWarp / 2; step > 0; step /= 2) {
      const int other = lane + step;
      const bool other_has = __shfl_sync(kAllLanes, has, other % kWarp) && other < kWarp;
      const typename Add::T other_value = shuffle(value, other % kWarp);
      merge<Add>(value, has, other_value, other_has);
    }
  }
}

// What a block's warps have of a sum, in shared memory.
template <class Add> struct WarpSums {
  using T = typename Add::T;
  T values[kWarp];
  bool present[kWarp];

  // Every warp; a barrier of the block has to follow.
  SEMIRA_INLINE void keep(T value, bool has) {
    reduce_warp<Add>(value, has);
    if (threadIdx.x % kWarp != 0) return;
    values[threadIdx.x / kWarp] = value;
    present[threadIdx.x / kWarp] = has;
  }
  // One warp; its lane 0 gets the sum.
  SEMIRA_INLINE void take(T& value, bool& has) const {
    const unsigned lane = threadIdx.x % kWarp;
    has = lane < blockDim.x / kWarp && present[lane];
    value = has ? values[lane] : T{};
    reduce_warp<Add>(value, has);
  }
};

// Reduces over the block; thread 0 gets the result. The order of operands is fixed.
template <class Add> __device__ void reduce_block(typename Add::T& value, bool& has) {
  __shared__ WarpSums<Add> sums;
  __syncthreads();
  sums.keep(value, has);
  __syncthreads();
  if (threadIdx.x < kWarp) sums.take(value, has);
}

// Reduces `take(value, has, thread, threads)` over each part's block and keeps the sums for
// `reduce_total`. Consecutive warps lie in different parts.
template <bool kOrdered, class Add, class Take>
SEMIRA_INLINE void store_partials(
    const Team& team, const PartialsDescriptor& d, int turn, Take take) {
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

// Stores the sum of a block whose warps have kept theirs before a barrier of the block. Warp
// `which` does it, others at the same time what else there is.
template <class Add>
SEMIRA_INLINE void store_sum(const Team& team, const PartialsDescriptor& d, int turn,
    const WarpSums<Add>& kept, unsigned which) {
  if (!is_turn_of_warp(which)) return;
  typename Add::T value;
  bool has;
  kept.take(value, has);
  if (team.lane != 0) return;
  const unsigned at = turn * parts_of_reduction<false>(team) + team.block;
  static_cast<typename Add::T*>(d.values)[at] = value;
  static_cast<bool*>(d.has)[at] = has;
}

// First phase: sums of parts of the entries.
template <bool kOrdered, class Add, class U>
SEMIRA_PHASE void reduce_partials(
    const Team& team, const Vector<U>& u, const PartialsDescriptor& d, int turn) {
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

// Parts that a lane of `find_total` asks for at once.
constexpr int kPartsTogether = 5;

// After the barrier: warp `which` finds the scalar, which all may read behind a barrier of the block.
template <class Add>
SEMIRA_PHASE void find_total(const Team& team, const PartialsDescriptor& d, int turn,
    Scalar<typename Add::T>& found, unsigned which) {
  if (!is_turn_of_warp(which)) return;
  using T = typename Add::T;
  const unsigned parts = parts_of_reduction<false>(team), each = (parts + kWarp - 1) / kWarp;
  const T* const values = in_global(static_cast<const T*>(d.values)) + turn * parts;
  const bool* const present = in_global(static_cast<const bool*>(d.has)) + turn * parts;
  T value{};
  bool has = false;
  // Under way together: as many as a grid with one block a multiprocessor has.
  for (unsigned first = 0; first < each; first += kPartsTogether) {
    T other[kPartsTogether];
    bool other_has[kPartsTogether];
    SEMIRA_UNROLLED(k, kPartsTogether) {
      const unsigned part = team.lane * each + first + k;
      const bool is_part = first + k < each && part < parts;
      other[k] = is_part ? values[part] : T{};
      other_has[k] = is_part && present[part];
    }
    SEMIRA_UNROLLED(k, kPartsTogether) merge<Add>(value, has, other[k], other_has[k]);
  }
  reduce_warp<Add>(value, has);
  if (team.lane == 0) found = Scalar<T>(value, has);
}

// The same where nothing else goes on: every thread gets the scalar.
template <bool kOrdered, class Add>
SEMIRA_PHASE Scalar<typename Add::T> reduce_total(
    const Team& team, const PartialsDescriptor& d, int turn) {
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
