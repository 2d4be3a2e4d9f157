// Edges that leave a truss round by round. See truss.py, which says what `state` holds.
#pragma once
#include "semira.algorithms.kernels:corners.cuh"

namespace truss {

enum Word { kOver, kBegin, kEnd, kNext, kRound };

template <class P>
struct Support {
  const corners::Near<P, int>& near;
  int* support;
  P e;
  int mine = 0;

  __device__ __forceinline__ void add(P p, int x) const {
    if (!near.add(p, x)) atomic_add(&support[p], x);
  }
  __device__ __forceinline__ void operator()(P p, P q) {
    ++mine;
    add(p, 1);
    atomic_add(&support[q], 1);
  }
  __device__ __forceinline__ void finish(bool) const {
    if (mine != 0) add(e, mine);
  }
};

}  // namespace truss

template <class P, class I>
__device__ void count_support(long long items, const I* heads, const P* indptr, const I* indices,
                              long long alike, int* support) {
  corners::for_each_triangle<int>(
      items, heads, indptr, indices, alike,
      [=](P e, const corners::Near<P, int>& near) { return truss::Support<P>{near, support, e}; },
      [=](P p, int sum) { atomic_add(&support[p], sum); });
}

template <class E>
__device__ void list_weak(long long items, long long least, const int* support, int* leaves,
                          E* queue, long long* state) {
  const Group<1> mine;
  for (long long e = mine.first; e < items; e += mine.step) {
    if (support[e] >= least) continue;
    leaves[e] = 1;
    queue[atomic_add(&state[truss::kNext], 1)] = static_cast<E>(e);
  }
}

// A warp for each edge that leaves: the shorter row of its ends is walked, the longer one searched.
template <class P, class I, class E>
__device__ void drop(long long items, long long least, const I* heads, const I* tails,
                     const P* indptr, const I* indices, const E* numbers, int* support, int* leaves,
                     E* queue, long long* state) {
  using namespace truss;
  const Group<corners::kLanes> warp;
  const long long begin = state[kBegin], end = state[kEnd];
  const int round = static_cast<int>(state[kRound]);
  const auto take_off = [&](E f) {
    if (atomic_add(&support[f], -1) != least) return;
    leaves[f] = round + 1;
    queue[atomic_add(&state[kNext], 1)] = f;
  };
  for (long long i = begin + warp.first; i < end; i += warp.step) {
    const E e = queue[i];
    const I a = heads[e], b = tails[e];
    const bool is_short = indptr[a + 1] - indptr[a] <= indptr[b + 1] - indptr[b];
    const I walked = is_short ? a : b, searched = is_short ? b : a;
    const P walked_end = indptr[walked + 1], last = indptr[searched + 1];
    P low = indptr[searched];
    // Triangles that it is still in.
    int left = support[e];
    for (P base = indptr[walked]; base < walked_end && left > 0; base += corners::kLanes) {
      const P p = base + warp.lane;
      bool is_triangle = false;
      if (p < walked_end) {
        low = lower_bound(indices, low, last, indices[p]);
        is_triangle = low < last && indices[low] == indices[p];
      }
      if (is_triangle) {
        const E f = numbers[p], g = numbers[low];
        const int f_leaves = leaves[f], g_leaves = leaves[g];
        // Those that go now or later are there; of those that go now the first one takes it off.
        is_triangle = (f_leaves == 0 || f_leaves >= round) && (g_leaves == 0 || g_leaves >= round);
        if (is_triangle && !(f_leaves == round && f < e) && !(g_leaves == round && g < e)) {
          if (f_leaves != round) take_off(f);
          if (g_leaves != round) take_off(g);
        }
      }
      left -= __popc(__ballot_sync(corners::kAll, is_triangle));
    }
  }
}

template <class P, class I, class E>
__device__ void decide(long long items, long long least, const I* heads, const I* tails,
                       const P* indptr, const I* indices, const E* numbers, const int* support,
                       const int* leaves, const E* queue, long long few, long long budget,
                       long long* state) {
  using namespace truss;
  if (Group<1>().first != 0) return;
  ++state[kRound];
  state[kBegin] = state[kEnd];
  state[kEnd] = state[kNext];
  state[kOver] = state[kBegin] == state[kEnd];
}
