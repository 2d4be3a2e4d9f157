// Rows of a product that a lane makes by itself: it merges the few rows of B that a row of A names.
//
// Nothing is hashed, sorted or moved: columns come in order, and what meets in one is added up in the
// order of k. A table takes a group of lanes through dozens of barriers for a dozen products.
#pragma once
#include "mxm/table.cuh"

// Rows of B, whose places and next columns are in registers, and partial products of such a row.
constexpr int kFewLines = 8;
constexpr long long kFewProducts = 128;

// Lanes of the groups that give each lane a row of its own first.
constexpr int kFewLanes = 8;

__device__ __forceinline__ bool is_few(const Pattern& a, Index i, long long products) {
  return products <= kFewProducts && a.indptr[i + 1] - a.indptr[i] <= kFewLines;
}

// Calls `body(j, hits, behind)` for every column j of row i, in order: bit l of `hits` says that the row
// of B that entry l of A's row names has it, just before behind[l]. Next columns are on
// their way before the body asks for values, none of them behind a branch.
template <class Body>
__device__ __forceinline__ void merge_few(const Pattern& a, const Pattern& b, Index i, Body body) {
  const Offset begin = a.indptr[i], lines = a.indptr[i + 1] - begin;
  Offset at[kFewLines], end[kFewLines];
  Index next[kFewLines];
#pragma unroll
  for (int l = 0; l < kFewLines; ++l) {
    at[l] = end[l] = 0;
    if (l >= lines) continue;
    const Index k = a.indices[begin + l];
    at[l] = b.indptr[k];
    end[l] = b.indptr[k + 1];
  }
#pragma unroll
  for (int l = 0; l < kFewLines; ++l) next[l] = at[l] < end[l] ? b.indices[at[l]] : kAfterAll;
  while (true) {
    Index least = kAfterAll;
#pragma unroll
    for (int l = 0; l < kFewLines; ++l) least = next[l] < least ? next[l] : least;
    if (least == kAfterAll) return;
    unsigned hits = 0;
#pragma unroll
    for (int l = 0; l < kFewLines; ++l) hits |= next[l] == least ? 1u << l : 0u;
#pragma unroll
    for (int l = 0; l < kFewLines; ++l) {
      const bool moves = (hits >> l & 1u) != 0;
      at[l] += moves ? 1 : 0;
      if (moves) next[l] = kAfterAll;
      if (moves && at[l] < end[l]) next[l] = b.indices[at[l]];
    }
    body(least, hits, at);
  }
}

// Columns of row i that the mask lets be.
__device__ __forceinline__ long long count_few(const Pattern& a, const Pattern& b,
                                               const RowMask& mask, Index i) {
  long long found = 0;
  merge_few(a, b, i, [&](Index j, unsigned, const Offset (&)[kFewLines]) {
    found += mask.allows(i, j) ? 1 : 0;
  });
  return found;
}

// The rows that a group takes from a list at a time: where there are many, one for each lane. Half of
// the groups of a launch or fewer run at the same time.
template <class G>
__device__ __forceinline__ long long rows_at_once(const G& group, const RowList& list) {
  const long long each = (2 * list.count + group.step - 1) / group.step;
  return each < 1 ? 1 : (each < kFewLanes ? each : kFewLanes);
}

// Calls `alone(i)` by one lane for each listed row that it can make, `together(i)` by the group for
// every other one.
template <int kLanes, class Alone, class Together>
__device__ __forceinline__ void for_each_row(const Group<kLanes>& group, const Pattern& a,
                                             const RowList& list, const long long* work,
                                             Alone alone, Together together) {
  if constexpr (kLanes != kFewLanes) {
    for (long long r = group.first; r < list.count; r += group.step) together(list.rows[r]);
  } else {
    const long long chunk = rows_at_once(group, list);
    for (long long base = group.first * chunk; base < list.count; base += group.step * chunk) {
      const long long r = base + group.lane;
      const bool is_row = group.lane < chunk && r < list.count;
      const Index mine = is_row ? list.rows[r] : 0;
      const bool is_alone = is_row && is_few(a, mine, work[mine]);
      if (is_alone) alone(mine);
      unsigned left = __ballot_sync(group.mask, is_row && !is_alone) / (group.mask & (0u - group.mask));
      for (; left != 0; left &= left - 1) {
        together(list.rows[base + __ffs(static_cast<int>(left)) - 1]);
      }
    }
  }
}
