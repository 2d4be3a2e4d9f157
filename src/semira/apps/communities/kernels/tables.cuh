// The best label of each row: sums of the weights of its entries by label, scored.
//
// A thread takes a row of up to kFew entries and compares them in registers, eight lanes one of up to
// kEight. Longer rows wait in a queue: after a barrier those of up to kMedium entries have a warp and
// a hash table of kOwnSlots places each, others a block and a table of kSlots places. The longest rows
// have several blocks: each walks the row for a part of the labels, and the last one takes the best.
#pragma once
#include "semira.apps.communities.kernels:rows.cuh"

constexpr int kFew = 8, kEight = 32, kMedium = 128;
constexpr int kOwnSlots = 2 * kMedium, kSlots = kOwnSlots * kBlockWarps;
// Labels that a block's table takes; where the state of a loop counts what waits in the queue: in one
// half the parts of rows for blocks, which lie behind all others, in the other half rows for warps.
constexpr int kMostLabels = kSlots / 4 * 3, kQueued = 6;

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
  template <int kLanes = kWarp>
  __device__ __forceinline__ void join_warp() {
#pragma unroll
    for (int step = kLanes / 2; step > 0; step /= 2) {
      const int source = static_cast<int>(threadIdx.x % kWarp) ^ step;
      Pick other;
      other.score = shuffle(score, source);
      other.label = shuffle(label, source);
      take(other);
    }
  }
};

// The tables of a block: one for all that walk rows.
__device__ __forceinline__ int* shared_keys() {
  __shared__ int keys[kSlots];
  return keys;
}
template <class S>
__device__ __forceinline__ S* shared_sums() {
  __shared__ S sums[kSlots];
  return sums;
}

__device__ __forceinline__ unsigned slot_bits(int label) {
  return static_cast<unsigned>(label) * 2654435769u;
}

// Adds to the sum of a label, which has a place or finds one; whether it is new.
template <class S>
__device__ __forceinline__ bool add_to_table(int* keys, S* sums, unsigned used, int label,
                                             S weight) {
  unsigned slot = slot_bits(label) >> 8 & (used - 1);
  bool is_new = false;
  while (true) {
    int found = *static_cast<volatile int*>(&keys[slot]);
    if (found == -1) {
      found = atomicCAS(&keys[slot], -1, label);
      is_new = found == -1;
    }
    if (is_new || found == label) break;
    slot = (slot + 1) & (used - 1);
  }
  atomic_add(&sums[slot], weight);
  return is_new;
}

// Rows offer: `Sum`; `wants(v)`, whether a row is to be done, asked once; `first(v)`, `length(v)`;
// `load(v, p, label, weight)`, 0 for an entry that does not count, 1 for one of a label, 2 for one of
// the row's own; `score(v, label, sum, own)`, a Pick; `finish(v, pick)`; `halvings()`, see `parts_of`.
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

// Eight lanes; those without a row pass a length of 0. All lanes of the warp call it.
template <class Rows>
__device__ __forceinline__ Pick best_of_eight(const Rows& rows, int v, long long first,
                                              int length) {
  using S = typename Rows::Sum;
  constexpr int kLanes = 8, kEach = kEight / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kWarp, rank = lane % kLanes;
  int label[kEach], kind[kEach];
  S weight[kEach], sum[kEach];
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    const int p = e * kLanes + rank;
    label[e] = -1;
    weight[e] = sum[e] = 0;
    kind[e] = p < length ? rows.load(v, first + p, label[e], weight[e]) : 0;
  }
  S own = 0;
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    if (kind[e] == 2) own += weight[e];
    if (kind[e] != 1) label[e] = -1;
  }
  own = sum_of_warp<kLanes>(own);
  bool is_first[kEach] = {true, true, true, true};
#pragma unroll
  for (int f = 0; f < kEach; ++f) {
    if (!__any_sync(kAllLanes, length > f * kLanes)) break;
#pragma unroll 2
    for (int other = 0; other < kLanes; ++other) {
      const int there = shuffle(label[f], lane - rank + other);
      const S more = shuffle(weight[f], lane - rank + other);
#pragma unroll
      for (int e = 0; e < kEach; ++e) {
        if (label[e] != there) continue;
        sum[e] += more;
        if (f * kLanes + other < e * kLanes + rank) is_first[e] = false;
      }
    }
  }
  Pick best{0, -1};
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    if (label[e] >= 0 && is_first[e]) best.take(rows.score(v, label[e], sum[e], own));
  }
  best.join_warp<kLanes>();
  return best;
}

