// Values as positions.
#pragma once
#include "matrix/entries.cuh"

// Values, integers of `size` bytes, as columns; `beyond` becomes 1 + the last place of one that is
// no column.
extern "C" __global__ void semira_value_positions(const void* values, long long size, long long n,
    long long ncols, Index* columns, unsigned long long* beyond) {
  for (const long long at : items_below(n)) {
    const long long value =
        size == 8 ? static_cast<const long long*>(values)[at] : static_cast<const int*>(values)[at];
    if (value < 0 || value >= ncols) atomicMax(beyond, static_cast<unsigned long long>(at + 1));
    columns[at] = static_cast<Index>(value);
  }
}
