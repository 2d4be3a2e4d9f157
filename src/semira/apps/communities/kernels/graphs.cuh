// Weights, contraction and what proves a result; see graphs.py.
#pragma once
#include "semira.apps.communities.kernels:tables.cuh"

__device__ __forceinline__ unsigned long long mixed_pair(unsigned long long a, unsigned long long b) {
  unsigned long long x = a * 0x9E3779B97F4A7C15ull + b * 0xC2B2AE3D27D4EB4Full;
  x = (x ^ x >> 32) * 0xD6E8FEB86659FD93ull;
  x = (x ^ x >> 32) * 0xD6E8FEB86659FD93ull;
  return x ^ x >> 32;
}

template <class I, class W, class K>
struct Measured {
  using Sum = long long;
  const I* indices;
  const W* weights;
  bool is_iso;
  K *strengths, *strengths_in;
  bool is_directed;
  long long total;
  unsigned long long odd;

  __device__ __forceinline__ bool wants(int) const { return true; }
  __device__ __forceinline__ Sum visit(int i, long long p) {
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
    strengths[v] = static_cast<K>(sum);
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
  using Sum = int;
  const I* indices;
  const L* labels;
  long long count;
  bool keeps_own;
  long long* keys;

  __device__ __forceinline__ bool wants(int) const { return true; }
  __device__ __forceinline__ int visit(int i, long long p) const {
    const long long row = labels[i], column = labels[indices[p]];
    keys[p] = row == column && !keeps_own ? 0x7FFFFFFFFFFFFFFFll : row * count + column;
    return 0;
  }
  __device__ __forceinline__ void end(int, int) const {}
};

template <class P, class I, class L>
__device__ void pair_keys(long long items, const P* indptr, const I* indices, const L* labels,
                          long long count, bool keeps_own, long long* keys) {
  Keyed<I, L> rows{indices, labels, count, keeps_own, keys};
  visit_rows(items, indptr, rows);
}

template <class I, class W, class L>
struct Inner {
  using Sum = long long;
  const I* indices;
  const W* weights;
  bool is_iso;
  const L* labels;
  long long total;

  __device__ __forceinline__ bool wants(int) const { return true; }
  __device__ __forceinline__ Sum visit(int i, long long p) const {
    return labels[i] == labels[indices[p]] ? static_cast<Sum>(weights[is_iso ? 0 : p]) : 0;
  }
  __device__ __forceinline__ void end(int, Sum sum) { total += sum; }
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
  for (long long i = mine.first; i < items; i += mine.step) atomic_add(&sums[labels[i]], values[i]);
}

template <class L, class M>
__device__ void mark(long long items, const L* labels, M* marks) {
  const Group<1> mine;
  for (long long i = mine.first; i < items; i += mine.step) marks[labels[i]] = 1;
}

// The root of a tree, while other threads hang roots below others.
template <class L>
__device__ __forceinline__ int root_of(const L* parents, int v) {
  int above = *static_cast<const volatile L*>(&parents[v]);
  while (above != v) {
    v = above;
    above = *static_cast<const volatile L*>(&parents[v]);
  }
  return v;
}

template <class I, class L>
struct United {
  using Sum = int;
  const I* indices;
  const L* labels;
  L* parents;

  __device__ __forceinline__ bool wants(int) const { return true; }
  __device__ __forceinline__ int visit(int v, long long p) const {
    const int u = static_cast<int>(indices[p]);
    if (u >= v || labels[u] != labels[v]) return 0;
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
    return 0;
  }
  __device__ __forceinline__ void end(int, int) const {}
};

template <class P, class I, class L>
__device__ void unite(long long items, const P* indptr, const I* indices, const L* labels,
                      L* parents) {
  United<I, L> rows{indices, labels, parents};
  visit_rows(items, indptr, rows);
}

template <class L>
__device__ void flatten(long long items, L* parents) {
  const Group<1> mine;
  for (long long v = mine.first; v < items; v += mine.step) {
    parents[v] = root_of(parents, static_cast<int>(v));
  }
}
