// Entries that move: extract of a region, assign to one.
#pragma once
#include "matrix/policies.cuh"

// The positions a region names along one axis; null list: every position.
struct Axis {
  const Index* list;
  SEMIRA_INLINE Index at(Index k) const { return list != nullptr ? list[k] : k; }
};

// Numbers inside a region of every position, several where a list repeats itself; null: the
// whole axis.
struct Numbers {
  const Index* starts;
  const Index* list;
  SEMIRA_INLINE Index count(Index j) const {
    return starts != nullptr ? starts[j + 1] - starts[j] : 1;
  }
  SEMIRA_INLINE Index get(Index j, Index t) const {
    return starts != nullptr ? list[starts[j] + t] : j;
  }
};

// Entries of the rows named by a region, counted per row of the result.
template <class A>
__device__ void count_region_rows(
    const Entries<A>& a, const Axis rows, long long num_rows, long long* counts) {
  for (const long long r : items_below(num_rows)) {
    const Index i = rows.at(static_cast<Index>(r));
    counts[r] = a.indptr[i + 1] - a.indptr[i];
  }
}

// How often each of these entries appears in the result.
template <class A>
__device__ void count_region_entries(const Entries<A>& a, const Axis rows, long long num_rows,
    const long long* starts, const Numbers columns, long long* counts) {
  const long long total = starts[num_rows];
  for (const long long w : items_below(total)) {
    const long long r = owner_in(starts, num_rows, w);
    const Index i = rows.at(static_cast<Index>(r));
    const Offset e = a.indptr[i] + static_cast<Offset>(w - starts[r]);
    counts[w] = columns.count(a.indices[e]);
  }
}

// Keys ``row * ncols + column`` of the result and the entry each comes from.
template <class A>
__device__ void fill_region_entries(const Entries<A>& a, const Axis rows, long long num_rows,
    const long long* starts, const Numbers columns, const long long* places, long long ncols,
    unsigned long long* keys, long long* origin) {
  const long long total = starts[num_rows];
  for (const long long w : items_below(total)) {
    const long long r = owner_in(starts, num_rows, w);
    const Index i = rows.at(static_cast<Index>(r));
    const Offset e = a.indptr[i] + static_cast<Offset>(w - starts[r]);
    const Index j = a.indices[e], times = columns.count(j);
    for (Index t = 0; t < times; ++t) {
      const long long to = places[w] + t;
      keys[to] = static_cast<unsigned long long>(r * ncols + columns.get(j, t));
      origin[to] = e;
    }
  }
}

// 1 for the entries of an operand whose row and column numbers are the last mentions.
template <class A>
__device__ void flag_assigned(const Entries<A>& a, const Axis rows, const Axis columns,
    const Inside row_numbers, const Inside column_numbers, Offset* flags) {
  for (const long long e : items_below(a.most)) {
    flags[e] = 0;
    if (e >= a.nvals) continue;
    const Index r = a.rows[e], s = a.indices[e];
    flags[e] = row_numbers(rows.at(r)) == r && column_numbers(columns.at(s)) == s ? 1 : 0;
  }
}

// Keys of the flagged entries at their final positions.
template <class A>
__device__ void place_assigned(const Entries<A>& a, const Axis rows, const Axis columns,
    const Offset* scan, long long ncols, unsigned long long* keys, long long* origin) {
  for (const long long e : items_below(a.nvals)) {
    const Offset to = scan[e];
    if (scan[e + 1] == to) continue;
    const long long row = rows.at(a.rows[e]);
    keys[to] = static_cast<unsigned long long>(row * ncols + columns.at(a.indices[e]));
    origin[to] = e;
  }
}

// 1 for the entries of a mask that let a scalar through into a region.
template <bool kStructural, class M>
__device__ void flag_open(
    const Entries<M>& mask, const Inside rows, const Inside columns, Offset* flags) {
  for (const long long e : items_below(mask.most)) {
    flags[e] = 0;
    if (e >= mask.nvals) continue;
    bool open = rows(mask.rows[e]) >= 0 && columns(mask.indices[e]) >= 0;
    if constexpr (!kStructural) open = open && cast<bool>(mask.value(static_cast<Offset>(e)));
    flags[e] = open ? 1 : 0;
  }
}
