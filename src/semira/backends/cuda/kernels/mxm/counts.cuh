// Sizes of the rows of a product, before any value is computed.
#pragma once
#include "mxm/few.cuh"

// A search costs about as much as so many entries that pass by a table.
constexpr int kSearchCost = 8;

// Exclusive sum of `x` over the block; `total` is the block's sum. `sums` has room for every warp.
SEMIRA_INLINE unsigned before_in_block(unsigned x, unsigned* sums, unsigned& total) {
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const unsigned running = sum_upto(lane, x);
  if (lane == kWarp - 1) sums[warp] = running;
  __syncthreads();
  unsigned before = 0;
  total = 0;
  for (unsigned w = 0; w < blockDim.x / kWarp; ++w) {
    if (w < warp) before += sums[w];
    total += sums[w];
  }
  __syncthreads();
  return before + running - x;
}

// Entries of the rows of A B that are listed, by a table of `most` slots for each group.
template <int kLanes>
__device__ void count_by_table(const Pattern& a, const Pattern& b, const RowMask& mask,
    const RowList& list, const long long* work, long long ncols, long long most, long long* sizes) {
  const Group<kLanes> group;
  __shared__ unsigned found[Group<kLanes>::kMost];
  Index* const memory = reinterpret_cast<Index*>(block_memory) + group.number * most;
  for (long long r = group.first; r < list.count; r += group.step) {
    const Index i = list[r];
    const KeyTable table(memory, static_cast<unsigned>(clipped(work[i], ncols)));
    for (unsigned s = group.lane; s < table.slots(); s += group.lanes) table.keys[s] = kEmpty;
    if (group.lane == 0) found[group.number] = 0;
    group.sync();
    unsigned mine = 0;
    for_each_product(group, a, b, mask, i, work[i], [&](Offset, Offset, Index, Index j) {
      bool is_new;
      table.insert(j, is_new);
      mine += is_new ? 1 : 0;
    });
    if (mine != 0) atomicAdd(found + group.number, mine);
    group.sync();
    if (group.lane == 0) sizes[i] = found[group.number];
  }
}

// Takes a row of A B window by window, of `columns` columns each (a power of two); windows without an
// entry are skipped. Calls `visit(at_a, at_b, k, j, column - window)` for every pair, and
// `flush(window)` when all threads of the block have seen a window; its barriers order both.
template <bool kOrdered, class Visit, class Flush>
SEMIRA_INLINE void for_each_window(const Group<0>& group, const Pattern& a, const Pattern& b,
    const RowMask& mask, Index i, long long work, unsigned columns, const Cursors& cursors,
    Visit visit, Flush flush) {
  __shared__ unsigned lowest;
  unsigned base = 0;
  bool is_first = true;
  while (base != kNoColumn) {
    if (group.lane == 0) lowest = kNoColumn;
    __syncthreads();
    const unsigned next = for_each_product_below<kOrdered>(group, a, b, mask, i, work,
        base + columns, is_first, cursors, [&](Offset at_a, Offset at_b, Index k, Index j) {
          visit(at_a, at_b, k, j, static_cast<unsigned>(j) - base);
        });
    const unsigned least = __reduce_min_sync(kAllLanes, next);
    if (threadIdx.x % kWarp == 0 && least != kNoColumn) atomicMin(&lowest, least);
    __syncthreads();
    const unsigned left = lowest;
    flush(base);
    base = left == kNoColumn ? kNoColumn : left & ~(columns - 1);
    is_first = false;
    __syncthreads();
  }
}

// Sets a bit of the block's bitmap; whether it was not set before.
SEMIRA_INLINE bool claim(unsigned* words, unsigned at) {
  unsigned* const word = words + at / kWarp;
  const unsigned bit = 1u << at % kWarp;
  // Read first: most columns of a dense row are met many times.
  if (*const_cast<volatile unsigned*>(word) & bit) return false;
  return !(atomicOr(word, bit) & bit);
}

// The same for rows of any size: a bitmap of `columns` columns at a time.
SEMIRA_INLINE void count_by_window(const Pattern& a, const Pattern& b, const RowMask& mask,
    const RowList& list, const long long* work, unsigned columns, const Cursors& cursors,
    long long* sizes) {
  const Group<0> group;
  __shared__ unsigned found;
  unsigned* const words = reinterpret_cast<unsigned*>(block_memory);
  for (unsigned w = group.lane; w < columns / kWarp; w += group.lanes) words[w] = 0;
  for (long long r = group.first; r < list.count; r += group.step) {
    const Index i = list[r];
    unsigned mine = 0;
    if (group.lane == 0) found = 0;
    const auto visit = [&](Offset, Offset, Index, Index, unsigned at) {
      mine += claim(words, at) ? 1 : 0;
    };
    for_each_window<false>(group, a, b, mask, i, work[i], columns, cursors, visit, [&](unsigned) {
      for (unsigned w = group.lane; w < columns / kWarp; w += group.lanes) words[w] = 0;
    });
    if (mine != 0) atomicAdd(&found, mine);
    __syncthreads();
    if (group.lane == 0) sizes[i] = found;
  }
}
