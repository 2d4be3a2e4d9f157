// Triangles along an acyclic orientation of the edges. See corners.py.
#pragma once

namespace corners {

constexpr int kLanes = 32;
constexpr unsigned kAll = 0xFFFFFFFFu;

// Entries of each list that a merge holds in registers; entries that one thread searches for.
constexpr int kTile = 4, kAlone = 32;

template <class P, class I>
__device__ __forceinline__ void load(I (&tile)[kTile], const I* indices, P from, P end, I nothing) {
#pragma unroll
  for (int n = 0; n < kTile; ++n) tile[n] = from + n < end ? indices[from + n] : nothing;
}

// Calls `found(p, q)` for equal entries of two lists.
template <class P, class I, class Found>
__device__ __forceinline__ void merge(const I* indices, P x, P x_end, P y, P y_end, Found& found) {
  constexpr I kNoX = -1, kNoY = -2;
  I a[kTile], b[kTile];
  load(a, indices, x, x_end, kNoX);
  load(b, indices, y, y_end, kNoY);
  while (x < x_end && y < y_end) {
    unsigned equal = 0;
#pragma unroll
    for (int n = 0; n < kTile; ++n) {
#pragma unroll
      for (int m = 0; m < kTile; ++m) {
        if (a[n] == b[m]) equal |= 1u << (n * kTile + m);
      }
    }
    for (; equal != 0; equal &= equal - 1) {
      const int pair = __ffs(static_cast<int>(equal)) - 1;
      found(x + pair / kTile, y + pair % kTile);
    }
    // The list whose tile ends first goes on; both, if they end with the same entry.
    const bool more_x = x + kTile < x_end, more_y = y + kTile < y_end;
    const bool ends_x = !more_y || (more_x && a[kTile - 1] <= b[kTile - 1]);
    const bool ends_y = !more_x || (more_y && b[kTile - 1] <= a[kTile - 1]);
    if (ends_x) {
      x += kTile;
      load(a, indices, x, x_end, kNoX);
    }
    if (ends_y) {
      y += kTile;
      load(b, indices, y, y_end, kNoY);
    }
  }
}

// The same: the shorter list is walked by some lanes, the longer one searched.
template <class P, class I, class Found>
__device__ __forceinline__ void search(const I* indices, P x, P x_end, P y, P y_end, int lane,
                                       int lanes, Found& found) {
  const bool is_short = x_end - x <= y_end - y;
  const P end = is_short ? x_end : y_end, last = is_short ? y_end : x_end;
  P low = is_short ? y : x;
  for (P at = (is_short ? x : y) + lane; at < end; at += lanes) {
    const I w = indices[at];
    low = lower_bound(indices, low, last, w);
    if (low == last) return;
    if (indices[low] == w) found(is_short ? at : low, is_short ? low : at);
  }
}

// Calls `make(e)` for each entry e = (u, v), what it makes with p = (u, w) and q = (v, w) for each
// triangle, and its `finish(is_first)` by each lane that had a part. A warp takes 32 entries.
template <class P, class I, class Make>
__device__ __forceinline__ void for_each_triangle(long long nvals, const I* heads, const P* indptr,
                                                  const I* indices, long long alike,
                                                  const Make& make) {
  const Group<kLanes> group;
  for (long long base = group.first * kLanes; base < nvals; base += group.step * kLanes) {
    const bool is_entry = base + group.lane < nvals;
    const P e = is_entry ? static_cast<P>(base + group.lane) : 0;
    const I u = heads[e], v = indices[e];
    const P x = indptr[u], x_end = indptr[u + 1], y = indptr[v], y_end = indptr[v + 1];
    const P few = min(x_end - x, y_end - y), many = max(x_end - x, y_end - y);
    const bool is_alone = few <= kAlone || many < alike * few;
    if (is_entry && is_alone) {
      auto found = make(e);
      if (many < alike * few) {
        merge(indices, x, x_end, y, y_end, found);
      } else {
        search(indices, x, x_end, y, y_end, 0, 1, found);
      }
      found.finish(true);
    }
    unsigned left = __ballot_sync(kAll, is_entry && !is_alone);
    for (; left != 0; left &= left - 1) {
      const int owner = __ffs(static_cast<int>(left)) - 1;
      auto found = make(__shfl_sync(kAll, e, owner));
      search(indices, __shfl_sync(kAll, x, owner), __shfl_sync(kAll, x_end, owner),
             __shfl_sync(kAll, y, owner), __shfl_sync(kAll, y_end, owner), group.lane, kLanes,
             found);
      found.finish(group.lane == 0);
    }
  }
}

// An edge; what opposite sides of its triangles weigh goes to each corner, and itself to its ends.
template <class P, class I, class Weight>
struct Edge {
  const I* indices;
  const Weight& weight;
  long long *counts, *sums;
  I u, v;
  long long own, at_u = 0, at_v = 0;

  __device__ __forceinline__ void operator()(P p, P q) {
    at_u += weight(q);
    at_v += weight(p);
    atomic_add(&counts[indices[p]], own);
  }
  __device__ __forceinline__ void finish(bool is_first) const {
    if (at_u != 0) atomic_add(&counts[u], at_u);
    if (at_v != 0) atomic_add(&counts[v], at_v);
    if (!is_first) return;
    atomic_add(&sums[u], own);
    atomic_add(&sums[v], own);
  }
};

template <class P, class I, class Weight>
__device__ __forceinline__ void add_up(long long nvals, const I* heads, const P* indptr,
                                       const I* indices, long long alike, const Weight& weight,
                                       long long* counts, long long* sums) {
  for_each_triangle(nvals, heads, indptr, indices, alike, [&](P e) {
    return Edge<P, I, Weight>{indices, weight, counts, sums, heads[e], indices[e], weight(e)};
  });
}

}  // namespace corners

template <class P, class I>
__device__ void count_corners(long long items, const I* heads, const P* indptr, const I* indices,
                              long long alike, long long* counts, long long* sums) {
  corners::add_up(items, heads, indptr, indices, alike, [](P) { return 1LL; }, counts, sums);
}

template <class P, class I>
__device__ void weigh_corners(long long items, const I* heads, const P* indptr, const I* indices,
                              long long alike, const long long* values, long long* counts, long long* sums) {
  corners::add_up(items, heads, indptr, indices, alike, [=](P e) { return values[e]; }, counts, sums);
}

__device__ inline void share_pairs(long long items, const long long* counts,
                                   const long long* degrees, double* out) {
  const Group<1> mine;
  for (long long v = mine.first; v < items; v += mine.step) {
    const long long pairs = degrees[v] * (degrees[v] - 1);
    out[v] = static_cast<double>(2 * counts[v]) / static_cast<double>(max(pairs, 1LL));
  }
}
