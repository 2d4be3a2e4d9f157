// Lengths of lines, and lines of equal lengths.
#pragma once
#include "matrix/entries.cuh"

// Entries of every line, and how often each index occurs; `lengths` of the latter are 0 before.
extern "C" __global__ void semira_line_lengths(const Offset* indptr, long long n, Index* lengths) {
  for (const long long i : items_below(n)) {
    lengths[i] = static_cast<Index>(indptr[i + 1] - indptr[i]);
  }
}
extern "C" __global__ void semira_count_indices(
    const Index* indices, long long nvals, Index* lengths) {
  for (const long long e : items_below(nvals)) atomicAdd(&lengths[indices[e]], 1);
}

// 1 for every line that has entries, else 0.
extern "C" __global__ void semira_nonempty(const Offset* indptr, long long n, int* flags) {
  for (const long long i : items_below(n)) flags[i] = indptr[i + 1] != indptr[i];
}

// The same by the lines' lengths.
extern "C" __global__ void semira_nonzero(const int* lengths, long long n, int* flags) {
  for (const long long i : items_below(n)) flags[i] = lengths[i] != 0;
}

// Offsets of rows of `by` entries each; with `scan` only the rows it counts have any.
extern "C" __global__ void semira_even_offsets(
    const int* scan, long long n, long long by, Offset* out) {
  for (const long long i : items_below(n + 1)) {
    out[i] = static_cast<Offset>((scan != nullptr ? scan[i] : i) * by);
  }
}

// The column of every entry where rows are empty or have all columns.
extern "C" __global__ void semira_whole_columns(long long nvals, long long ncols, Index* out) {
  for (const long long at : items_below(nvals)) {
    out[at] = static_cast<Index>(at % ncols);
  }
}
