// How much lines share, by tiles of bits: a warp has a tile of the mask, and lists the tiles of A and
// B that meet once for all of its bits. A lane has a row of the tile and counts for all columns; tiles
// of less than 32 rows have several lanes for a row, each with pairs of its own.
#pragma once
#include "mxm/dots.cuh"
#include "mxm/sums.cuh"
#include "semira.methods.b2sr.kernels:tiles.cuh"

// Place of a tile at `position` in [low, high), -1 if there is none.
__device__ __forceinline__ int find_tile(const TileLines& list, int low, int high,
                                         unsigned position) {
  const int at = tile_from(list, low, high, position);
  return at < high && list.position(at) == position ? at : -1;
}

// Adds what the pairs of `met` share to `total`. `place`: this lane's tile of the shorter list, and
// the tile of the longer one that it meets.
template <unsigned kSide>
__device__ __forceinline__ void count_pairs(const TileLines& one, const TileLines& other, int from,
                                            int place, unsigned met, bool is_row, unsigned columns,
                                            unsigned (&total)[kSide]) {
  const unsigned lane = threadIdx.x % kWarp, line = lane % kSide;
  while (met != 0) {
    unsigned mine = met;
    for (unsigned n = 0; n < lane / kSide; ++n) mine &= mine - 1;
    for (unsigned n = 0; n < kWarp / kSide; ++n) met &= met - 1;
    const int source = mine != 0 ? __ffs(static_cast<int>(mine)) - 1 : 0;
    const int meets = __shfl_sync(kAllLanes, place, source);
    unsigned left = 0, right = 0;
    if (mine != 0) {
      left = one.bits(from + source, line) & one.mask();
      right = other.bits(meets, line) & other.mask();
    }
    const unsigned row = is_row ? left : right, column = is_row ? right : left;
#pragma unroll
    for (unsigned c = 0; c < kSide; ++c) {
      if ((columns >> c & 1u) == 0) continue;
      total[c] += __popc(row & __shfl_sync(kAllLanes, column, static_cast<int>(c), kSide));
    }
  }
}

// Calls `give(row, column, number)` for each bit of the mask.
template <unsigned kSide, class Give>
__device__ __forceinline__ void dot_tiles_of(const TileLines& a, const TileLines& b,
                                             const TileLines& m, long long tile_rows, Give give) {
  const Group<kWarp> group;
  const unsigned lane = group.lane, line = lane % kSide;
  const int tiles = m.indptr[tile_rows];
  for (long long at = group.first; at < tiles; at += group.step) {
    const long long i = owner_in(m.indptr, tile_rows, static_cast<int>(at));
    const unsigned j = m.position(static_cast<int>(at));
    const unsigned wanted = m.bits(at, line) & m.mask();
    const unsigned columns = __reduce_or_sync(kAllLanes, wanted);
    const bool is_row = a.indptr[i + 1] - a.indptr[i] <= b.indptr[j + 1] - b.indptr[j];
    const TileLines one = is_row ? a : b, other = is_row ? b : a;
    const long long first = is_row ? i : j, second = is_row ? j : i;
    const int end = one.indptr[first + 1];
    const int low = other.indptr[second], high = other.indptr[second + 1];
    unsigned total[kSide] = {};
    for (int from = one.indptr[first]; from < end; from += kWarp) {
      const int mine = from + static_cast<int>(lane);
      const int place = mine < end ? find_tile(other, low, high, one.position(mine)) : -1;
      const unsigned met = __ballot_sync(kAllLanes, place >= 0);
      count_pairs<kSide>(one, other, from, place, met, is_row, columns, total);
    }
    // Registers have no numbers: what is read in no fixed order lies in memory.
    unsigned numbers[kSide];
#pragma unroll
    for (unsigned c = 0; c < kSide; ++c) {
      for (unsigned step = kSide; step < kWarp; step *= 2) {
        total[c] += __shfl_xor_sync(kAllLanes, total[c], static_cast<int>(step));
      }
      numbers[c] = total[c];
    }
    if (lane >= kSide) continue;
    for (unsigned left = wanted; left != 0; left &= left - 1) {
      const int c = __ffs(static_cast<int>(left)) - 1;
      give(static_cast<Index>(i * kSide + line), static_cast<Index>(j * kSide + c), numbers[c]);
    }
  }
}

// Calls `emit(e, value, true)` once for each entry of the mask whose lines share something.
template <Pairs kPairs, class Semiring, bool kStructural, class M, class Emit>
__device__ void dot_tiles(const TileLines& a, const TileLines& b, const TileLines& m,
                          long long tile_rows, const Entries<M>& mask, const Emit& emit) {
  const auto give = [&](Index i, Index j, unsigned number) {
    if (number == 0) return;
    const Offset e = mask.place(i, j);
    if constexpr (!kStructural) {
      if (!cast<bool>(mask.value(e))) return;
    }
    emit(e, sum_of_ones<kPairs, typename Semiring::Add>(number), true);
  };
  if (m.shift == 5) dot_tiles_of<32>(a, b, m, tile_rows, give);
  if (m.shift == 4) dot_tiles_of<16>(a, b, m, tile_rows, give);
  if (m.shift == 3) dot_tiles_of<8>(a, b, m, tile_rows, give);
}
