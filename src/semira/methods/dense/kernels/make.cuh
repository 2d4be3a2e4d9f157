// A place for every position, row by row: a thread an entry.
#pragma once
#include "matrix/entries.cuh"

// Writes the value of each entry to its position and sets its bit; both are zero before. Rows are
// the lines that are given, or (`turned`) what crosses them. Without `indices` lines have all
// positions; without `found` entries share a value, and without `present` every entry is there.
template <class Word>
__device__ void fill_positions(const Offset* indptr, const Index* indices, const Word* values,
                               long long nvals, long long lines, long long minor, long long turned,
                               long long size, Word* found, unsigned* present) {
  const Span span;
  const long long width = turned != 0 ? lines : minor, words = (width + kWarp - 1) / kWarp;
  for (long long e = span.first; e < nvals; e += span.step) {
    const bool is_full = indices == nullptr;
    const long long line = is_full ? e / minor : owner_in(indptr, lines, static_cast<Offset>(e));
    const long long index = is_full ? e % minor : indices[e];
    const long long row = turned != 0 ? index : line, column = turned != 0 ? line : index;
    if (present != nullptr) atomicOr(&present[row * words + column / kWarp], 1u << (column % kWarp));
    if (found == nullptr) continue;
    for (long long w = 0; w < size; ++w) {
      found[(row * width + column) * size + w] = values[e * size + w];
    }
  }
}
#define SEMIRA_FILL_POSITIONS(bytes, Word)                                                        \
  extern "C" __global__ void semira_fill_positions##bytes(                                        \
      const Offset* indptr, const Index* indices, const Word* values, long long nvals,            \
      long long lines, long long minor, long long turned, long long size, Word* found,            \
      unsigned* present) {                                                                        \
    fill_positions(indptr, indices, values, nvals, lines, minor, turned, size, found, present);   \
  }
SEMIRA_FILL_POSITIONS(1, unsigned char)
SEMIRA_FILL_POSITIONS(2, unsigned short)
SEMIRA_FILL_POSITIONS(4, unsigned)
SEMIRA_FILL_POSITIONS(8, unsigned long long)
#undef SEMIRA_FILL_POSITIONS
