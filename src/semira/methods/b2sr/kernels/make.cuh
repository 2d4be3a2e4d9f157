// Tiles of bits of compressed lines whose indices rise: a lane has a line, and the lanes of a tile's
// lines merge them, the least tile that any of them has next at a time. Nothing is sorted.
#pragma once
#include "matrix/entries.cuh"

// Behind the last tile of a line.
constexpr Index kNoTile = 0x7fffffff;

// Calls `take(number, tile, bits)` for each tile of the lines of a group, in order, with the bits of
// this lane's line; all lanes of the warp call it. Returns how many the group has.
template <class Take>
__device__ __forceinline__ int merge_tiles(Offset at, Offset end, const Index* indices, int shift,
                                           Take take) {
  const int side = 1 << shift;
  int count = 0;
  while (true) {
    Index least = at < end ? indices[at] >> shift : kNoTile;
    for (int step = side / 2; step > 0; step /= 2) {
      const Index other = __shfl_xor_sync(kAllLanes, least, step);
      if (other < least) least = other;
    }
    const bool is_tile = least != kNoTile;
    if (!__any_sync(kAllLanes, is_tile)) return count;
    unsigned bits = 0;
    while (is_tile && at < end && indices[at] >> shift == least) {
      bits |= 1u << (indices[at] & (side - 1));
      ++at;
    }
    take(count, least, bits, is_tile);
    if (is_tile) ++count;
  }
}

// The tiles of each line of tiles; `lines` are those of the matrix.
extern "C" __global__ void semira_count_tiles(const Offset* indptr, const Index* indices,
                                              long long lines, long long shift, int* counts) {
  const Span span;
  const long long padded = (lines + kWarp - 1) / kWarp * kWarp;
  for (long long i = span.first; i < padded; i += span.step) {
    const Offset at = i < lines ? indptr[i] : 0, end = i < lines ? indptr[i + 1] : 0;
    const int count = merge_tiles(at, end, indices, static_cast<int>(shift),
                                  [](int, Index, unsigned, bool) {});
    if (i < lines && i % (1 << shift) == 0) counts[i >> shift] = count;
  }
}

// Lines of more tiles than `longest`, in any order.
extern "C" __global__ void semira_list_long_lines(const int* starts, long long lines,
                                                  long long longest, int* found, int* count) {
  const Span span;
  for (long long i = span.first; i < lines; i += span.step) {
    if (starts[i + 1] - starts[i] > longest) found[atomicAdd(count, 1)] = static_cast<int>(i);
  }
}

// Positions and bits of the tiles, from `starts` on; `narrow`: positions have 16 bits. Tiles of 4 bits lie in 16 bits each, those of 8
// in 64, and so on, line by line.
extern "C" __global__ void semira_fill_tiles(const Offset* indptr, const Index* indices,
                                             long long lines, long long shift, const int* starts,
                                             long long narrow, void* tiles, unsigned char* words) {
  const Span span;
  const int side = 1 << shift;
  const long long padded = (lines + kWarp - 1) / kWarp * kWarp;
  const long long last = (lines - 1) >> shift;
  for (long long i = span.first; i < padded; i += span.step) {
    const Offset at = i < lines ? indptr[i] : 0, end = i < lines ? indptr[i + 1] : 0;
    const long long first = i >> shift <= last ? starts[i >> shift] : 0;
    const int line = static_cast<int>(i % side);
    merge_tiles(at, end, indices, static_cast<int>(shift),
                [&](int number, Index tile, unsigned bits, bool is_tile) {
                  const long long slot = first + number;
                  if (side == 4) {
                    bits <<= 4 * line;
                    bits |= __shfl_xor_sync(kAllLanes, bits, 1);
                    bits |= __shfl_xor_sync(kAllLanes, bits, 2);
                  }
                  if (!is_tile) return;
                  if (line == 0) {
                    if (narrow) {
                      static_cast<unsigned short*>(tiles)[slot] = static_cast<unsigned short>(tile);
                    } else {
                      static_cast<Index*>(tiles)[slot] = tile;
                    }
                  }
                  if (side == 32) reinterpret_cast<unsigned*>(words)[slot * 32 + line] = bits;
                  if (side == 16) {
                    reinterpret_cast<unsigned short*>(words)[slot * 16 + line] =
                        static_cast<unsigned short>(bits);
                  }
                  if (side == 8) words[slot * 8 + line] = static_cast<unsigned char>(bits);
                  if (side == 4 && line == 0) {
                    reinterpret_cast<unsigned short*>(words)[slot] =
                        static_cast<unsigned short>(bits);
                  }
                });
  }
}