template <class Rows>
__device__ __forceinline__ Pick best_of_warp(const Rows& rows, int v, long long first, int length,
                                             int* keys, typename Rows::Sum* sums) {
  using S = typename Rows::Sum;
  constexpr int kEach = kMedium / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  int label[kEach], kind[kEach];
  S weight[kEach];
  // All loads begin before the first one is waited for.
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    const int p = e * kWarp + lane;
    kind[e] = p < length ? rows.load(v, first + p, label[e], weight[e]) : 0;
  }
  unsigned used = kWarp;
  while (used < 2u * static_cast<unsigned>(length)) used *= 2;
  for (unsigned slot = lane; slot < used; slot += kWarp) {
    keys[slot] = -1;
    sums[slot] = 0;
  }
  __syncwarp();
  S own = 0;
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    if (kind[e] == 2) own += weight[e];
    if (kind[e] == 1) add_to_table(keys, sums, used, label[e], weight[e]);
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

// Into how many parts the labels of a row are divided: each should fit if all labels are different, or
// a share of `2**-halvings` of them. If a part does not, its block divides it again.
constexpr unsigned kMostParts = 1u << 20;

// Bits that tell parts apart: those above the bits of slots, then those below.
__device__ __forceinline__ unsigned part_bits(int label) {
  const unsigned bits = slot_bits(label);
  return bits >> 20 | (bits & 0xffu) << 12;
}

__device__ __forceinline__ unsigned parts_of(long long length, int halvings) {
  unsigned parts = 1;
  while (parts < kMostParts && static_cast<long long>(parts) * (kMostLabels / 4 * 3) < length) parts *= 2;
  parts >>= halvings;
  return parts < 1 ? 1 : parts;
}

// The best label of part `from` of `of`, by all threads of the block; every thread gets the result.
template <class Rows>
__device__ __forceinline__ Pick best_of_block(const Rows& rows, int v, long long first,
                                              long long length, int* keys,
                                              typename Rows::Sum* sums, unsigned from,
                                              unsigned of) {
  using S = typename Rows::Sum;
  constexpr int kAtOnce = 4;
  __shared__ S own_parts[kBlockWarps];
  __shared__ Pick picks[kBlockWarps];
  __shared__ int filled;
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  unsigned parts = of, used = kSlots;
  while (of == 1 && used / 4 >= length) used /= 2;
  Pick best{0, -1};
  for (unsigned part = from; part < parts; part += of) {
    for (unsigned slot = threadIdx.x; slot < used; slot += blockDim.x) {
      keys[slot] = -1;
      sums[slot] = 0;
    }
    if (threadIdx.x == 0) filled = 0;
    __syncthreads();
    S own = 0;
    for (long long p = threadIdx.x; p < length; p += kAtOnce * blockDim.x) {
      int label[kAtOnce], kind[kAtOnce];
      S weight[kAtOnce];
#pragma unroll
      for (int e = 0; e < kAtOnce; ++e) {
        const long long at = p + e * blockDim.x;
        kind[e] = at < length ? rows.load(v, first + at, label[e], weight[e]) : 0;
      }
      // Of the threads each may add one label more.
      bool is_full = false;
#pragma unroll
      for (int e = 0; e < kAtOnce; ++e) {
        if (kind[e] == 2) own += weight[e];
        if (kind[e] != 1 || (part_bits(label[e]) & (parts - 1)) != part) continue;
        is_full = is_full || *static_cast<volatile int*>(&filled) > kMostLabels;
        if (!is_full && add_to_table(keys, sums, used, label[e], weight[e])) atomicAdd(&filled, 1);
      }
      if (is_full) break;
    }
    own = sum_of_warp(own);
    if (lane == 0) own_parts[warp] = own;
    __syncthreads();
    if (filled > kMostLabels) {
      // Once more, in smaller parts.
      if (parts < kMostParts) parts *= 2;
      part = from - of;
      best = {0, -1};
      __syncthreads();
      continue;
    }
    own = 0;
    for (int k = 0; k < kBlockWarps; ++k) own += own_parts[k];
    for (unsigned slot = threadIdx.x; slot < used; slot += blockDim.x) {
      if (keys[slot] >= 0) best.take(rows.score(v, keys[slot], sums[slot], own));
    }
    __syncthreads();
  }
  best.join_warp();
  if (lane == 0) picks[warp] = best;
  __syncthreads();
  best = picks[0];
  for (int k = 1; k < kBlockWarps; ++k) best.take(picks[k]);
  __syncthreads();
  return best;
}

// How many consecutive rows a warp takes at once: few rows are spread over all warps.
__device__ __forceinline__ int rows_of_warp(long long items) {
  const long long warps = static_cast<long long>(gridDim.x) * (blockDim.x / kWarp);
  const long long each = (items + warps - 1) / warps;
  return each < 1 ? 1 : each > kWarp ? kWarp : static_cast<int>(each);
}

// Returns places that follow each other for the lanes that want one; all lanes of the warp call it.
__device__ __forceinline__ int take_place(bool wants, int* counter) {
  const unsigned lane = threadIdx.x % kWarp, those = __ballot_sync(kAllLanes, wants);
  if (those == 0) return 0;
  int start = 0;
  if (lane == 0) start = atomicAdd(counter, __popc(those));
  return shuffle(start, 0) + __popc(those & ((1u << lane) - 1));
}

