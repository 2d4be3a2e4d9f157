// On which diagonals the entries of a matrix lie, and which of them each row has.
#pragma once
#include "matrix/entries.cuh"
#include "semira.methods.diagonals.kernels:bits.cuh"

// No column is so far before its row.
constexpr Index kNoDistance = kLowest<Index>;

// Puts a number into a set that others fill at the same time: kMostDiagonals places, from the first
// on, those behind the last one hold kNoDistance. Returns whether it is there.
__device__ __forceinline__ bool insert_distance(Index* set, Index distance) {
  for (int k = 0; k < kMostDiagonals; ++k) {
    // A place is written once: what is read is it, or kNoDistance.
    Index there = *const_cast<volatile Index*>(&set[k]);
    if (there == kNoDistance) there = atomicCAS(&set[k], kNoDistance, distance);
    if (there == kNoDistance || there == distance) return true;
  }
  return false;
}

// Every block collects the distances it meets, then adds its own to `found`, which holds
// kNoDistance before. found[kMostDiagonals] becomes something else if there are more. Where they
// are many, each block soon has met too many and leaves.
__device__ __forceinline__ void collect_distances(const Offset* indptr, const Index* indices,
                                                  long long nrows, Index* found) {
  __shared__ Index own[kMostDiagonals];
  __shared__ int are_many;
  if (threadIdx.x < kMostDiagonals) own[threadIdx.x] = kNoDistance;
  if (threadIdx.x == 0) are_many = 0;
  __syncthreads();
  const Span span;
  for (long long i = span.first; i < nrows; i += span.step) {
    if (*const_cast<volatile int*>(&are_many) != 0) break;
    const Offset end = indptr[i + 1];
    for (Offset e = indptr[i]; e < end; ++e) {
      if (!insert_distance(own, indices[e] - static_cast<Index>(i))) {
        atomicExch(&are_many, 1);
        break;
      }
    }
  }
  __syncthreads();
  bool fits = are_many == 0;
  if (fits && threadIdx.x < kMostDiagonals && own[threadIdx.x] != kNoDistance) {
    fits = insert_distance(found, own[threadIdx.x]);
  }
  if (!fits) atomicExch(&found[kMostDiagonals], 0);
}

// Bits behind the `count` distances at the head of `made`, up to a whole word of rows. Columns rise
// along a row.
__device__ __forceinline__ void mark_diagonals(const Offset* indptr, const Index* indices,
                                               long long nrows, long long count, Index* made) {
  const Span span;
  void* const rest = made + kMostDiagonals;
  const long long upto = (nrows + kWarp - 1) / kWarp * kWarp;
  for (long long i = span.first; i < upto; i += span.step) {
    unsigned bits = 0;
    int k = 0;
    const Offset end = i < nrows ? indptr[i + 1] : 0;
    for (Offset e = i < nrows ? indptr[i] : 0; e < end; ++e) {
      const Index distance = indices[e] - static_cast<Index>(i);
      while (k + 1 < count && made[k] != distance) ++k;
      bits |= 1u << k;
    }
    if (count <= kNarrowDiagonals) {
      static_cast<unsigned char*>(rest)[i] = static_cast<unsigned char>(bits);
    } else {
      static_cast<unsigned*>(rest)[i] = bits;
    }
  }
}

extern "C" __global__ void semira_distances(const Offset* indptr, const Index* indices,
                                            long long nrows, Index* found) {
  collect_distances(indptr, indices, nrows, found);
}
extern "C" __global__ void semira_diagonals(const Offset* indptr, const Index* indices,
                                            long long nrows, long long count, Index* made) {
  mark_diagonals(indptr, indices, nrows, count, made);
}
