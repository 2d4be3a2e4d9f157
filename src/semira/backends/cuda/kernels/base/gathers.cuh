// Rows that were made wherever there was room, moved one behind the other.
#pragma once
#include "matrix/merge.cuh"
#include "matrix/scan.cuh"

// The row of entry e, which is between rows `low` and `high`.
SEMIRA_INLINE long long row_of(
    const long long* starts, long long low, long long high, long long e) {
  return first_where(low + 1, high + 1, [&](long long row) { return starts[row] > e; }) - 1;
}

template <class Word>
SEMIRA_INLINE void move_words(
    const void* from, void* to, long long count, long long at_from, long long at_to) {
  for (long long w = 0; w < count; ++w) {
    static_cast<Word*>(to)[at_to * count + w] = static_cast<const Word*>(from)[at_from * count + w];
  }
}

SEMIRA_INLINE void move_value(
    const void* from, void* to, long long itemsize, long long at_from, long long at_to) {
  if (itemsize == 4) {
    move_words<unsigned>(from, to, 1, at_from, at_to);
  } else if (itemsize % 8 == 0) {
    move_words<unsigned long long>(from, to, itemsize / 8, at_from, at_to);
  } else {
    move_words<unsigned char>(from, to, itemsize, at_from, at_to);
  }
}

// Rows as they were made: where each begins, columns and values.
struct Scattered {
  const long long* places;
  const Index* indices;
  const void* values;
  long long itemsize;
};

// Entries that a warp takes at a time.
constexpr long long kGathered = 4 * kWarp;

// `starts` are the running sums of the rows' sizes, nrows + 1 of them. Entries are shared out evenly: a
// warp looks for the rows of its first and last one, each lane between these.
SEMIRA_INLINE void gather_rows(
    const Scattered& from, const long long* starts, long long nrows, const Written& out) {
  const Span span;
  for (const long long i : items_below(nrows + 1)) {
    out.indptr[i] = static_cast<Offset>(starts[i]);
  }
  const long long total = starts[nrows], lane = threadIdx.x % kWarp;
  const long long step = span.step / kWarp * kGathered;
  for (long long base = span.first / kWarp * kGathered; base < total; base += step) {
    const long long end = base + kGathered < total ? base + kGathered : total;
    const long long mine = row_of(starts, 0, nrows - 1, lane < kWarp / 2 ? base : end - 1);
    const long long low = __shfl_sync(kAllLanes, mine, 0);
    const long long high = __shfl_sync(kAllLanes, mine, kWarp - 1);
    for (long long e = base + lane; e < end; e += kWarp) {
      const long long i = row_of(starts, low, high, e), at = from.places[i] + e - starts[i];
      out.indices[e] = from.indices[at];
      out.rows[e] = static_cast<Index>(i);
      move_value(from.values, out.values, from.itemsize, at, e);
    }
  }
}

// Rows that are few enough for every block to add up their sizes by itself.
constexpr int kFewGathered = 2 * kScanTile;

// The same from the sizes.
SEMIRA_INLINE void gather_few_rows(
    const Scattered& from, const long long* sizes, long long nrows, const Written& out) {
  __shared__ long long starts[kFewGathered + 1];
  long long before = 0;
  for (long long base = 0; base < nrows; base += kScanTile) {
    long long own[kScanItems], total;
    const long long first = base + threadIdx.x * kScanItems;
    long long running = before + scan_block(load_tile(sizes, first, nrows, own), total);
    SEMIRA_UNROLLED(k, kScanItems) {
      if (first + k < nrows) starts[first + k] = running;
      running += own[k];
    }
    before += total;
  }
  if (threadIdx.x == 0) starts[nrows] = before;
  __syncthreads();
  gather_rows(from, starts, nrows, out);
}

#define SEMIRA_GATHER                                                                           \
  long long *sizes, const long long *places, long long nrows, const Index *from_indices,        \
      const void *from_values, long long itemsize, Offset *indptr, Index *indices, Index *rows, \
      void *values
extern "C" __global__ void __launch_bounds__(kScanThreads) semira_gather(SEMIRA_GATHER) {
  gather_rows(
      {places, from_indices, from_values, itemsize}, sizes, nrows, {indptr, indices, rows, values});
}
extern "C" __global__ void __launch_bounds__(kScanThreads) semira_gather_few(SEMIRA_GATHER) {
  gather_few_rows(
      {places, from_indices, from_values, itemsize}, sizes, nrows, {indptr, indices, rows, values});
}
