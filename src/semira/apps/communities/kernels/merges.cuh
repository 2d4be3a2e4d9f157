// Refinement of Leiden; see merges.py.
#pragma once
#include "semira.apps.communities.kernels:tables.cuh"

template <class I, class W, class L, class K, class R>
struct Openings {
  using Sum = K;
  const I* indices;
  const W* weights;
  bool is_iso;
  long long seed, number;
  const L* groups;
  const K *strengths, *strengths_in;
  bool is_directed;
  L *labels, *sizes;
  K *totals, *totals_in, *outside;
  R* ranks;
  long long able;

  __device__ __forceinline__ bool wants(int v) const {
    ranks[v] = static_cast<R>(philox(number, v, 0, seed) >> 32);
    labels[v] = v;
    sizes[v] = 1;
    totals[v] = strengths[v];
    if (is_directed) totals_in[v] = strengths_in[v];
    return true;
  }
  __device__ __forceinline__ Sum look(int v, long long p) const {
    const int u = static_cast<int>(indices[p]);
    return u != v && groups[u] == groups[v] ? static_cast<Sum>(weights[is_iso ? 0 : p]) : Sum(0);
  }
  __device__ __forceinline__ void end(int v, Sum sum) {
    outside[v] = sum;
    if (sum > 0) ++able;
  }
};

template <class P, class I, class W, class L, class K, class R>
__device__ void begin_merges(long long items, const P* indptr, const I* indices, const W* weights,
                             bool is_iso, long long seed, long long number, long long few,
                             long long most, L* groups, const K* strengths, const K* strengths_in,
                             bool is_directed, L* labels, L* sizes, K* totals, K* totals_in,
                             K* outside, R* ranks, long long* state) {
  Openings<I, W, L, K, R> rows{indices,      weights,     is_iso, seed,   number, groups, strengths,
                               strengths_in, is_directed, labels, sizes,  totals, totals_in,
                               outside,      ranks,       0};
  visit_rows(items, indptr, rows);
  count_all(rows.able, &state[8]);
  if (block_number() != 0 || threadIdx.x != 0) return;
  state[4] = few;
  state[5] = most;
}

template <class P, class I, class W, class L, class K, class R>
struct PartChoices {
  using Sum = K;
  const P* indptr;
  const I* indices;
  const W* weights;
  bool is_iso;
  const L *groups, *labels, *sizes;
  const K *within, *totals, *strengths, *within_in, *totals_in, *strengths_in;
  bool is_directed;
  double pull;
  const K* outside;
  const R* ranks;
  long long turn;
  L* targets;

  __device__ __forceinline__ bool is_turn_of(int v) const {
    return (ranks[v] >> (turn >> 1) % 32 & 1u) == static_cast<unsigned>(turn & 1);
  }
  // Whether a vertex or part has as much weight to the rest of its group as is expected.
  __device__ __forceinline__ bool is_connected(int group, K links, long long part,
                                               long long part_in) const {
    const double share = __dmul_rn(static_cast<double>(part), pull);
    double least;
    if (is_directed) {
      const double share_in = __dmul_rn(static_cast<double>(part_in), pull);
      least = __dmul_rn(static_cast<double>(within_in[group] - part_in), share);
      least += __dmul_rn(static_cast<double>(within[group] - part), share_in);
    } else {
      least = __dmul_rn(static_cast<double>(within[group] - part), share);
    }
    return static_cast<double>(links) >= least;
  }
  __device__ __forceinline__ bool wants(int v) const {
    targets[v] = -1;
    if (labels[v] != v || sizes[v] != 1 || !is_turn_of(v)) return false;
    return is_connected(groups[v], outside[v], strengths[v], is_directed ? strengths_in[v] : 0);
  }
  __device__ __forceinline__ int halvings() const { return turn < 2 ? 0 : 2; }
  __device__ __forceinline__ long long first(int v) const { return indptr[v]; }
  __device__ __forceinline__ long long length(int v) const { return indptr[v + 1] - indptr[v]; }
  __device__ __forceinline__ int load(int v, long long p, int& label, Sum& weight) const {
    const int u = static_cast<int>(indices[p]);
    if (u == v || groups[u] != groups[v]) return 0;
    label = labels[u];
    if (sizes[label] == 1 && is_turn_of(label)) return 0;
    weight = static_cast<Sum>(weights[is_iso ? 0 : p]);
    return 1;
  }
  __device__ __forceinline__ Pick score(int v, int label, Sum sum, Sum) const {
    const double share = __dmul_rn(static_cast<double>(strengths[v]), pull);
    double score = static_cast<double>(sum);
    long long part_in = 0;
    if (is_directed) {
      part_in = totals_in[label];
      score -= __dmul_rn(static_cast<double>(part_in), share);
      score -= __dmul_rn(static_cast<double>(totals[label]),
                         __dmul_rn(static_cast<double>(strengths_in[v]), pull));
    } else {
      score -= __dmul_rn(static_cast<double>(totals[label]), share);
    }
    const bool fits =
        score >= 0 && is_connected(groups[v], outside[label], totals[label], part_in);
    return {score, fits ? label : -1};
  }
  __device__ __forceinline__ void finish(int v, const Pick& best) const { targets[v] = best.label; }
};

