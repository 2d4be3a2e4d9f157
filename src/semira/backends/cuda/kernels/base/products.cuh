// Sizes and bins of the rows of a product (mxm/).
#pragma once
#include "mxm/counts.cuh"

// Lengths of the rows of B that entries first, first + step, ... below end of A name.
SEMIRA_INLINE long long lengths_of(
    const Pattern& a, const Pattern& b, Offset first, Offset end, Offset step) {
  long long sum = 0;
  for (Offset e = first; e < end; e += step) {
    const Index k = a.indices[e];
    sum += b.indptr[k + 1] - b.indptr[k];
  }
  return sum;
}

// Partial products of row i of A B, none behind the last row. A lane a row, the warp where it has more
// than `most` entries.
SEMIRA_INLINE long long products_of(
    const Pattern& a, const Pattern& b, long long nrows, long long i, long long most) {
  const unsigned lane = threadIdx.x % kWarp;
  const Offset begin = i < nrows ? a.indptr[i] : 0, end = i < nrows ? a.indptr[i + 1] : 0;
  const bool is_long = end - begin > most;
  long long mine = is_long ? 0 : lengths_of(a, b, begin, end, 1);
  for (const int owner : SetBits{__ballot_sync(kAllLanes, is_long)}) {
    const Offset from = __shfl_sync(kAllLanes, begin, owner) + static_cast<Offset>(lane);
    long long sum = lengths_of(a, b, from, __shfl_sync(kAllLanes, end, owner), kWarp);
#pragma unroll
    for (int step = kWarp / 2; step > 0; step /= 2) sum += __shfl_xor_sync(kAllLanes, sum, step);
    if (static_cast<int>(lane) == owner) mine = sum;
  }
  return mine;
}

#define SEMIRA_PATTERNS \
  const Offset *a_indptr, const Index *a_indices, const Offset *b_indptr, const Index *b_indices
#define SEMIRA_BINS                                                                    \
  long long n, long long per_warp, long long most, long long limit0, long long limit1, \
      long long limit2, long long limit3, long long limit4, const Offset *few_indptr,  \
      Count *ledger, Index *lists
#define SEMIRA_LIMITS {limit0, limit1, limit2, limit3, limit4}

// Partial products of every row, and the rows in bins by them; rows have no entries yet.
extern "C" __global__ void __launch_bounds__(kScanThreads) semira_count_products(
    SEMIRA_BINS, SEMIRA_PATTERNS, long long* work, long long* sizes, long long* places) {
  const auto products = [&](long long i) {
    const long long found =
        products_of({a_indptr, a_indices}, {b_indptr, b_indices}, n, i, per_warp);
    if (i < n) {
      work[i] = found;
      sizes[i] = 0;
    }
    return found;
  };
  bin_rows(
      products, n, per_warp, most, SEMIRA_LIMITS, {few_indptr, nullptr}, {ledger}, lists, places);
}
extern "C" __global__ void __launch_bounds__(kScanThreads)
    semira_bin_rows(SEMIRA_BINS, const long long* sizes, const long long* products) {
  const auto size = [&](long long i) { return i < n ? sizes[i] : 0; };
  bin_rows(
      size, n, per_warp, most, SEMIRA_LIMITS, {few_indptr, products}, {ledger}, lists, nullptr);
}

// What a masked product takes: looks of dot products, and pairs of entries in the rows that the mask
// names. `columns` and `lines` are the lengths of B's columns and rows. One warp a row.
extern "C" __global__ void semira_count_masked_work(const Offset* a_indptr, const Index* a_indices,
    const Offset* mask_indptr, const Index* mask_indices, long long nrows, const Index* columns,
    const Index* lines, Count* totals) {
  const Group<kWarp> group;
  Count looks = 0, pairs = 0;
  for (long long i = group.first; i < nrows; i += group.step) {
    const Offset named = mask_indptr[i], named_end = mask_indptr[i + 1];
    const Offset begin = a_indptr[i], end = a_indptr[i + 1];
    if (named == named_end || begin == end) continue;
    const long long searches = static_cast<long long>(end - begin) * kSearchCost;
    for (Offset e = named + static_cast<Offset>(group.lane); e < named_end; e += kWarp) {
      looks += static_cast<Count>(clipped(columns[mask_indices[e]], searches));
    }
    for (Offset e = begin + static_cast<Offset>(group.lane); e < end; e += kWarp) {
      pairs += static_cast<Count>(lines[a_indices[e]]);
    }
  }
  add_to(totals, looks);
  add_to(totals + 1, pairs);
}

// Entries of A's row i where the mask's row i has any: what a masked row has to look up.
extern "C" __global__ void semira_count_looked_up(
    const Offset* a_indptr, const Offset* mask_indptr, long long nrows, long long* sizes) {
  for (const long long i : items_below(nrows)) {
    const bool any = mask_indptr[i + 1] != mask_indptr[i];
    sizes[i] = any ? a_indptr[i + 1] - a_indptr[i] : 0;
  }
}
