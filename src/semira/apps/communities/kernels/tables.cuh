// The best label of each row: sums of the weights of its entries by label, scored.
//
// A thread takes a row of up to kFew entries and compares them in registers. A longer row has a warp
// and a hash table of kOwnSlots places; one of more than kOwnSlots / 2 entries the block, and the
// tables of all its warps as one. Where even that is too small, the row is walked several times, for
// a part of the labels each time.
#pragma once

constexpr int kFew = 8, kOwnSlots = 256, kBlockWarps = 8, kSlots = kOwnSlots * kBlockWarps;

// A label and its score; none if the label is below 0. Of equal scores the smallest label wins.
struct Pick {
  double score;
  int label;

  __device__ __forceinline__ void take(const Pick& other) {
    if (other.label < 0) return;
    if (label < 0 || other.score > score || (other.score == score && other.label < label)) {
      *this = other;
    }
  }
  __device__ __forceinline__ void join_warp() {
#pragma unroll
    for (int step = kWarp / 2; step > 0; step /= 2) {
      const int source = static_cast<int>(threadIdx.x % kWarp) ^ step;
      Pick other;
      other.score = shuffle(score, source);
      other.label = shuffle(label, source);
      take(other);
    }
  }
};

template <class S>
__device__ __forceinline__ S sum_of_warp(S value) {
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) {
    value += shuffle(value, static_cast<int>(threadIdx.x % kWarp) ^ step);
  }
  return value;
}

__device__ __forceinline__ unsigned slot_bits(int label) {
  return static_cast<unsigned>(label) * 2654435769u;
}

// Adds to the sum of a label; false if the table has no place.
template <class S>
__device__ __forceinline__ bool add_to_table(int* keys, S* sums, unsigned used, int label,
                                             S weight) {
  unsigned slot = slot_bits(label) >> 8 & (used - 1);
  for (unsigned tries = 0; tries < used; ++tries) {
    int found = *static_cast<volatile int*>(&keys[slot]);
    if (found == -1) {
      found = atomicCAS(&keys[slot], -1, label);
      if (found == -1) found = label;
    }
    if (found == label) {
      atomic_add(&sums[slot], weight);
      return true;
    }
    slot = (slot + 1) & (used - 1);
  }
  return false;
}

// Rows offer: `Sum`; `wants(v)`, whether a row is to be done, asked once; `first(v)`, `length(v)`;
// `load(v, p, label, weight)`, 0 for an entry that does not count, 1 for one of a label, 2 for one of
// the row's own; `score(v, label, sum, own)`, a Pick; `finish(v, pick)`.
template <class Rows>
__device__ __forceinline__ Pick best_of_few(const Rows& rows, int v, long long first, int length) {
  using S = typename Rows::Sum;
  int label[kFew];
  S weight[kFew];
  S own = 0;
#pragma unroll
  for (int e = 0; e < kFew; ++e) {
    label[e] = -1;
    weight[e] = 0;
    if (e >= length) continue;
    const int kind = rows.load(v, first + e, label[e], weight[e]);
    if (kind == 2) own += weight[e];
    if (kind != 1) label[e] = -1;
  }
  Pick best{0, -1};
#pragma unroll
  for (int e = 0; e < kFew; ++e) {
    if (label[e] < 0) continue;
    S sum = 0;
    bool is_first = true;
#pragma unroll
    for (int f = 0; f < kFew; ++f) {
      if (label[f] != label[e]) continue;
      sum += weight[f];
      if (f < e) is_first = false;
    }
    if (is_first) best.take(rows.score(v, label[e], sum, own));
  }
  return best;
}

template <class Rows>
__device__ __forceinline__ Pick best_of_warp(const Rows& rows, int v, long long first, int length,
                                             int* keys, typename Rows::Sum* sums) {
  using S = typename Rows::Sum;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  unsigned used = kWarp;
  while (used < 2u * static_cast<unsigned>(length)) used *= 2;
  for (unsigned slot = lane; slot < used; slot += kWarp) {
    keys[slot] = -1;
    sums[slot] = 0;
  }
  __syncwarp();
  S own = 0;
  for (int p = lane; p < length; p += kWarp) {
    int label = -1;
    S weight = 0;
    const int kind = rows.load(v, first + p, label, weight);
    if (kind == 2) own += weight;
    if (kind == 1) add_to_table(keys, sums, used, label, weight);
  }
  own = sum_of_warp(own);
  __syncwarp();
  Pick best{0, -1};
  for (unsigned slot = lane; slot < used; slot += kWarp) {
    if (keys[slot] >= 0) best.take(rows.score(v, keys[slot], sums[slot], own));
  }
  best.join_warp();
  __syncwarp();
  return best;
}

