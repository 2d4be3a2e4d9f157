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

// Sets `found` if two arrays differ, such as a matrix and its transpose.
extern "C" __global__ void semira_differ(const unsigned char* left, const unsigned char* right,
                                         long long nbytes, unsigned* found) {
  const Span span;
  const auto places = reinterpret_cast<unsigned long long>(left) |
                      reinterpret_cast<unsigned long long>(right);
  const long long words = places % 4 == 0 ? nbytes / 4 : 0;
  bool differs = false;
  for (long long w = span.first; w < words && !differs; w += span.step) {
    differs = reinterpret_cast<const unsigned*>(left)[w] !=
              reinterpret_cast<const unsigned*>(right)[w];
  }
  for (long long b = 4 * words + span.first; b < nbytes && !differs; b += span.step) {
    differs = left[b] != right[b];
  }
  if (__syncthreads_or(differs) && threadIdx.x == 0) *found = 1;
}

// 32-bit offsets as 64-bit ones.
extern "C" __global__ void semira_widen(const int* items, long long n, long long* out) {
  for (const long long k : items_below(n)) out[k] = items[k];
}

// 64-bit running sums as offsets.
extern "C" __global__ void semira_offsets(const long long* items, long long n, Offset* out) {
  for (const long long k : items_below(n)) out[k] = static_cast<Offset>(items[k]);
}
