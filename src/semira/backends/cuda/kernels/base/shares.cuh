// Equal shares of the rows and entries of a matrix.
#pragma once
#include "matrix/entries.cuh"

// Row in which each of `num` equal shares of the merge path of row ends, of kRowItems each, and entries begins;
// rows[num] is where the last one ends, rows[num + 1] becomes 0.
extern "C" __global__ void semira_slices(
    const Offset* indptr, long long nrows, long long num, long long items, Index* rows) {
  const long long nvals = indptr[nrows];
  const long long path = nvals + kRowItems * nrows;
  for (const long long s : items_below(num + 1)) {
    const long long at = s * items < path ? s * items : path;
    const long long most = (at + kRowItems - 1) / kRowItems;
    // The end of a row comes on the path once all of its entries have come.
    const auto is_row = [&](long long row) {
      return static_cast<long long>(indptr[row + 1]) + kRowItems * row >= at;
    };
    rows[s] = static_cast<Index>(first_where(0ll, most < nrows ? most : nrows, is_row));
    if (s == num) rows[num + 1] = 0;
  }
}

// Entries of the longest line; `longest` holds 0 before.
extern "C" __global__ void semira_longest(const Offset* indptr, long long nrows, Index* longest) {
  Index most = 0;
  for (const long long i : items_below(nrows)) {
    const Index length = static_cast<Index>(indptr[i + 1] - indptr[i]);
    most = most > length ? most : length;
  }
  most = __reduce_max_sync(kAllLanes, most);
  if (threadIdx.x % kWarp == 0) atomicMax(longest, most);
}
