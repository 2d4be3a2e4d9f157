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
