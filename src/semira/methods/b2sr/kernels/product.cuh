// Where a product of tiles of bits has entries, but for those that a mask's tiles name: a block has a
// line of tiles of A and a window of columns, whose bits lie in its memory. Twice: rows are counted,
// then written.
#pragma once
#include "semira.methods.b2sr.kernels:tiles.cuh"
#include "matrix/entries.cuh"

// Most columns of a window: a word for each row of a tile.
constexpr unsigned kWindow = 8192;

// The operands, and the tiles that are left out; without `m.indptr` there are none.
struct TileProduct {
  TileLines a, b, m;
  long long nrows, tile_rows, windows, columns;  // columns of a window
};

// Adds what tile `p` of A makes of the tiles of B from `q` on that lie before `last`.
__device__ __forceinline__ void combine_tiles(const TileProduct& of, int p, unsigned first,
                                              unsigned last, unsigned* held) {
  const unsigned side = 1u << of.a.shift, lane = threadIdx.x % kWarp, line = lane % side;
  const unsigned parts = kWarp / side, workers = blockDim.x / kWarp * parts;
  const unsigned mine = threadIdx.x / kWarp * parts + lane / side;
  const unsigned k = of.a.position(p);
  const int end = of.b.indptr[k + 1], begin = tile_from(of.b, of.b.indptr[k], end, first);
  const unsigned left = of.a.bits(p, line) & of.a.mask();
  const unsigned columns = __reduce_or_sync(kAllLanes, left);
  for (int base = begin; base < end && of.b.position(base) < last;
       base += static_cast<int>(workers)) {
    const int q = base + static_cast<int>(mine);
    const unsigned j = q < end ? of.b.position(q) : last;
    const unsigned right = j < last ? of.b.bits(q, line) & of.b.mask() : 0u;
    unsigned found = 0;
    for (unsigned rest = columns; rest != 0; rest &= rest - 1) {
      const int c = __ffs(static_cast<int>(rest)) - 1;
      const unsigned bits = __shfl_sync(kAllLanes, right, c, static_cast<int>(side));
      if ((left >> c & 1u) != 0) found |= bits;
    }
    if (found != 0) atomicOr(&held[(j - first) * side + line], found);
  }
}

// Calls `give(row, window, word, place)` with the bits of 32 tiles of a row at a time, a word for each lane,
// whose first column is `place`; all lanes of a warp call it.
template <class Give>
__device__ __forceinline__ void multiply_tiles(const TileProduct& of, Give give) {
  __shared__ unsigned held[kWindow];
  const unsigned side = 1u << of.a.shift, lane = threadIdx.x % kWarp;
  const unsigned warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp;
  const unsigned columns = static_cast<unsigned>(of.columns), width = columns / side;
  for (long long item = blockIdx.x; item < of.tile_rows * of.windows; item += gridDim.x) {
    const long long t = item / of.windows, window = item % of.windows;
    const unsigned first = static_cast<unsigned>(window) * width, last = first + width;
    for (unsigned n = threadIdx.x; n < columns; n += blockDim.x) held[n] = 0;
    __syncthreads();
    for (int p = of.a.indptr[t]; p < of.a.indptr[t + 1]; ++p) {
      combine_tiles(of, p, first, last, held);
    }
    __syncthreads();
    if (of.m.indptr != nullptr) {
      const int end = of.m.indptr[t + 1];
      for (int p = tile_from(of.m, of.m.indptr[t], end, first) + static_cast<int>(warp);
           p < end && of.m.position(p) < last; p += static_cast<int>(warps)) {
        if (lane >= side) continue;
        held[(of.m.position(p) - first) * side + lane] &= ~of.m.bits(p, lane);
      }
      __syncthreads();
    }
    for (unsigned r = warp; r < side && t * side + r < of.nrows; r += warps) {
      const auto word = [&](unsigned n) { return held[(n + lane) * side + r]; };
      give(static_cast<Index>(t * side + r), window, width, word,
           static_cast<Index>((first + lane) * side));
    }
    __syncthreads();
  }
}

#define SEMIRA_TILES(x) \
  const int *x##_starts, const void *x##_tiles, const unsigned *x##_words, long long x##_narrow
#define SEMIRA_LINES(x) \
  TileLines { x##_starts, x##_tiles, x##_words, static_cast<unsigned>(shift), x##_narrow != 0 }

// Entries of each row in each window.
extern "C" __global__ void semira_count_product(SEMIRA_TILES(a), SEMIRA_TILES(b), SEMIRA_TILES(m),
                                                long long shift, long long nrows,
                                                long long tile_rows, long long windows,
                                                long long columns, long long* sizes) {
  const TileProduct of{SEMIRA_LINES(a), SEMIRA_LINES(b), SEMIRA_LINES(m), nrows,
                       tile_rows,       windows,         columns};
  const auto give = [&](Index i, long long window, unsigned width, auto word, Index) {
    unsigned count = 0;
    for (unsigned n = 0; n < width; n += kWarp) count += __popc(word(n));
    count = __reduce_add_sync(kAllLanes, count);
    if (threadIdx.x % kWarp == 0) sizes[i * windows + window] = count;
  };
  multiply_tiles(of, give);
}

// `starts`: where the entries of each row in each window begin.
extern "C" __global__ void semira_fill_product(SEMIRA_TILES(a), SEMIRA_TILES(b), SEMIRA_TILES(m),
                                               long long shift, long long nrows,
                                               long long tile_rows, long long windows,
                                               long long columns, const long long* starts,
                                               Offset* indptr, Index* indices, Index* rows) {
  const TileProduct of{SEMIRA_LINES(a), SEMIRA_LINES(b), SEMIRA_LINES(m), nrows,
                       tile_rows,       windows,         columns};
  const unsigned lane = threadIdx.x % kWarp;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    indptr[nrows] = static_cast<Offset>(starts[nrows * windows]);
  }
  const auto give = [&](Index i, long long window, unsigned width, auto word, Index place) {
    long long at = starts[i * windows + window];
    if (window == 0 && lane == 0) indptr[i] = static_cast<Offset>(at);
    for (unsigned n = 0; n < width; n += kWarp) {
      const unsigned bits = word(n), count = __popc(bits);
      unsigned before = count;
      for (unsigned step = 1; step < kWarp; step *= 2) {
        const unsigned other = __shfl_up_sync(kAllLanes, before, step);
        if (lane >= step) before += other;
      }
      long long to = at + before - count;
      for (unsigned rest = bits; rest != 0; rest &= rest - 1) {
        indices[to] = place + static_cast<Index>(n << shift) + __ffs(static_cast<int>(rest)) - 1;
        rows[to] = i;
        ++to;
      }
      at += __shfl_sync(kAllLanes, before, kWarp - 1);
    }
  };
  multiply_tiles(of, give);
}
