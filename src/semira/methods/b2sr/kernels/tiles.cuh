// Tiles of bits as kernels read them.
#pragma once
#include "common/types.cuh"

// What a sum follows from, where each product is 1: nothing, whether the number of entries that meet is
// odd, or this number. Of others (kNone) the products are added up.
enum class Pairs { kNone, kOne, kParity, kCount };

// The sum of `count` ones, 1 or more.
template <Pairs kPairs, class Add>
__device__ __forceinline__ typename Add::T sum_of_ones(long long count) {
  using T = typename Add::T;
  if constexpr (kPairs == Pairs::kCount) {
    return cast<T>(count);
  } else {
    const T one = cast<T>(1LL);
    if constexpr (kPairs == Pairs::kOne) return one;
    return count % 2 != 0 ? one : Add::apply(one, one);
  }
}

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
