// Triangles along an acyclic orientation of the edges. See corners.py.
#pragma once

namespace corners {

constexpr int kLanes = 32;
constexpr unsigned kAll = 0xFFFFFFFFu;

// Entries of each list that a merge holds in registers; entries that one thread searches for.
constexpr int kTile = 4, kAlone = 32;

// Warps of a block, and entries for which each keeps a sum.
constexpr int kWarps = 8, kNear = 256;

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

// Sums of a warp for the entries near those that it takes: in shared memory, since its lanes change
// the same ones, and what is added to a vertex in the end is one sum in place of many.
template <class P, class T>
struct Near {
  T* sums;
  P first = 0;

  // False: the entry is too far away.
  __device__ __forceinline__ bool add(P p, T x) const {
    const P place = p - first;
    if (place >= kNear) return false;
    atomicAdd(&sums[place], x);
    return true;
  }
};

// Calls `make(e, near)` for each entry e = (u, v), what it makes with p = (u, w) and q = (v, w) for
// each triangle, and its `finish(is_first)` by each lane that had a part; then `flush(p, sum)`. A
// warp takes 32 entries.
template <class T, class P, class I, class Make, class Flush>
__device__ __forceinline__ void for_each_triangle(long long nvals, const I* heads, const P* indptr,
                                                  const I* indices, long long alike,
                                                  const Make& make, const Flush& flush) {
  __shared__ T sums[kWarps][kNear];
  const Group<kLanes> group;
  Near<P, T> near{sums[threadIdx.x / kLanes]};
  for (int k = group.lane; k < kNear; k += kLanes) near.sums[k] = 0;
  __syncwarp();
  for (long long base = group.first * kLanes; base < nvals; base += group.step * kLanes) {
    const bool is_entry = base + group.lane < nvals;
    const P e = static_cast<P>(is_entry ? base + group.lane : nvals - 1);
    const I u = heads[e], v = indices[e];
    const P x = indptr[u], x_end = indptr[u + 1], y = indptr[v], y_end = indptr[v + 1];
    const P few = min(x_end - x, y_end - y), many = max(x_end - x, y_end - y);
    const bool is_alone = few <= kAlone || many < alike * few;
    near.first = __shfl_sync(kAll, x, 0);
    if (is_entry && is_alone) {
      auto found = make(e, near);
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
      auto found = make(__shfl_sync(kAll, e, owner), near);
      search(indices, __shfl_sync(kAll, x, owner), __shfl_sync(kAll, x_end, owner),
             __shfl_sync(kAll, y, owner), __shfl_sync(kAll, y_end, owner), group.lane, kLanes,
             found);
      found.finish(group.lane == 0);
    }
    __syncwarp();
    const P length = __shfl_sync(kAll, x_end, kLanes - 1) - near.first;
    for (int k = group.lane; k < kNear && k < length; k += kLanes) {
      const T sum = near.sums[k];
      if (sum == 0) continue;
      flush(near.first + k, sum);
      near.sums[k] = 0;
    }
    __syncwarp();
  }
}

// An edge; what opposite sides of its triangles weigh goes to each corner, and itself to its ends.
template <class P, class I, class T, class Weight>
struct Edge {
  const Weight& weight;
  const Near<P, T>& near;
  const I* indices;
  long long* counts;
  I u, v;
  long long own, times, at_u = 0, at_v = 0;

  __device__ __forceinline__ void operator()(P p, P q) {
    at_u += weight(q);
    at_v += weight(p);
    if (!near.add(p, static_cast<T>(own))) atomic_add(&counts[indices[p]], own);
  }
  __device__ __forceinline__ void finish(bool is_first) {
    const long long mine = is_first ? times * own : 0;
    if (at_u + mine != 0) atomic_add(&counts[u], at_u + mine);
    if (at_v + mine != 0) atomic_add(&counts[v], at_v + mine);
  }
};

template <class T, class P, class I, class Weight>
__device__ __forceinline__ void add_up(long long nvals, const I* heads, const P* indptr,
                                       const I* indices, long long alike, const Weight& weight,
                                       long long times, long long* counts) {
  for_each_triangle<T>(
      nvals, heads, indptr, indices, alike,
      [&](P e, const Near<P, T>& near) {
        return Edge<P, I, T, Weight>{weight,   near,       indices,   counts,
                                     heads[e], indices[e], weight(e), times};
      },
      [&](P p, T sum) { atomic_add(&counts[indices[p]], static_cast<long long>(sum)); });
}

}  // namespace corners

template <class P, class I>
__device__ void count_corners(long long items, const I* heads, const P* indptr, const I* indices,
                              long long alike, long long times, long long* counts) {
  corners::add_up<unsigned>(items, heads, indptr, indices, alike, [](P) { return 1LL; }, times,
                            counts);
}

template <class P, class I>
__device__ void weigh_corners(long long items, const I* heads, const P* indptr, const I* indices,
                              long long alike, const long long* values, long long times,
                              long long* counts) {
  corners::add_up<unsigned long long>(
      items, heads, indptr, indices, alike, [=](P e) { return values[e]; }, times, counts);
}

__device__ inline void share_pairs(long long items, const long long* counts,
                                   const long long* degrees, double* out) {
  const Group<1> mine;
  for (long long v = mine.first; v < items; v += mine.step) {
    const long long pairs = degrees[v] * (degrees[v] - 1);
    out[v] = static_cast<double>(2 * counts[v]) / static_cast<double>(max(pairs, 1LL));
  }
}
