// Entries of a matrix where a permutation has its ones. See pick.py.
#pragma once

template <class P, class I, class V, class C>
__device__ void pick(long long items, const P* indptr, const I* indices, const V* values,
                     const C* column_of, double* out) {
  const Group<1> mine;
  for (long long i = mine.first; i < items; i += mine.step) {
    const long long wanted = column_of[i], end = indptr[i + 1];
    long long first = indptr[i], last = end;
    while (first < last) {
      const long long middle = (first + last) / 2;
      if (indices[middle] < wanted) {
        first = middle + 1;
      } else {
        last = middle;
      }
    }
    const bool found = wanted >= 0 && first < end && indices[first] == wanted;
    out[i] = found ? static_cast<double>(values[first]) : 0.0;
  }
}
