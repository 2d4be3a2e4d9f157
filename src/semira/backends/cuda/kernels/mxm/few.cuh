// Rows of a product that a lane makes by itself: it merges the few rows of B that a row of A names. Their
// places and next columns are in registers.
//
// Nothing is hashed, sorted or moved: columns come in order, and what meets in one is added up in the
// order of k. A table takes a group of lanes through dozens of barriers for a dozen products.
#pragma once
#include "mxm/table.cuh"

// Calls `body(j, hits, behind)` for every column j of row i, in order: bit l of `hits` says that the row
// of B that entry l of A's row names has it, just before behind[l]. Next columns are on
// their way before the body asks for values, none of them behind a branch.
template <class Body>
SEMIRA_INLINE void merge_few(const Pattern& a, const Pattern& b, Index i, Body body) {
  const Offset begin = a.indptr[i], lines = a.indptr[i + 1] - begin;
  Offset at[kFewLines], end[kFewLines];
  Index next[kFewLines];
  SEMIRA_UNROLLED(l, kFewLines) {
    at[l] = end[l] = 0;
    if (l >= lines) continue;
    const Index k = a.indices[begin + l];
    at[l] = b.indptr[k];
    end[l] = b.indptr[k + 1];
  }
  SEMIRA_UNROLLED(l, kFewLines) next[l] = at[l] < end[l] ? b.indices[at[l]] : kAfterAll;
  while (true) {
    Index least = kAfterAll;
    SEMIRA_UNROLLED(l, kFewLines) least = next[l] < least ? next[l] : least;
    if (least == kAfterAll) return;
    unsigned hits = 0;
    SEMIRA_UNROLLED(l, kFewLines) hits |= next[l] == least ? 1u << l : 0u;
    SEMIRA_UNROLLED(l, kFewLines) {
      const bool moves = (hits >> l & 1u) != 0;
      at[l] += moves ? 1 : 0;
      if (moves) next[l] = kAfterAll;
      if (moves && at[l] < end[l]) next[l] = b.indices[at[l]];
    }
    body(least, hits, at);
  }
}

// Entries of the rows of A B that are listed, a lane a row.
SEMIRA_INLINE void count_by_lane(const Pattern& a, const Pattern& b, const RowMask& mask,
    const RowList& list, long long* sizes) {
  for (const long long r : items_below(list.count)) {
    const Index i = list[r];
    long long found = 0;
    merge_few(a, b, i,
        [&](Index j, unsigned, const Offset(&)[kFewLines]) { found += mask.allows(i, j) ? 1 : 0; });
    sizes[i] = found;
  }
}
