// Local moves; see moves.py. Products are rounded by themselves, as on hosts: no fused multiply-add.
#pragma once
#include "semira.apps.communities.kernels:tables.cuh"

template <class L, class K, class R>
__device__ void begin_moves(long long items, long long seed, long long number, bool alone,
                            long long few, long long most, long long delay, const K* strengths,
                            const K* strengths_in, bool is_directed, L* labels, K* totals,
                            K* totals_in, R* ranks, signed char* active, L* targets,
                            long long* state) {
  const Group<1> mine;
  for (long long v = mine.first; v < items; v += mine.step) {
    ranks[v] = static_cast<R>(philox(number, v, 0, seed) >> 32);
    active[v] = 1;
    targets[v] = -1;
    totals[v] = alone ? strengths[v] : K(0);
    if (is_directed) totals_in[v] = alone ? strengths_in[v] : K(0);
    if (alone) labels[v] = static_cast<L>(v);
    if (v == 0) {
      for (int k = 0; k < 9; ++k) state[k] = 0;
      state[4] = few;
      state[5] = most;
      state[7] = delay;
      state[8] = alone;
    }
  }
}

template <class P, class I, class W, class L, class K, class R>
struct Neighbourhoods {
  using Sum = K;
  const P* indptr;
  const I* indices;
  const W* weights;
  bool is_iso;
  const L* labels;
  const K *totals, *strengths, *totals_in, *strengths_in;
  bool is_directed;
  double pull;
  const R* ranks;
  long long turn, delay, alone;
  signed char* active;
  L* targets;

  __device__ __forceinline__ bool wants(int v) const {
    targets[v] = -1;
    if (active[v] == 0) return false;
    if (turn < delay && length(v) > 1024) return false;
    if ((ranks[v] >> (turn >> 1) % 32 & 1u) != static_cast<unsigned>(turn & 1)) return false;
    active[v] = 0;
    return true;
  }
  // Communities grow: on cnr-2000 a hub of 18,236 neighbours has 3,213 around it in the fifth round,
  // and 1,102 in the ninth.
  __device__ __forceinline__ int halvings() const {
    return alone == 0 ? 31 : turn < 4 ? 0 : turn < 8 ? 2 : 4;
  }
  __device__ __forceinline__ long long first(int v) const { return indptr[v]; }
  __device__ __forceinline__ long long length(int v) const { return indptr[v + 1] - indptr[v]; }
  __device__ __forceinline__ int load(int v, long long p, int& label, Sum& weight) const {
    const int u = static_cast<int>(indices[p]);
    if (u == v) return 0;
    label = labels[u];
    weight = static_cast<Sum>(weights[is_iso ? 0 : p]);
    return label == labels[v] ? 2 : 1;
  }
  __device__ __forceinline__ double gain(Sum sum, long long total, long long total_in, double share,
                                         double share_in) const {
    double score = static_cast<double>(sum);
    if (is_directed) {
      score -= __dmul_rn(static_cast<double>(total_in), share);
      return score - __dmul_rn(static_cast<double>(total), share_in);
    }
    return score - __dmul_rn(static_cast<double>(total), share);
  }
  __device__ __forceinline__ Pick score(int v, int label, Sum sum, Sum own) const {
    const long long strength = strengths[v], inwards = is_directed ? strengths_in[v] : 0;
    const double share = __dmul_rn(static_cast<double>(strength), pull);
    const double share_in = __dmul_rn(static_cast<double>(inwards), pull);
    const int at = labels[v];
    const double stays = gain(own, totals[at] - strength,
                              is_directed ? totals_in[at] - inwards : 0, share, share_in);
    const double moves = gain(sum, totals[label], is_directed ? totals_in[label] : 0, share, share_in);
    return {moves, moves > stays ? label : -1};
  }
  __device__ __forceinline__ void finish(int v, const Pick& best) const { targets[v] = best.label; }
};

template <class P, class I, class W, class L, class K, class R>
__device__ void choose(long long items, const P* indptr, const I* indices, const W* weights,
                       bool is_iso, L* labels, K* totals, K* strengths, K* totals_in,
                       K* strengths_in, bool is_directed, double pull, R* ranks, long long* state,
                       signed char* active, L* targets, L* queue) {
  const Neighbourhoods<P, I, W, L, K, R> rows{
      indptr,       indices,     weights, is_iso, labels,   totals, strengths, totals_in,
      strengths_in, is_directed, pull,    ranks,  state[1], state[7], state[8],
      active,       targets};
  best_of_rows(items, rows, queue, state);
}

// Rows that `choose` left in the queue.
template <class P, class I, class W, class L, class K, class R>
__device__ void choose_long(long long, const P* indptr, const I* indices, const W* weights,
                            bool is_iso, L* labels, K* totals, K* strengths, K* totals_in,
                            K* strengths_in, bool is_directed, double pull, R* ranks,
                            long long* state, signed char* active, L* targets, L* queue,
                            long long n, long long* picks, int* tickets) {
  const Neighbourhoods<P, I, W, L, K, R> rows{
      indptr,       indices,     weights, is_iso, labels,   totals, strengths, totals_in,
      strengths_in, is_directed, pull,    ranks,  state[1], state[7], state[8],
      active,       targets};
  best_of_queue(rows, queue, state, n, picks, tickets);
}

template <class P, class I, class L, class K>
struct Movers {
  using Sum = Nothing;
  const I* indices;
  L* labels;
  K *totals, *strengths, *totals_in, *strengths_in;
  bool is_directed;
  signed char* active;
  const L* targets;
  long long moved;

  __device__ __forceinline__ bool wants(int v) {
    const int target = targets[v];
    if (target < 0) return false;
    const int own = labels[v];
    atomic_add(&totals[own], -static_cast<long long>(strengths[v]));
    atomic_add(&totals[target], strengths[v]);
    if (is_directed) {
      atomic_add(&totals_in[own], -static_cast<long long>(strengths_in[v]));
      atomic_add(&totals_in[target], strengths_in[v]);
    }
    labels[v] = target;
    ++moved;
    return true;
  }
  __device__ __forceinline__ int look(int v, long long p) const {
    const int u = static_cast<int>(indices[p]);
    const int there = targets[u], stays = labels[u];
    return (there < 0 ? stays : there) != targets[v] ? u : -1;
  }
  __device__ __forceinline__ void act(int, long long, int u) const { active[u] = 1; }
};

template <class P, class I, class L, class K>
__device__ void move(long long items, const P* indptr, const I* indices, L* labels, K* totals,
                     K* strengths, K* totals_in, K* strengths_in, bool is_directed,
                     long long* state, signed char* active, L* targets) {
  Movers<P, I, L, K> movers{indices,     labels, totals,  strengths, totals_in, strengths_in,
                            is_directed, active, targets, 0};
  visit_rows(items, indptr, movers);
  count_all(movers.moved, &state[2]);
}

__device__ __forceinline__ void decide(long long, long long* state) {
  state[1] += 1;
  state[kQueued] = 0;
  if ((state[1] & 1) != 0) return;
  if ((state[2] <= state[4] && state[1] > state[7]) || state[1] >= state[5]) state[0] = 1;
  state[3] += state[2];
  state[2] = 0;
}
