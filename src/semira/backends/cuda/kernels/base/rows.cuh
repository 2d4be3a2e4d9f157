// Rows of entries, and offsets.
#pragma once
#include "matrix/entries.cuh"

// The row of every entry.
extern "C" __global__ void semira_entry_rows(
    const Offset* indptr, long long nrows, long long nvals, Index* rows) {
  for (const long long e : items_below(nvals)) {
    rows[e] = static_cast<Index>(owner_in(indptr, nrows, static_cast<Offset>(e)));
  }
}

// Offsets of rows whose entries are sorted.
extern "C" __global__ void semira_row_offsets(
    const Index* rows, long long nvals, long long nrows, Offset* indptr) {
  for (const long long i : items_below(nrows + 1)) {
    indptr[i] =
        static_cast<Offset>(lower_bound<Index, long long>(rows, 0, nvals, static_cast<Index>(i)));
  }
}

// 32-bit offsets as 64-bit ones.
extern "C" __global__ void semira_widen(const int* items, long long n, long long* out) {
  for (const long long k : items_below(n)) out[k] = items[k];
}

// 64-bit running sums as offsets.
extern "C" __global__ void semira_offsets(const long long* items, long long n, Offset* out) {
  for (const long long k : items_below(n)) out[k] = static_cast<Offset>(items[k]);
}