// All threads of the block; every thread gets the result.
template <class Rows>
__device__ __forceinline__ Pick best_of_block(const Rows& rows, int v, long long first,
                                              long long length, int* keys,
                                              typename Rows::Sum* sums) {
  using S = typename Rows::Sum;
  __shared__ S own_parts[kBlockWarps];
  __shared__ Pick picks[kBlockWarps];
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  unsigned parts = 1;
  while (true) {
    Pick best{0, -1};
    bool is_full = false;
    for (unsigned part = 0; part < parts && !is_full; ++part) {
      for (unsigned slot = threadIdx.x; slot < kSlots; slot += blockDim.x) {
        keys[slot] = -1;
        sums[slot] = 0;
      }
      __syncthreads();
      S own = 0;
      bool fits = true;
      for (long long p = threadIdx.x; p < length && fits; p += blockDim.x) {
        int label = -1;
        S weight = 0;
        const int kind = rows.load(v, first + p, label, weight);
        if (kind == 2) own += weight;
        if (kind != 1 || (slot_bits(label) >> 20 & (parts - 1)) != part) continue;
        fits = add_to_table(keys, sums, kSlots, label, weight);
      }
      own = sum_of_warp(own);
      if (lane == 0) own_parts[warp] = own;
      is_full = __syncthreads_or(!fits) != 0;
      if (is_full) break;
      own = 0;
      for (int k = 0; k < kBlockWarps; ++k) own += own_parts[k];
      for (unsigned slot = threadIdx.x; slot < kSlots; slot += blockDim.x) {
        if (keys[slot] >= 0) best.take(rows.score(v, keys[slot], sums[slot], own));
      }
      __syncthreads();
    }
    if (is_full) {
      parts *= 2;
      continue;
    }
    best.join_warp();
    if (lane == 0) picks[warp] = best;
    __syncthreads();
    best = picks[0];
    for (int k = 1; k < kBlockWarps; ++k) best.take(picks[k]);
    __syncthreads();
    return best;
  }
}

// How many consecutive rows a warp takes at once: few rows are spread over all warps.
__device__ __forceinline__ int rows_of_warp(long long items) {
  const long long warps = static_cast<long long>(gridDim.x) * (blockDim.x / kWarp);
  const long long each = (items + warps - 1) / warps;
  return each < 1 ? 1 : each > kWarp ? kWarp : static_cast<int>(each);
}

template <class Rows>
__device__ __forceinline__ void best_of_rows(long long items, const Rows& rows) {
  using S = typename Rows::Sum;
  __shared__ int keys[kSlots];
  __shared__ S sums[kSlots];
  __shared__ int longs[kBlockWarps * kWarp];
  __shared__ int num_longs;
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const int each = rows_of_warp(items);
  const long long step = static_cast<long long>(gridDim.x) * kBlockWarps * each;
  const long long own =
      (static_cast<long long>(warp) * gridDim.x + block_number()) * each + lane;
  for (long long start = 0; start < items; start += step) {
    const long long item = start + own;
    const int v = static_cast<int>(item);
    const bool wants = static_cast<int>(lane) < each && item < items && rows.wants(v);
    long long first = 0, length = 0;
    if (wants) {
      first = rows.first(v);
      length = rows.length(v);
    }
    if (threadIdx.x == 0) num_longs = 0;
    __syncthreads();
    if (wants && length <= kFew) {
      rows.finish(v, best_of_few(rows, v, first, static_cast<int>(length)));
    }
    if (wants && length > kOwnSlots / 2) longs[atomicAdd(&num_longs, 1)] = v;
    unsigned open = __ballot_sync(kAllLanes, wants && length > kFew && length <= kOwnSlots / 2);
    while (open != 0) {
      const int source = __ffs(static_cast<int>(open)) - 1;
      open &= open - 1;
      const int other = shuffle(v, source);
      const Pick best = best_of_warp(rows, other, shuffle(first, source),
                                     static_cast<int>(shuffle(length, source)),
                                     keys + warp * kOwnSlots, sums + warp * kOwnSlots);
      if (lane == 0) rows.finish(other, best);
    }
    __syncthreads();
    const int count = num_longs;
    for (int k = 0; k < count; ++k) {
      const int other = longs[k];
      const Pick best =
          best_of_block(rows, other, rows.first(other), rows.length(other), keys, sums);
      if (threadIdx.x == 0) rows.finish(other, best);
    }
    __syncthreads();
  }
}

// Calls `visit(v, p)` for the entries of rows for which `wants(v)`: a thread for a short row, a warp
// for a longer one. `begin(v)` and `end(v, sum)` are called by one thread; `visit` returns what is
// summed.
template <class P, class Visitor>
__device__ __forceinline__ void visit_rows(long long items, const P* indptr, Visitor& visitor) {
  constexpr long long kShort = 16;
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const int each = rows_of_warp(items);
  const long long step = static_cast<long long>(gridDim.x) * (blockDim.x / kWarp) * each;
  const long long own =
      (static_cast<long long>(warp) * gridDim.x + block_number()) * each + lane;
  for (long long start = 0; start < items; start += step) {
    const long long item = start + own;
    const int v = static_cast<int>(item);
    const bool wants = static_cast<int>(lane) < each && item < items && visitor.wants(v);
    const long long first = wants ? indptr[v] : 0, last = wants ? indptr[v + 1] : 0;
    if (wants && last - first <= kShort) {
      typename Visitor::Sum sum = 0;
      for (long long p = first; p < last; ++p) sum += visitor.visit(v, p);
      visitor.end(v, sum);
    }
    unsigned open = __ballot_sync(kAllLanes, wants && last - first > kShort);
    while (open != 0) {
      const int source = __ffs(static_cast<int>(open)) - 1;
      open &= open - 1;
      const int other = shuffle(v, source);
      const long long low = shuffle(first, source), high = shuffle(last, source);
      typename Visitor::Sum sum = 0;
      for (long long p = low + lane; p < high; p += kWarp) sum += visitor.visit(other, p);
      sum = sum_of_warp(sum);
      if (lane == 0) visitor.end(other, sum);
    }
  }
}

// Adds what the threads counted; all of them call it.
__device__ __forceinline__ void count_all(long long mine, long long* place) {
  mine = sum_of_warp(mine);
  if (threadIdx.x % kWarp == 0 && mine != 0) atomic_add(place, mine);
}
