// What kernels over arrays may call (docs/guide/kernels.md).
#pragma once
#include "common/grid.cuh"
#include "common/random.cuh"
#include "matrix/entries.cuh"

// The items of a group of threads: `first`, `first + step`, ...; `lane` is the thread in its group.
template <int kLanes>
struct Group {
  long long first, step;
  int lane;
  __device__ Group()
      : first((block_number() * static_cast<long long>(blockDim.x) + threadIdx.x) / kLanes),
        step(gridDim.x * static_cast<long long>(blockDim.x) / kLanes),
        lane(static_cast<int>(threadIdx.x) % kLanes) {}
};

// Changes an integer that other threads change too; returns what it was.
__device__ __forceinline__ int atomic_add(int* place, int x) { return atomicAdd(place, x); }
__device__ __forceinline__ long long atomic_add(long long* place, long long x) {
  return static_cast<long long>(atomicAdd(reinterpret_cast<unsigned long long*>(place),
                                          static_cast<unsigned long long>(x)));
}