template <class P, class I, class W, class L, class K, class R>
__device__ void choose_merges(long long items, const P* indptr, const I* indices, const W* weights,
                              bool is_iso, L* groups, L* labels, L* sizes, K* within, K* totals,
                              K* strengths, K* within_in, K* totals_in, K* strengths_in,
                              bool is_directed, double pull, K* outside, R* ranks,
                              long long* state, L* targets, L* queue) {
  const PartChoices<P, I, W, L, K, R> rows{
      indptr,    indices,   weights,   is_iso,       groups,      labels, sizes,   within, totals,
      strengths, within_in, totals_in, strengths_in, is_directed, pull,   outside, ranks,  state[1],
      targets};
  best_of_rows(items, rows, queue, state);
}

// Rows that `choose_merges` left in the queue.
template <class P, class I, class W, class L, class K, class R>
__device__ void choose_long_merges(long long, const P* indptr, const I* indices, const W* weights,
                                   bool is_iso, L* groups, L* labels, L* sizes, K* within,
                                   K* totals, K* strengths, K* within_in, K* totals_in,
                                   K* strengths_in, bool is_directed, double pull, K* outside,
                                   R* ranks, long long* state, L* targets, L* queue,
                                   long long n, long long* picks, int* tickets) {
  const PartChoices<P, I, W, L, K, R> rows{
      indptr,    indices,   weights,   is_iso,       groups,      labels, sizes,   within, totals,
      strengths, within_in, totals_in, strengths_in, is_directed, pull,   outside, ranks,  state[1],
      targets};
  best_of_queue(rows, queue, state, n, picks, tickets);
}

template <class I, class W, class L, class K>
struct Mergers {
  using Sum = K;
  const I* indices;
  const W* weights;
  bool is_iso;
  const L* groups;
  L *labels, *sizes;
  K *totals, *strengths, *totals_in, *strengths_in;
  bool is_directed;
  K* outside;
  const L* targets;
  long long moved;

  __device__ __forceinline__ bool wants(int v) { return targets[v] >= 0; }
  __device__ __forceinline__ Sum look(int v, long long p) const {
    const int u = static_cast<int>(indices[p]), target = targets[v], there = targets[u];
    if (u == v || groups[u] != groups[v]) return 0;
    const Sum weight = static_cast<Sum>(weights[is_iso ? 0 : p]);
    if (there >= 0) return there == target ? 0 : weight;
    return labels[u] == target ? -weight : weight;
  }
  __device__ __forceinline__ void end(int v, Sum sum) {
    const int target = targets[v];
    labels[v] = target;
    sizes[v] = 0;
    atomic_add(&sizes[target], 1);
    atomic_add(&totals[target], strengths[v]);
    if (is_directed) atomic_add(&totals_in[target], strengths_in[v]);
    atomic_add(&outside[target], sum);
    ++moved;
  }
};

template <class P, class I, class W, class L, class K>
__device__ void merge(long long items, const P* indptr, const I* indices, const W* weights,
                      bool is_iso, L* groups, L* labels, L* sizes, K* totals, K* strengths,
                      K* totals_in, K* strengths_in, bool is_directed, K* outside, long long* state,
                      L* targets) {
  Mergers<I, W, L, K> mergers{indices,   weights,      is_iso,      groups,  labels,
                              sizes,     totals,       strengths,   totals_in, strengths_in,
                              is_directed, outside,    targets,     0};
  visit_rows(items, indptr, mergers);
  count_all(mergers.moved, &state[2]);
}
