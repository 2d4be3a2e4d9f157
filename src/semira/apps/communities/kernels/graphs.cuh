// Weights, contraction and what proves a result; see graphs.py.
#pragma once
#include "semira.apps.communities.kernels:rows.cuh"

__device__ __forceinline__ unsigned long long mixed_pair(unsigned long long a, unsigned long long b) {
  unsigned long long x = a * 0x9E3779B97F4A7C15ull + b * 0xC2B2AE3D27D4EB4Full;
  x = (x ^ x >> 32) * 0xD6E8FEB86659FD93ull;
  x = (x ^ x >> 32) * 0xD6E8FEB86659FD93ull;
  return x ^ x >> 32;
}

template <class I, class W, class K>
struct Measured {
  using Sum = K;
  const I* indices;
  const W* weights;
  bool is_iso;
  K *strengths, *strengths_in;
  bool is_directed;
  long long total;
  unsigned long long odd;

  __device__ __forceinline__ bool wants(int) const { return true; }
  __device__ __forceinline__ Sum look(int i, long long p) {
    const int j = static_cast<int>(indices[p]);
    const Sum weight = static_cast<Sum>(weights[is_iso ? 0 : p]);
    if (is_directed) {
      atomic_add(&strengths_in[j], weight);
    } else if (i != j) {
      const unsigned long long low = i < j ? i : j, high = i < j ? j : i;
      const unsigned long long bits =
          mixed_pair(low * 0x100000000ull + high, static_cast<unsigned long long>(weight));
      odd += i < j ? bits : 0 - bits;
    }
    return weight;
  }
  __device__ __forceinline__ void end(int v, Sum sum) {
    strengths[v] = sum;
    total += sum;
  }
};

template <class P, class I, class W, class K>
__device__ void measure(long long items, const P* indptr, const I* indices, const W* weights,
                        bool is_iso, K* strengths, K* strengths_in, bool is_directed,
                        long long* sums) {
  Measured<I, W, K> rows{indices, weights, is_iso, strengths, strengths_in, is_directed, 0, 0};
  visit_rows(items, indptr, rows);
  count_all(rows.total, &sums[0]);
  count_all(static_cast<long long>(rows.odd), &sums[1]);
}

template <class I, class L>
struct Keyed {
  using Sum = Nothing;
  const I* indices;
  const L* labels;
  long long count;
  bool keeps_own;
  long long* keys;

  __device__ __forceinline__ bool wants(int) const { return true; }
  __device__ __forceinline__ int look(int, long long p) const { return labels[indices[p]]; }
  __device__ __forceinline__ void act(int i, long long p, int column) const {
    const long long row = labels[i];
    keys[p] = row == column && !keeps_own ? 0x7FFFFFFFFFFFFFFFll : row * count + column;
  }
};

template <class P, class I, class L>
__device__ void pair_keys(long long items, const P* indptr, const I* indices, const L* labels,
                          long long count, bool keeps_own, long long* keys) {
  Keyed<I, L> rows{indices, labels, count, keeps_own, keys};
  visit_rows(items, indptr, rows);
}

template <class I, class W, class L>
struct Inner {
  using Sum = Nothing;
  const I* indices;
  const W* weights;
  bool is_iso;
  const L* labels;
  long long total;

  __device__ __forceinline__ bool wants(int) const { return true; }
  __device__ __forceinline__ int look(int i, long long p) {
    if (labels[i] == labels[indices[p]]) total += static_cast<long long>(weights[is_iso ? 0 : p]);
    return -1;
  }
  __device__ __forceinline__ void act(int, long long, int) const {}
};

template <class P, class I, class W, class L>
__device__ void inner_weights(long long items, const P* indptr, const I* indices, const W* weights,
                              bool is_iso, const L* labels, long long* sums) {
  Inner<I, W, L> rows{indices, weights, is_iso, labels, 0};
  visit_rows(items, indptr, rows);
  count_all(rows.total, &sums[0]);
}

template <class L, class V, class S>
__device__ void add_by_label(long long items, const L* labels, const V* values, S* sums) {
  const Group<1> mine;
  const long long lane = threadIdx.x % kWarp;
  for (long long i = mine.first; i - lane < items; i += mine.step) {
    // Neighbours often have one label.
    const bool has = i < items;
    add_runs(has ? static_cast<long long>(labels[i]) : -1, has ? static_cast<S>(values[i]) : S(0), sums);
  }
}

// The root of a tree, while other threads hang roots below others. Vertices on the way are hung one
// step higher: what another thread hung there is united with what was above, so nothing is lost.
template <class L>
__device__ __forceinline__ int root_of(L* parents, int v) {
  volatile L* const above = parents;
  int parent = above[v];
  while (parent != v) {
    const int next = above[parent];
    if (next != parent) above[v] = next;
    v = parent;
    parent = next;
  }
  return v;
}

template <class I, class L>
struct United {
  using Sum = Nothing;
  const I* indices;
  const L* labels;
  L* parents;

  __device__ __forceinline__ bool wants(int) const { return true; }
  __device__ __forceinline__ int look(int v, long long p) const {
    const int u = static_cast<int>(indices[p]);
    if (u >= v || labels[u] != labels[v]) return -1;
    // Those with one parent are in one tree.
    const volatile L* const above = parents;
    return above[u] != above[v] ? u : -1;
  }
  __device__ __forceinline__ void act(int v, long long, int u) const {
    int a = root_of(parents, v), b = root_of(parents, u);
    while (a != b) {
      if (a < b) {
        const int c = a;
        a = b;
        b = c;
      }
      const int before = atomicMin(&parents[a], b);
      a = before == a ? b : before;
    }
  }
};

template <class P, class I, class L>
__device__ void unite(long long items, const P* indptr, const I* indices, const L* labels,
                      L* parents) {
  United<I, L> rows{indices, labels, parents};
  visit_rows(items, indptr, rows);
}

// Each vertex is written once, by its own thread: not by `root_of`, which could write the parent that
// it read before over the root.
template <class L>
__device__ void flatten(long long items, L* parents) {
  const Group<1> mine;
  volatile L* const above = parents;
  for (long long v = mine.first; v < items; v += mine.step) {
    L root = above[v];
    for (L next = above[root]; next != root; next = above[root]) root = next;
    above[v] = root;
  }
}