template <class Rows>
__device__ __forceinline__ void best_of_rows(long long items, const Rows& rows, int* queue,
                                             long long* state) {
  int* const queued = reinterpret_cast<int*>(&state[kQueued]);
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const int each = rows_of_warp(items);
  const long long step = static_cast<long long>(gridDim.x) * kBlockWarps * each;
  const long long own =
      (static_cast<long long>(warp) * gridDim.x + block_number()) * each + lane;
  // The lanes of a warp begin and end together.
  for (long long start = 0; start < items; start += step) {
    const long long item = start + own;
    const int v = static_cast<int>(item);
    const bool wants = static_cast<int>(lane) < each && item < items && rows.wants(v);
    long long first = 0, length = 0;
    if (wants) {
      first = rows.first(v);
      length = rows.length(v);
    }
    const bool is_medium = length > kEight && length <= kMedium;
    const int place = take_place(is_medium, &queued[1]);
    if (is_medium) queue[place] = v;
    if (length > kMedium) {
      // The row, then how far back it is.
      const int parts = static_cast<int>(parts_of(length, rows.halvings()));
      int* const own_parts = queue + items + atomicAdd(&queued[0], parts);
      for (int part = 0; part < parts; ++part) own_parts[part] = part == 0 ? v : -part;
    }
    if (wants && length <= kFew) {
      rows.finish(v, best_of_few(rows, v, first, static_cast<int>(length)));
    }
    unsigned open = __ballot_sync(kAllLanes, length > kFew && length <= kEight);
    while (open != 0) {
      // Four rows at once: the lane that has the row of these eight.
      int source = -1;
      for (unsigned four = 0; four < kWarp / 8; ++four) {
        const int next = __ffs(static_cast<int>(open)) - 1;
        if (lane / 8 == four) source = next;
        open &= open - 1;
      }
      const int from = source < 0 ? 0 : source, other = shuffle(v, from);
      const long long begin = shuffle(first, from), entries = shuffle(length, from);
      const Pick best =
          best_of_eight(rows, other, begin, source < 0 ? 0 : static_cast<int>(entries));
      if (source >= 0 && lane % 8 == 0) rows.finish(other, best);
    }
  }
}

// Keeps the best label of a part of a row that begins at `head`; whether all parts are there.
__device__ __forceinline__ bool is_last_part(const Pick& best, int head, int part, unsigned parts,
                                             long long* picks, int* tickets) {
  picks[2 * (head + part)] = __double_as_longlong(best.score);
  picks[2 * (head + part) + 1] = best.label;
  __threadfence();
  if (atomicAdd(&tickets[head], 1) != static_cast<int>(parts) - 1) return false;
  tickets[head] = 0;
  __threadfence();
  return true;
}
__device__ __forceinline__ Pick best_of_parts(int head, unsigned parts, const long long* picks) {
  const volatile long long* const those = picks + 2 * static_cast<long long>(head);
  Pick best{0, -1};
  for (unsigned part = 0; part < parts; ++part) {
    best.take({__longlong_as_double(those[2 * part]), static_cast<int>(those[2 * part + 1])});
  }
  return best;
}

// The rows in the queue, after a barrier.
template <class Rows>
__device__ __forceinline__ void best_of_queue(const Rows& rows, const int* queue,
                                              const long long* state, long long items,
                                              long long* picks, int* tickets) {
  using S = typename Rows::Sum;
  int* const keys = shared_keys();
  S* const sums = shared_sums<S>();
  const int* const queued = reinterpret_cast<const int*>(&state[kQueued]);
  const int longs = queued[0], mediums = queued[1];
  for (int k = block_number(); k < longs; k += gridDim.x) {
    const int* const item = queue + items + k;
    const int part = *item < 0 ? -*item : 0, v = item[-part];
    const unsigned parts = parts_of(rows.length(v), rows.halvings());
    const Pick best =
        best_of_block(rows, v, rows.first(v), rows.length(v), keys, sums, part, parts);
    if (threadIdx.x != 0) continue;
    if (parts == 1 || is_last_part(best, k - part, part, parts, picks, tickets)) {
      rows.finish(v, parts == 1 ? best : best_of_parts(k - part, parts, picks));
    }
  }
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  // The last blocks first: the first ones have long rows to do.
  for (long long k = static_cast<long long>(warp) * gridDim.x + (gridDim.x - 1 - block_number());
       k < mediums; k += static_cast<long long>(gridDim.x) * kBlockWarps) {
    const int v = queue[k];
    const Pick best =
        best_of_warp(rows, v, rows.first(v), static_cast<int>(rows.length(v)),
                     keys + warp * kOwnSlots, sums + warp * kOwnSlots);
    if (lane == 0) rows.finish(v, best);
  }
}
