// Values of entries that are being built: cast, and folded where a position repeats.
#pragma once
#include "common/grid.cuh"
#include "common/helpers.cuh"
#include "matrix/entries.cuh"

// Entries of a run that one thread folds; a warp shares out longer ones where it may regroup.
constexpr long long kLongRun = 64;

template <class To, class From>
__device__ void cast_values(const void* in, long long n, void* out) {
  for (const long long e : items_below(n)) {
    static_cast<To*>(out)[e] = cast<To>(static_cast<const From*>(in)[e]);
  }
}

// Folds the values of entries [first, end) of a list in their order; there is at least one.
template <class Op, class W>
SEMIRA_INLINE typename Op::T fold_range(
    const W* values, const long long* order, long long first, long long end) {
  using T = typename Op::T;
  T total = cast<T>(values[order[first]]);
  for (long long e = first + 1; e < end; ++e) {
    total = cast<T>(Op::apply(total, cast<T>(values[order[e]]), 0, 0, 0));
  }
  return total;
}

// The lanes fold neighbouring shares of a run; lane 0 gets the whole.
template <class Op, class W>
SEMIRA_INLINE typename Op::T fold_together(
    const W* values, const long long* order, long long first, long long end, unsigned lane) {
  using T = typename Op::T;
  const long long share = (end - first + kWarp - 1) / kWarp;
  const long long own = first + lane * share;
  const long long own_end = own + share < end ? own + share : end;
  bool has = own < own_end;
  T total{};
  if (has) total = fold_range<Op>(values, order, own, own_end);
#pragma unroll
  for (unsigned step = 1; step < kWarp; step *= 2) {
    const int source = static_cast<int>((lane + step) % kWarp);
    const T next = shuffle(total, source);
    const bool follows = __shfl_sync(kAllLanes, has, source) && lane + step < kWarp;
    // A lane with a follower has entries itself.
    if (follows) total = cast<T>(Op::apply(total, next, 0, 0, 0));
  }
  return total;
}

// One value for each run of equal positions. `starts` says where the runs begin among `n` entries.
template <class Op, bool kRegroups, class W>
__device__ void fold_runs(const void* given, const long long* order, const long long* starts,
    long long runs, long long n, void* out) {
  const W* values = static_cast<const W*>(given);
  W* const folded = static_cast<W*>(out);
  const Span span;
  const unsigned lane = threadIdx.x % kWarp;
  for (long long base = span.first - lane; base < runs; base += span.step) {
    const long long run = base + lane;
    const bool mine = run < runs;
    const long long first = mine ? starts[run] : 0;
    const long long end = !mine ? 0 : (run + 1 < runs ? starts[run + 1] : n);
    const bool is_long = kRegroups && end - first > kLongRun;
    if (mine && !is_long) folded[run] = cast<W>(fold_range<Op>(values, order, first, end));
    if constexpr (kRegroups) {
      for (const int source : SetBits{__ballot_sync(kAllLanes, is_long)}) {
        const auto total = fold_together<Op>(values, order, __shfl_sync(kAllLanes, first, source),
            __shfl_sync(kAllLanes, end, source), lane);
        if (lane == 0) folded[base + source] = cast<W>(total);
      }
    }
  }
}
