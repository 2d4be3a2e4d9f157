// The virtual grid a phase runs on, the barrier between phases, sums over blocks and warps.
#pragma once
#include "common/types.cuh"

// A phase of a program. What the program keeps between phases lies in shared memory, so that
// the loops of a phase get the registers.
#define SEMIRA_PHASE SEMIRA_INLINE

// Threads that run a phase together: of all blocks, or of the first one alone (see solo.cuh).
// Every phase is called by all of them. Consecutive warps lie on different multiprocessors: little
// work is spread over all of them.
struct Team {
  unsigned thread, threads;  // rank and number of threads
  unsigned warp, warps;      // rank and number of warps
  unsigned lane;
  unsigned block, blocks;  // rank and number of blocks
};

// The first `blocks` blocks: all of the grid, or one.
SEMIRA_INLINE Team team_of(unsigned blocks) {
  Team team;
  team.block = block_number();
  team.blocks = blocks;
  team.lane = threadIdx.x % kWarp;
  team.warp = threadIdx.x / kWarp * blocks + team.block;
  team.warps = blocks * (blockDim.x / kWarp);
  team.thread = team.warp * kWarp + team.lane;
  team.threads = blocks * blockDim.x;
  return team;
}
SEMIRA_INLINE Team whole_grid() { return team_of(gridDim.x); }

// The same threads counted from the end: small phases without a barrier between them then fall
// to different warps.
SEMIRA_INLINE Team from_the_end(const Team& team) {
  Team other = team;
  other.warp = team.warps - 1 - team.warp;
  other.thread = other.warp * kWarp + team.lane;
  return other;
}

// What a barrier keeps in device memory: a counter that only grows, compared modulo 2**32, and
// where it stood when the launch began.
struct BarrierCounter {
  unsigned arrived, base;
};

// Tries before a block that may wait long sleeps between two, and for how long, in ns.
constexpr unsigned kTries = 16, kNap = 200;

// Barrier of a cooperative launch. Every block reads `base` before it arrives for the first time,
// and `close` writes it when all have arrived for the last time.
struct GridBarrier {
  BarrierCounter* counter;
  unsigned* arrived;
  unsigned target;
  unsigned blocks;  // that `wait` joins: all of the grid, or one

  __device__ explicit GridBarrier(BarrierCounter* given)
      : counter(given), arrived(&given->arrived),
        target(*static_cast<volatile unsigned*>(&given->base)), blocks(gridDim.x) {}

  // After the last barrier: the next launch counts on from here.
  SEMIRA_INLINE void close(const Team& team) const {
    if (team.thread == 0) counter->base = target;
  }

  // Whether the first block works while the others wait.
  SEMIRA_INLINE bool is_alone() const { return blocks != gridDim.x; }

  // Joins the blocks that work.
  SEMIRA_INLINE void wait() {
    if (blocks == 1) {
      __syncthreads();
    } else {
      meet<false>();
    }
  }

  // Joins all blocks of the grid. With kLong the others may be long in coming: polls then leave the
  // memory to them.
  template <bool kLong> SEMIRA_INLINE void meet() {
    __syncthreads();
    if (threadIdx.x == 0) {
      target += gridDim.x;
      // Release: the writes of the whole block, ordered by __syncthreads, come first.
      asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(arrived) : "memory");
      unsigned seen, tries = 0;
      while (true) {
        asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrived) : "memory");
        if (static_cast<int>(seen - target) >= 0) break;
        if (kLong && ++tries > kTries) __nanosleep(kNap);
      }
      // Once more, and acquire: every poll would empty the cache of the multiprocessor, and a fence
      // waits for writes as well.
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrived) : "memory");
    }
    __syncthreads();
  }
};

