// Lines padded to the width of the longest in their slice: ELL, and ELL in slices.
#pragma once
#include "matrix/entries.cuh"

// Slots of each slice of kWarp lines; a warp has a slice.
extern "C" __global__ void semira_slice_slots(const Offset* indptr, long long lines,
                                              long long slices, long long* slots) {
  const Span span;
  for (long long i = span.first; i < slices * kWarp; i += span.step) {
    // All lanes go on together: slices are as long as a warp.
    const Index length = i < lines ? static_cast<Index>(indptr[i + 1] - indptr[i]) : 0;
    const Index longest = __reduce_max_sync(kAllLanes, length);
    if (i % kWarp == 0) slots[i / kWarp] = static_cast<long long>(longest) * kWarp;
  }
}

// What stands in the slots of slices of `height` lines: entry t of a slice's r-th line at
// ``t * height + r``, then -1 and zero. Without `found` all entries share a value.
template <class Word>
__device__ void pad_lines(const Offset* indptr, const Index* indices, const Word* values,
                          const long long* starts, long long lines, long long slices,
                          long long height, long long size, Index* padded, Word* found) {
  const Span span;
  const long long slots = starts[slices];
  for (long long k = span.first; k < slots; k += span.step) {
    const long long s = slices == 1 ? 0 : owner_in(starts, slices, k);
    const long long at = k - starts[s], line = s * height + at % height, turn = at / height;
    long long e = -1;
    if (line < lines && turn < indptr[line + 1] - indptr[line]) e = indptr[line] + turn;
    padded[k] = e < 0 ? -1 : indices[e];
    if (found == nullptr) continue;
    for (long long w = 0; w < size; ++w) {
      found[k * size + w] = e < 0 ? Word{} : values[e * size + w];
    }
  }
}
#define SEMIRA_PAD_LINES(bytes, Word)                                                              \
  extern "C" __global__ void semira_pad_lines##bytes(                                             \
      const Offset* indptr, const Index* indices, const Word* values, const long long* starts,    \
      long long lines, long long slices, long long height, long long size, Index* padded,         \
      Word* found) {                                                                              \
    pad_lines(indptr, indices, values, starts, lines, slices, height, size, padded, found);       \
  }
SEMIRA_PAD_LINES(1, unsigned char)
SEMIRA_PAD_LINES(2, unsigned short)
SEMIRA_PAD_LINES(4, unsigned)
SEMIRA_PAD_LINES(8, unsigned long long)
#undef SEMIRA_PAD_LINES
