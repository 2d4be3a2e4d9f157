// Tiles of bits as kernels read them.
#pragma once
#include "common/types.cuh"

// Lines of tiles of a matrix.
struct TileLines {
  const int* __restrict__ indptr;
  const void* __restrict__ tiles;  // their positions, in 16 bits if `narrow`, else in 32
  const unsigned* __restrict__ words;
  unsigned shift;  // binary logarithm of a tile's side
  bool narrow;

  __device__ __forceinline__ unsigned position(int at) const {
    if (narrow) return static_cast<const unsigned short*>(tiles)[at];
    return static_cast<unsigned>(static_cast<const Index*>(tiles)[at]);
  }

  // A bit for each position of a tile.
  __device__ __forceinline__ unsigned mask() const { return ~0u >> (kWarp - (1u << shift)); }

  // Bits of a line of tile `at`, and above them others: sides divide 32, so that they lie in one word.
  __device__ __forceinline__ unsigned bits(long long at, unsigned line) const {
    const unsigned long long first =
        (static_cast<unsigned long long>(at) << 2 * shift) + (line << shift);
    return words[first / kWarp] >> first % kWarp;
  }
};

// First tile in [low, high) that is not before `position`.
__device__ __forceinline__ int tile_from(const TileLines& list, int low, int high,
                                         unsigned position) {
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (list.position(middle) < position) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
