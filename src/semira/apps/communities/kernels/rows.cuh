// Walks over the entries of rows, by blocks of kBlockWarps warps, and sums.
#pragma once

constexpr int kBlockWarps = 8;

template <int kLanes = kWarp, class S>
__device__ __forceinline__ S sum_of_warp(S value) {
#pragma unroll
  for (int step = kLanes / 2; step > 0; step /= 2) {
    value += shuffle(value, static_cast<int>(threadIdx.x % kWarp) ^ step);
  }
  return value;
}

// Adds the values of lanes that follow each other with one place by the first of them; lanes without
// a place pass -1. All lanes of the warp call it.
template <class K>
__device__ __forceinline__ void add_runs(long long place, K value, K* sums) {
  const int lane = static_cast<int>(threadIdx.x % kWarp);
  const long long before = shuffle(place, lane > 0 ? lane - 1 : 0);
  const bool begins = lane == 0 || before != place;
  // The lanes behind this one up to the next that begins a run.
  const unsigned later = __ballot_sync(kAllLanes, begins) & ~((2u << lane) - 1);
  const int end = later != 0 ? __ffs(static_cast<int>(later)) - 1 : kWarp;
#pragma unroll
  for (int distance = 1; distance < kWarp; distance *= 2) {
    const int source = lane + distance;
    const K more = shuffle(value, source < end ? source : lane);
    if (source < end) value += more;
  }
  if (place >= 0 && begins) atomic_add(&sums[place], value);
}

// Walks the entries of rows for which `wants(v)`, by all threads of the block, of all its rows
// together: rows of any length cost what their entries cost. `look(v, p)` only reads. What it returns
// is summed up for each row, and `end(v, sum)` called once; or, if `Sum` is `Nothing`, it is a number,
// with which `act(v, p, found)` is called unless it is below 0. All threads of the block call it.
struct Nothing {};

template <class P, class Visitor>
__device__ __forceinline__ void visit_rows(long long items, const P* indptr, Visitor& visitor) {
  using S = typename Visitor::Sum;
  using Found = Choose<(sizeof(S) > 1), S, int>;
  // A thread looks at some entries before the first one is waited for: hubs are walked by one block.
  constexpr int kRows = kBlockWarps * kWarp, kAtOnce = 4;
  constexpr bool kSums = sizeof(S) > 1;
  __shared__ int row_of[kRows], num_rows[kBlockWarps];
  // Where the entries of a row end, among those of the block; what is to be added to come to `p`.
  __shared__ P ends[kRows], shifts[kRows], num_entries[kBlockWarps];
  __shared__ S sums[kSums ? kRows : 1];
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  // Neighbouring rows, which are often alike, fall to several blocks.
  constexpr int kTogether = 2;
  const long long step = static_cast<long long>(gridDim.x) * kRows;
  const long long own = (static_cast<long long>(threadIdx.x / kTogether) * gridDim.x +
                         block_number()) * kTogether + threadIdx.x % kTogether;
  for (long long start = 0; start < items; start += step) {
    const long long item = start + own;
    const int v = static_cast<int>(item);
    const bool wants = item < items && visitor.wants(v);
    if (!__syncthreads_or(wants)) continue;
    const P first = wants ? indptr[v] : P(0), length = wants ? indptr[v + 1] - first : P(0);
    const unsigned those = __ballot_sync(kAllLanes, wants);
    P end = length;
#pragma unroll
    for (int distance = 1; distance < kWarp; distance *= 2) {
      const P before = shuffle(end, static_cast<int>(lane) - (lane < distance ? 0 : distance));
      if (lane >= distance) end += before;
    }
    if (lane == kWarp - 1) {
      num_rows[warp] = __popc(those);
      num_entries[warp] = end;
    }
    __syncthreads();
    int row = __popc(those & ((1u << lane) - 1)), rows = 0;
    P total = 0;
    for (unsigned w = 0; w < kBlockWarps; ++w) {
      if (w < warp) {
        row += num_rows[w];
        end += num_entries[w];
      }
      rows += num_rows[w];
      total += num_entries[w];
    }
    if (wants) {
      row_of[row] = v;
      ends[row] = end;
      shifts[row] = first - (end - length);
      if constexpr (kSums) sums[row] = 0;
    }
    __syncthreads();
    int reach = 1;
    while (reach < rows) reach *= 2;
    const P width = static_cast<P>(blockDim.x);
    for (P k = static_cast<P>(threadIdx.x); k - static_cast<P>(lane) < total; k += kAtOnce * width) {
      int at[kAtOnce];
      Found found[kAtOnce];
#pragma unroll
      for (int e = 0; e < kAtOnce; ++e) {
        // The first row that ends behind k.
        const P place = k + e * width;
        at[e] = 0;
        for (int half = reach / 2; half > 0; half /= 2) {
          if (at[e] + half <= rows && ends[at[e] + half - 1] <= place) at[e] += half;
        }
        found[e] = kSums ? Found(0) : Found(-1);
        if (place < total) found[e] = visitor.look(row_of[at[e]], shifts[at[e]] + place);
      }
#pragma unroll
      for (int e = 0; e < kAtOnce; ++e) {
        const P place = k + e * width;
        if constexpr (kSums) {
          S sum = found[e];
          const bool is_one = shuffle(at[e], 0) == shuffle(at[e], kWarp - 1);
          if (is_one) sum = sum_of_warp(sum);
          if (place < total && sum != 0 && (!is_one || lane == 0)) atomic_add(&sums[at[e]], sum);
        } else if (found[e] >= 0) {
          visitor.act(row_of[at[e]], shifts[at[e]] + place, found[e]);
        }
      }
    }
    if constexpr (kSums) {
      __syncthreads();
      if (static_cast<int>(threadIdx.x) < rows) visitor.end(row_of[threadIdx.x], sums[threadIdx.x]);
    }
  }
}

// Adds what the threads counted; all of them call it.
__device__ __forceinline__ void count_all(long long mine, long long* place) {
  mine = sum_of_warp(mine);
  if (threadIdx.x % kWarp == 0 && mine != 0) atomic_add(place, mine);
}
