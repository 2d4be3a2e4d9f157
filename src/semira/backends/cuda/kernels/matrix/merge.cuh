// Two lists of entries, each in row order, become one: by rank, one thread an entry.
//
// A policy says which entries of x and of y stay and what their values become. An entry's place
// is the number of x that stay before it plus the number of y that do: two running sums and a
// binary search, whatever the lengths of the rows.
#pragma once
#include "matrix/entries.cuh"

template <class Policy, class X, class Y>
__device__ void merge_flags(
    const Policy& policy, const X& x, const Y& y, Offset* kept_x, Offset* kept_y) {
  // Past the entries that there are: nothing stays.
  for (const long long e : items_below(x.most)) {
    const Offset at = static_cast<Offset>(e);
    kept_x[e] = e < x.nvals && policy.keep_x(at, x.rows[e], x.indices[e]) ? 1 : 0;
  }
  if constexpr (Policy::kHasY) {
    for (const long long e : items_below(y.most)) {
      const Offset at = static_cast<Offset>(e);
      kept_y[e] = e < y.nvals && policy.keep_y(at, y.rows[e], y.indices[e]) ? 1 : 0;
    }
  }
}

struct Written {
  Offset* indptr;
  Index* indices;
  Index* rows;
  void* values;  // null: all entries share one value, which is there already
};

// `scan_x` and `scan_y` are the running sums of the flags.
template <class R, class Policy, class X, class Y>
__device__ void merge_fill(const Policy& policy, const X& x, const Y& y, const Offset* scan_x,
    const Offset* scan_y, long long nrows, const Written out) {
  R* const values = static_cast<R*>(out.values);
  for (const long long e : items_below(x.nvals)) {
    Offset to = scan_x[e];
    if (scan_x[e + 1] == to) continue;
    const Index i = x.rows[e], j = x.indices[e];
    if constexpr (Policy::kHasY) {
      if (y.nvals != 0) to += scan_y[y.place(i, j)];
    }
    out.rows[to] = i;
    out.indices[to] = j;
    if (values != nullptr) values[to] = policy.value_x(static_cast<Offset>(e), i, j);
  }
  if constexpr (Policy::kHasY) {
    for (const long long e : items_below(y.nvals)) {
      Offset to = scan_y[e];
      if (scan_y[e + 1] == to) continue;
      const Index i = y.rows[e], j = y.indices[e];
      if (x.nvals != 0) to += scan_x[x.place(i, j)];
      out.rows[to] = i;
      out.indices[to] = j;
      if (values != nullptr) values[to] = policy.value_y(static_cast<Offset>(e), i, j);
    }
  }
  for (const long long i : items_below(nrows + 1)) {
    Offset start = x.nvals != 0 ? scan_x[x.indptr[i]] : 0;
    if constexpr (Policy::kHasY) {
      if (y.nvals != 0) start += scan_y[y.indptr[i]];
    }
    out.indptr[i] = start;
  }
}
