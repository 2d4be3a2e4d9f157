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
  using Sum = K;
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
  __device__ __forceinline__ void visit(int i, long long p) const {
    const long long row = labels[i], column = labels[indices[p]];
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
  __device__ __forceinline__ void visit(int i, long long p) {
    if (labels[i] == labels[indices[p]]) total += static_cast<long long>(weights[is_iso ? 0 : p]);
  }
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

template <class L, class M>
__device__ void renumber(long long items, const L* labels, const M* numbers, L* dense) {
  const Group<1> mine;
  for (long long v = mine.first; v < items; v += mine.step) dense[v] = numbers[labels[v]] - 1;
}

template <class M, class K>
__device__ void gather_totals(long long items, const M* marks, const M* numbers, const K* totals,
                              const K* totals_in, bool is_directed, K* strengths, K* strengths_in) {
  const Group<1> mine;
  for (long long label = mine.first; label < items; label += mine.step) {
    if (marks[label] == 0) continue;
    strengths[numbers[label] - 1] = totals[label];
    if (is_directed) strengths_in[numbers[label] - 1] = totals_in[label];
  }
}

constexpr long long kNoKey = 0x7FFFFFFFFFFFFFFFll;

template <class M>
__device__ void begin_groups(long long items, const long long* keys, M* begins) {
  const Group<1> mine;
  for (long long i = mine.first; i < items; i += mine.step) {
    begins[i] = keys[i] != kNoKey && (i == 0 || keys[i] != keys[i - 1]) ? 1 : 0;
  }
}

template <class M, class O, class W, class P, class I, class K>
__device__ void fill_groups(long long items, const long long* keys, const M* groups, const O* order,
                            bool is_ordered, const W* weights, bool is_iso, long long count,
                            P* indptr, I* indices, K* sums) {
  const Group<1> mine;
  for (long long i = mine.first; i < items; i += mine.step) {
    const long long key = keys[i];
    if (key == kNoKey) continue;
    const P place = static_cast<P>(groups[i]) - 1;
    const long long row = key / count;
    if (i == 0 || keys[i - 1] != key) {
      indices[place] = static_cast<I>(key % count);
      for (long long r = i == 0 ? 0 : keys[i - 1] / count + 1; r <= row; ++r) indptr[r] = place;
    }
    if (i + 1 == items || keys[i + 1] == kNoKey) {
      for (long long r = row + 1; r <= count; ++r) indptr[r] = place + 1;
    }
    const long long at = is_iso ? 0 : is_ordered ? static_cast<long long>(order[i]) : i;
    atomic_add(&sums[place], static_cast<K>(weights[at]));
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
  __device__ __forceinline__ void visit(int v, long long p) const {
    const int u = static_cast<int>(indices[p]);
    if (u >= v || labels[u] != labels[v]) return;
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
