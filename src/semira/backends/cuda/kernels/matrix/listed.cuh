// Operators over entries whose positions stand in lists: sides of 2**31 and more.
#pragma once
#include "common/helpers.cuh"
#include "matrix/entries.cuh"

// out[e] = f(value of entry e, its row, its column).
template <class R, class A, class Call>
__device__ void map_listed(const Call& call, const void* values, long long stride,
    const long long* rows, const long long* columns, long long n, void* out) {
  for (const long long e : items_below(n)) {
    static_cast<R*>(out)[e] =
        cast<R>(call(static_cast<const A*>(values)[e * stride], rows[e], columns[e]));
  }
}
