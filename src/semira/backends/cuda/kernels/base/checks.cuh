// Whether a caller's arrays are compressed lines.
#pragma once
#include "matrix/entries.cuh"

// Signed numbers of 4 or 8 bytes.
SEMIRA_INLINE long long number_at(const void* list, long long bytes, long long at) {
  return bytes == 4 ? static_cast<const int*>(list)[at] : static_cast<const long long*>(list)[at];
}

// Sets bit 0 of `faults` where offsets or indices are out of bounds or offsets fall, bit 1 where
// the indices of a line do not rise.
extern "C" __global__ void semira_line_faults(const void* offsets, long long offset_bytes,
    long long lines, const void* indices, long long index_bytes, long long count, long long length,
    unsigned* faults) {
  bool is_wrong = false, is_unsorted = false;
  for (const long long i : items_below(lines + 1)) {
    const long long own = number_at(offsets, offset_bytes, i);
    const long long before = i == 0 ? 0 : number_at(offsets, offset_bytes, i - 1);
    is_wrong = is_wrong || own < before || (i == 0 && own != 0) || (i == lines && own != count);
  }
  for (const long long e : items_below(count)) {
    const long long own = number_at(indices, index_bytes, e);
    is_wrong = is_wrong || own < 0 || own >= length;
    if (e == 0 || own > number_at(indices, index_bytes, e - 1)) continue;
    // Whether a line begins here.
    const auto begin = [&](long long line) { return number_at(offsets, offset_bytes, line); };
    const long long line =
        first_where(0ll, lines, [&](long long each) { return begin(each) >= e; });
    is_unsorted = is_unsorted || begin(line) != e;
  }
  const bool wrong = __syncthreads_or(is_wrong), unsorted = __syncthreads_or(is_unsorted);
  if (threadIdx.x == 0 && (wrong || unsorted)) atomicOr(faults, wrong + 2u * unsorted);
}
