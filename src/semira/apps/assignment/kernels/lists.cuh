// The best columns of each row of an auction: in its list, or in all its costs. See auction.py.
#pragma once
#include "semira.apps.assignment.kernels:row.cuh"

// Threads of a block.
constexpr int kThreads = 256;

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
  if (value <= kNever) return kNothing;
  const unsigned long long hash = mixed(i, j);
  return {value, hash << 32 | ~static_cast<unsigned>(j)};
}

// The best three of what one thread has seen.
struct BestThree {
  Choice first = kNothing, second = kNothing, third = kNothing;

  __device__ void take(const Choice& one) {
    if (!one.above(third)) return;
    if (!one.above(second)) {
      third = one;
    } else if (third = second; one.above(first)) {
      second = first;
      first = one;
    } else {
      second = one;
    }
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

// The best columns of each row when it was last read whole, `kept` of them, and the best of the
// others: prices only rise, so these stay below that. Until then a row has no list.
struct Lists {
  long long kept;
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

// What row i wants, as a warp finds it in its list; false if a column that is not there may be as
// good.
__device__ inline bool find_in_list(const Lists& lists, long long i, const long long* price,
                                    const int* owner, Want& want) {
  const int lane = threadIdx.x % 32;
  const long long at = i * lists.kept;
  const Choice edge{lists.edge[2 * i], static_cast<unsigned long long>(lists.edge[2 * i + 1])};
  Choice first = kNothing;
  long long second = kNever, worth = 0;
  int held = -1;
#pragma unroll 2
  for (long long e = lane; e < lists.kept; e += 32) {
    // Without a branch, so that the loads of all entries go on at once.
    const int j = lists.column[at + e], there = max(j, 0);
    const long long its = lists.worth[at + e], paid = price[there];
    const int holder = owner[there];
    const Choice one = j < 0 ? kNothing : choice_of(i, j, its - paid);
    const bool better = one.above(first);
    second = better ? first.value : max(second, one.value);
    first = better ? one : first;
    worth = better ? its : worth;
    held = better ? holder : held;
  }
  const long long most = greatest(first.value);
  unsigned who = __ballot_sync(kAllLanes, first.value == most);
  if (__popc(who) > 1) {
    const unsigned hash = first.value == most ? static_cast<unsigned>(first.tie >> 32) : 0u;
    const unsigned top = __reduce_max_sync(kAllLanes, hash);
    const unsigned rest =
        first.value == most && hash == top ? static_cast<unsigned>(first.tie) : 0u;
    const unsigned last = __reduce_max_sync(kAllLanes, rest);
    who = __ballot_sync(kAllLanes, first.value == most && hash == top && rest == last);
  }
  const int winner = __ffs(static_cast<int>(who)) - 1;
  want.second = greatest(lane == winner ? second : first.value);
  want.first.value = most;
  want.first.tie = __shfl_sync(kAllLanes, first.tie, winner);
  want.worth = __shfl_sync(kAllLanes, worth, winner);
  want.owner = __shfl_sync(kAllLanes, held, winner);
  return want.first.above(edge) && want.second >= edge.value;
}

// What row i wants, as a block finds it in all its costs; makes a new list. A thread keeps its best
// three columns: what is above the best third one of all threads is above all others.
template <class C, class P, class I>
__device__ Want find_in_row(const CostRows<C, P, I>& costs, const Lists& lists, long long i,
                            double factor, const long long* price, const int* owner) {
  __shared__ Choice found[2 * kThreads], thirds[kThreads / 32], top[2], next;
  __shared__ int count;
  const long long unit = costs.columns + 1;
  BestThree mine;
  costs.each(i, price, [&](long long j, double given, long long paid) {
    const long long value = worth(costs.added(given, i, j), factor, unit);
    if (value != kNever) mine.take(choice_of(i, j, value - paid));
  });
  Choice third = mine.third;
  for (int step = 16; step > 0; step /= 2) {
    const Choice other{__shfl_xor_sync(kAllLanes, third.value, step),
                       __shfl_xor_sync(kAllLanes, third.tie, step)};
    if (other.above(third)) third = other;
  }
  if (threadIdx.x % 32 == 0) thirds[threadIdx.x / 32] = third;
  if (threadIdx.x < 2) top[threadIdx.x] = kNothing;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  for (const Choice& other : thirds) {
    if (other.above(third)) third = other;
  }
  if (mine.first.above(third)) found[atomicAdd(&count, 1)] = mine.first;
  if (mine.second.above(third)) found[atomicAdd(&count, 1)] = mine.second;
  __syncthreads();
  const int all = count;
  for (int k = threadIdx.x; k < all; k += kThreads) {
    const Choice one = found[k];
    int rank = 0;
#pragma unroll 4
    for (int other = 0; other < all; ++other) rank += found[other].above(one);
    if (rank < 2) top[rank] = one;
    if (rank == lists.kept) next = one;
    if (rank < lists.kept) {
      const long long j = one.column(), at = i * lists.kept + rank;
      lists.column[at] = static_cast<int>(j);
      lists.worth[at] = one.value + price[j];
    }
  }
  for (long long k = all + threadIdx.x; k < lists.kept; k += kThreads) {
    lists.column[i * lists.kept + k] = -1;
  }
  __syncthreads();
  const Choice first = top[0], edge = all > lists.kept ? next : third;
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
