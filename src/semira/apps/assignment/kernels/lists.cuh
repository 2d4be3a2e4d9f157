// The best columns of each row of an auction: in its list, or in all its costs. See auction.py.
#pragma once
#include "semira.apps.assignment.kernels:row.cuh"

// Threads of a block.
constexpr int kThreads = 512;

// What a column that may not be chosen is worth.
constexpr long long kNever = -4611686018427387904ll;

__device__ __forceinline__ unsigned mixed(long long i, long long j) {
  unsigned h = static_cast<unsigned>(i * 2654435761ll + j * 2246822519ll);
  h = (h ^ (h >> 15)) * 3266489917u;
  return (h ^ (h >> 13)) & 2147483647u;
}

__device__ __forceinline__ long long worth(double given, double factor, long long unit) {
  const double found = floor(__dmul_rn(factor, given) + 0.5);
  return fabs(found) < 4611686018427387904.0 ? static_cast<long long>(found) * unit : kNever;
}

// A column that a row may bid for: what it is worth less its price, and what decides among equals,
// the hash and then the smaller column. Nothing is {kNever, 0}.
struct Choice {
  long long value;
  unsigned long long tie;

  __device__ bool above(const Choice& other) const {
    return value > other.value || (value == other.value && tie > other.tie);
  }
  __device__ bool any() const { return tie != 0; }
  __device__ long long column() const { return ~static_cast<unsigned>(tie); }
};

constexpr Choice kNothing{kNever, 0};

__device__ __forceinline__ Choice choice_of(long long i, long long j, long long value) {
  const unsigned long long tie =
      static_cast<unsigned long long>(mixed(i, j)) << 32 | ~static_cast<unsigned>(j);
  return {max(value, kNever), value > kNever ? tie : 0};
}

// The best three of what one thread has seen.
struct BestThree {
  Choice first = kNothing, second = kNothing, third = kNothing;

  __device__ void take(const Choice& one) {
    // Without branches, so that threads take several at once.
    const bool best = one.above(first), better = one.above(second);
    third = better ? second : one.above(third) ? one : third;
    second = best ? first : better ? one : second;
    first = best ? one : first;
  }
};

// What a row wants: its best column, what that is worth and who holds it, and both best values.
struct Want {
  Choice first;
  long long second, worth;
  int owner;

  __device__ long long raised(long long eps) const {
    return second > kNever ? first.value - second + eps : eps;
  }
  __device__ bool fits(long long eps) const {
    return first.any() && raised(eps) <= 4611686018427387903ll - (worth - first.value);
  }
};

// Columns in the list of a row. A list with fewer than kSpare above its edge is made anew while all
// blocks are at work, so that one block alone seldom has to.
constexpr int kKept = 64, kSpare = 32;

// The best columns of each row when it was last read whole, and the best of the others: prices only
// rise, so these stay below that. Until then a row has no list.
struct Lists {
  int* column;
  long long* worth;
  long long* edge;
};

// The greatest of a warp's values.
__device__ __forceinline__ long long greatest(long long value) {
  const unsigned long long all = static_cast<unsigned long long>(value) ^ (1ull << 63);
  const unsigned high = __reduce_max_sync(kAllLanes, static_cast<unsigned>(all >> 32));
  const unsigned low = __reduce_max_sync(
      kAllLanes, static_cast<unsigned>(all >> 32) == high ? static_cast<unsigned>(all) : 0u);
  return static_cast<long long>((static_cast<unsigned long long>(high) << 32 | low) ^ (1ull << 63));
}

// The lane of a warp that has the best choice.
__device__ inline int lane_of_best(const Choice& mine) {
  const long long most = greatest(mine.value);
  unsigned who = __ballot_sync(kAllLanes, mine.value == most);
  if (__popc(who) > 1) {
    const unsigned hash = mine.value == most ? static_cast<unsigned>(mine.tie >> 32) : 0u;
    const unsigned top = __reduce_max_sync(kAllLanes, hash);
    const bool left = mine.value == most && hash == top;
    const unsigned last =
        __reduce_max_sync(kAllLanes, left ? static_cast<unsigned>(mine.tie) : 0u);
    who = __ballot_sync(kAllLanes, left && static_cast<unsigned>(mine.tie) == last);
  }
  return __ffs(static_cast<int>(who)) - 1;
}

__device__ __forceinline__ Choice best_of_warp(const Choice& mine) {
  const int lane = lane_of_best(mine);
  return {__shfl_sync(kAllLanes, mine.value, lane), __shfl_sync(kAllLanes, mine.tie, lane)};
}

