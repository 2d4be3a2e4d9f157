// Positions as lists, bits and running counts; the first entries of rows.
#pragma once
#include "matrix/entries.cuh"

// Where a presence word has a bit: 1, else 0.
extern "C" __global__ void semira_presence(const unsigned* words, long long n, Offset* flags) {
  for (const long long i : items_below(n)) {
    flags[i] = static_cast<Offset>(words[i / kWarp] >> (i % kWarp) & 1u);
  }
}

// Sets the bits of listed positions.
extern "C" __global__ void semira_set_presence(const Index* list, long long n, unsigned* words) {
  for (const long long k : items_below(n)) {
    const unsigned i = static_cast<unsigned>(list[k]);
    atomicOr(&words[i / kWarp], 1u << (i % kWarp));
  }
}

// Positions whose running count rises, in order, as 32-bit and 64-bit numbers where asked for.
extern "C" __global__ void semira_positions(
    const Offset* scan, long long n, Index* positions, long long* wide) {
  for (const long long i : items_below(n)) {
    const Offset at = scan[i];
    if (scan[i + 1] == at) continue;
    if (positions != nullptr) positions[at] = static_cast<Index>(i);
    if (wide != nullptr) wide[at] = i;
  }
}

// list[k] + by.
extern "C" __global__ void semira_shift(const Index* list, long long n, long long by, Index* out) {
  for (const long long k : items_below(n)) out[k] = static_cast<Index>(list[k] + by);
}

// How many of its entries each row keeps, if at most so many.
extern "C" __global__ void semira_first_counts(
    const Offset* indptr, long long nrows, long long most, Offset* counts) {
  for (const long long i : items_below(nrows)) {
    const Offset length = indptr[i + 1] - indptr[i];
    counts[i] = length < most ? length : static_cast<Offset>(most);
  }
}

// Which entries these are, and their rows; `starts` are the running sums of the counts.
extern "C" __global__ void semira_first_places(
    const Offset* indptr, long long nrows, const Offset* starts, long long* places, Index* rows) {
  for (const long long i : items_below(nrows)) {
    const Offset begin = starts[i], count = starts[i + 1] - begin;
    for (Offset k = 0; k < count; ++k) {
      places[begin + k] = indptr[i] + k;
      rows[begin + k] = static_cast<Index>(i);
    }
  }
}
