// What kernels over arrays may call (docs/guide/kernels.md).
#pragma once
#include "common/grid.cuh"
#include "common/random.cuh"
#include "matrix/entries.cuh"

// The items of a group of threads: `first`, `first + step`, ...; `lane` is the thread in its group.
template <int kLanes> struct Group {
  long long first, step;
  int lane;
  __device__ Group()
      : first((block_number() * static_cast<long long>(blockDim.x) + threadIdx.x) / kLanes),
        step(gridDim.x * static_cast<long long>(blockDim.x) / kLanes),
        lane(static_cast<int>(threadIdx.x) % kLanes) {}
};

// Whether this is the first thread of the block that comes last to this place, of all blocks: it sees
// what they wrote. The count of those that came lies behind the counter of the barrier. All call it.
SEMIRA_INLINE bool is_last_block(long long counter) {
  unsigned* const came = reinterpret_cast<unsigned*>(counter + sizeof(BarrierCounter));
  __syncthreads();
  if (threadIdx.x != 0) return false;
  __threadfence();
  if (atomicAdd(came, 1u) != gridDim.x - 1) return false;
  *came = 0;
  __threadfence();
  return true;
}

// Changes an integer that other threads change too; returns what it was.
SEMIRA_INLINE int atomic_add(int* place, int x) { return atomicAdd(place, x); }
SEMIRA_INLINE long long atomic_add(long long* place, long long x) {
  return static_cast<long long>(
      atomicAdd(reinterpret_cast<unsigned long long*>(place), static_cast<unsigned long long>(x)));
}