// What row i wants, as a warp finds it in its list; false if a column that is not there may be as
// good, or if less than `spare` columns are better than all of those.
template <int spare = 0>
__device__ bool find_in_list(const Lists& lists, long long i, const long long* price,
                             const int* owner, Want& want) {
  constexpr int kEach = kKept / 32;
  const int lane = threadIdx.x % 32;
  const long long at = i * kKept + lane;
  const Choice edge{lists.edge[2 * i], static_cast<unsigned long long>(lists.edge[2 * i + 1])};
  // Without branches, so that the loads of all entries go on at once.
  int column[kEach], holder[kEach];
  long long its[kEach], paid[kEach];
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    column[e] = lists.column[at + 32 * e];
    its[e] = lists.worth[at + 32 * e];
  }
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    paid[e] = price[max(column[e], 0)];
    holder[e] = owner[max(column[e], 0)];
  }
  Choice first = kNothing;
  long long second = kNever, worth = 0;
  int held = -1, left = 0;
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    const Choice one = column[e] < 0 ? kNothing : choice_of(i, column[e], its[e] - paid[e]);
    if (spare > 0) left += __popc(__ballot_sync(kAllLanes, one.above(edge)));
    const bool better = one.above(first);
    second = better ? first.value : max(second, one.value);
    first = better ? one : first;
    worth = better ? its[e] : worth;
    held = better ? holder[e] : held;
  }
  const int winner = lane_of_best(first);
  want.second = greatest(lane == winner ? second : first.value);
  want.first.value = __shfl_sync(kAllLanes, first.value, winner);
  want.first.tie = __shfl_sync(kAllLanes, first.tie, winner);
  want.worth = __shfl_sync(kAllLanes, worth, winner);
  want.owner = __shfl_sync(kAllLanes, held, winner);
  return want.first.above(edge) && want.second >= edge.value && (left >= spare || !edge.any());
}

// Threads of a block that read a row: not so many that all columns are among the best two of one.
__device__ __forceinline__ unsigned readers_of(long long columns) {
  return static_cast<unsigned>(min(max(columns / 128 * 32, 64ll), kThreads + 0ll));
}

// What row i wants, as a block finds it in all its costs; makes a new list. A thread keeps its best
// three columns: what is above the best third one of all threads is above all others.
template <class C, class P, class I>
__device__ Want find_in_row(const CostRows<C, P, I>& costs, const Lists& lists, long long i,
                            double factor, const long long* price, const int* owner) {
  constexpr int kWarps = kThreads / 32, kShare = 4;
  __shared__ Choice found[2 * kThreads], thirds[kWarps], top[2], next;
  __shared__ int count;
  const long long unit = costs.columns + 1;
  BestThree mine;
  const auto look = [&](long long j, double given, long long paid) {
    const long long value = worth(given, factor, unit);
    mine.take(choice_of(i, j, value == kNever ? kNever : value - paid));
  };
  if (costs.is_plain()) {
    costs.each_of_all(i, price, look);
  } else {
    costs.each(i, price, [&](long long j, double given, long long paid) {
      look(j, costs.added(given, i, j), paid);
    });
  }
  Choice third = best_of_warp(mine.third);
  if (threadIdx.x % 32 == 0) thirds[threadIdx.x / 32] = third;
  if (threadIdx.x < 2) top[threadIdx.x] = kNothing;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  third = best_of_warp(thirds[threadIdx.x % kWarps]);
  if (mine.first.above(third)) found[atomicAdd(&count, 1)] = mine.first;
  if (mine.second.above(third)) found[atomicAdd(&count, 1)] = mine.second;
  __syncthreads();
  const int all = count, share = threadIdx.x % kShare;
  for (int low = 0; low < all; low += kThreads / kShare) {
    const int k = low + static_cast<int>(threadIdx.x) / kShare;
    const Choice one = k < all ? found[k] : kNothing;
    int rank = 0;
#pragma unroll 4
    for (int other = share; other < all; other += kShare) rank += found[other].above(one);
    for (int step = 1; step < kShare; step *= 2) {
      rank += __shfl_xor_sync(kAllLanes, rank, step);
    }
    if (k >= all || share != 0) continue;
    if (rank < 2) top[rank] = one;
    if (rank == kKept) next = one;
    if (rank < kKept) {
      const long long j = one.column();
      lists.column[i * kKept + rank] = static_cast<int>(j);
      lists.worth[i * kKept + rank] = one.value + price[j];
    }
  }
  for (int k = all + static_cast<int>(threadIdx.x); k < kKept; k += kThreads) {
    lists.column[i * kKept + k] = -1;
  }
  __syncthreads();
  const Choice first = top[0], edge = all > kKept ? next : third;
  const long long second = top[1].value;
  if (threadIdx.x == 0) {
    lists.edge[2 * i] = edge.value;
    lists.edge[2 * i + 1] = static_cast<long long>(edge.tie);
  }
  __syncthreads();
  if (!first.any()) return {first, kNever, 0, -1};
  const long long j = first.column();
  return {first, second, first.value + price[j], owner[j]};
}