// `x` of lane `source`, for values of any size.
template <class T> SEMIRA_INLINE T shuffle(T x, int source, unsigned lanes = kAllLanes) {
  if constexpr (sizeof(T) == 8) {
    unsigned long long bits = *reinterpret_cast<unsigned long long*>(&x);
    bits = __shfl_sync(lanes, bits, source);
    return *reinterpret_cast<T*>(&bits);
  } else if constexpr (sizeof(T) <= 4) {
    unsigned bits = 0;
    *reinterpret_cast<T*>(&bits) = x;
    bits = __shfl_sync(lanes, bits, source);
    return *reinterpret_cast<T*>(&bits);
  } else {
    constexpr int kPieces = (sizeof(T) + 3) / 4;
    unsigned pieces[kPieces] = {};
    memcpy(pieces, &x, sizeof(T));
    SEMIRA_UNROLLED(k, kPieces) pieces[k] = __shfl_sync(lanes, pieces[k], source);
    memcpy(&x, pieces, sizeof(T));
    return x;
  }
}

// Sum over a warp; every lane gets it.
SEMIRA_INLINE Count add_over_warp(Count value) {
  // One instruction where the sum fits 32 bits, which is nearly always.
  if (!__any_sync(kAllLanes, value >> 26)) {
    return __reduce_add_sync(kAllLanes, static_cast<unsigned>(value));
  }
// Once, not five times: this stands in every sum.
#pragma unroll 1
  for (int step = kWarp / 2; step > 0; step /= 2) value += __shfl_xor_sync(kAllLanes, value, step);
  return value;
}

// Warp that does the k-th of several things that a block does at once; a block has 2^n warps.
SEMIRA_INLINE bool is_turn_of_warp(unsigned k) {
  return threadIdx.x / kWarp == (k & (blockDim.x / kWarp - 1));
}

// Adds every thread's `values[k]` to `*counters[k]`. All threads of the block call it.
template <int kCounters>
SEMIRA_INLINE void add_over_block(
    const Count (&values)[kCounters], Count* const (&counters)[kCounters]) {
  __shared__ Count partial[kCounters][kWarp];
  bool any = false;
  SEMIRA_UNROLLED(k, kCounters) any = any || values[k] != 0;
  if (!__syncthreads_or(any)) return;
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  static_assert(kCounters <= kWarp, "a lane for each counter");
  // Most counters of most phases are 0.
  unsigned used = 0;
  SEMIRA_UNROLLED(k, kCounters) used |= values[k] != 0 ? 1u << k : 0u;
  used = __reduce_or_sync(kAllLanes, used);
  Count mine = 0;
  SEMIRA_UNROLLED(k, kCounters) {
    if (!(used >> k & 1u)) continue;
    const Count sum = add_over_warp(values[k]);
    if (lane == k) mine = sum;
  }
  if (lane < kCounters) partial[lane][warp] = mine;
  __syncthreads();
  SEMIRA_UNROLLED(k, kCounters) {
    if (!is_turn_of_warp(k)) continue;
    const Count sum = add_over_warp(lane < blockDim.x / kWarp ? partial[k][lane] : 0);
    if (lane == 0 && sum != 0) atomicAdd(counters[k], sum);
  }
}

// The same where a phase has two barriers of the block anyway: `between` is for all threads, and
// what one of them does there goes on beside the sums.
template <int kCounters, class Between>
SEMIRA_INLINE void add_over_block_around(
    const Count (&values)[kCounters], Count* const (&counters)[kCounters], Between between) {
  __shared__ Count partial[kCounters][kWarp];
  const unsigned lane = threadIdx.x % kWarp;
  SEMIRA_UNROLLED(k, kCounters) {
    const Count sum = add_over_warp(values[k]);
    if (lane == 0) partial[k][threadIdx.x / kWarp] = sum;
  }
  __syncthreads();
  between();
  SEMIRA_UNROLLED(k, kCounters) {
    if (!is_turn_of_warp(k + 1)) continue;
    const Count sum = add_over_warp(lane < blockDim.x / kWarp ? partial[k][lane] : 0);
    if (lane == 0 && sum != 0) atomicAdd(counters[k], sum);
  }
  __syncthreads();
}
