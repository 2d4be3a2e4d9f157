// w_i = the key u_j of which row i has the largest sum of A_ij, by rows.
//
// A warp takes 32 rows. Of the short ones it sums four at once, of eight lanes each; each longer one
// has all lanes, and up to four entries a lane. There every entry is compared with all others of its
// row: registers alone, no atomics, and sums in the order of the entries. Rows of more entries have a
// block, which sums by key in a table in shared memory; where the keys of a row are too many, the
// row is walked several times, for a part of the keys each time.
#pragma once
#include "common/random.cuh"
#include "reduce/reduce.cuh"
#include "vxm/product.cuh"
#include "vxm/pull.cuh"

// Entries of the rows that lanes share four to a warp, and entries that a lane holds of longer ones.
constexpr int kShortMode = 8, kLaneMode = 4;
// Places of the table of a block, and keys that may be in it: probes stay short.
constexpr unsigned kModeSlots = 2048, kModeKeys = 1408;

// What sums are compared as: NaN loses.
template <class S>
__device__ __forceinline__ S comparable(S sum) {
  if constexpr (kIsFloat<S>) {
    if (sum != sum) return -__longlong_as_double(0x7ff0000000000000ll);
  }
  return sum;
}

// How a key is chosen among those with the largest sum: the preferred one; then, if there is a
// seed, the one with the greatest random number; then the smallest.
template <class K, bool kPrefers, bool kDraws>
struct Ties {
  using Key = K;
  static constexpr bool kPrefersOwn = kPrefers;
  Plane<K> preferred;
  long long seed;

  // Greater for what comes first; equal where the smaller key does.
  __device__ __forceinline__ unsigned long long rank(K key, Index row, bool has, K own) const {
    if constexpr (kPrefers) {
      if (has && key == own) return ~0ull;
    }
    if constexpr (kDraws) {
      const unsigned long long drawn = philox(static_cast<unsigned long long>(
          static_cast<long long>(key)), row, 0, seed);
      return drawn == ~0ull ? drawn - 1 : drawn;
    }
    return 0;
  }
};

// A key with its sum and rank; the first of several is found by `take`.
template <class K, class S>
struct RankedKey {
  S sum;
  unsigned long long rank;
  K key;
  bool has;

  __device__ __forceinline__ void take(const RankedKey& other) {
    if (!other.has) return;
    const bool loses = !has || other.sum > sum ||
                       (other.sum == sum &&
                        (other.rank > rank || (other.rank == rank && other.key < key)));
    if (loses) *this = other;
  }
  __device__ __forceinline__ RankedKey from_lane(int lane) const {
    RankedKey other;
    other.sum = shuffle(sum, lane);
    other.rank = shuffle(rank, lane);
    other.key = shuffle(key, lane);
    other.has = __shfl_sync(kAllLanes, has ? 1 : 0, lane) != 0;
    return other;
  }
};

// What the rows are made of; with kCounts every entry counts 1.
template <class K, class A, bool kCounts>
struct KeyedRows {
  using Key = K;
  Compressed<A> matrix;
  const K* keys;
  const unsigned* present;  // null: every column has a key

  __device__ __forceinline__ bool load(Offset at, K& key) const {
    const unsigned column = static_cast<unsigned>(matrix.indices[at]);
    key = keys[column];
    return present == nullptr || (present[column / kWarp] >> (column % kWarp) & 1u);
  }
  // Whether all entries have one value.
  __device__ __forceinline__ bool are_equal() const {
    return kCounts || matrix.value_stride == 0;
  }
  template <class S>
  __device__ __forceinline__ S value(Offset at) const {
    if constexpr (kCounts) return S(1);
    else return cast<S>(matrix.value(at));
  }
};

// The mode of a row of at most kEach * kLanes entries, for which `kLanes` lanes hold `kEach` each; all
// lanes of the warp call it, those of a row with the same `begin`, `length` and `row`.
template <int kLanes, int kEach, class S, class K, class Rows, class TiesT>
__device__ __forceinline__ bool mode_of_row(const Rows& rows, const TiesT& ties,
                                            Index row, Offset begin, int length, unsigned lane,
                                            K& winner) {
  const int base = static_cast<int>(lane) / kLanes * kLanes, rank = static_cast<int>(lane) % kLanes;
  const bool counts = rows.are_equal();
  K key[kEach];
  S value[kEach], sum[kEach];
  unsigned valid[kEach];
  int number[kEach];
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    const int place = e * kLanes + rank;
    key[e] = 0;
    bool has = false;
    if (place < length) has = rows.load(begin + place, key[e]);
    value[e] = 0;
    if (has && !counts) value[e] = rows.template value<S>(begin + place);
    valid[e] = __ballot_sync(kAllLanes, has);
    sum[e] = 0;
    number[e] = 0;
  }
  // Rows of a warp may be unequally long: as many steps as the longest needs.
#pragma unroll
  for (int f = 0; f < kEach; ++f) {
    if (valid[f] == 0) continue;
#pragma unroll 8
    for (int step = 0; step < kLanes; ++step) {
      const K other = shuffle(key[f], base + step);
      const S added = counts ? S(0) : shuffle(value[f], base + step);
      const bool is_there = valid[f] >> (base + step) & 1u;
#pragma unroll
      for (int e = 0; e < kEach; ++e) {
        if (!is_there || other != key[e]) continue;
        if (counts) {
          ++number[e];
        } else {
          sum[e] += added;
        }
      }
    }
  }
  if (counts) {
    const S one = rows.template value<S>(0);
#pragma unroll
    for (int e = 0; e < kEach; ++e) sum[e] = static_cast<S>(number[e]) * one;
  }
  RankedKey<K, S> best{0, 0, 0, false};
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    best.take({comparable(sum[e]), 0, key[e], (valid[e] >> lane & 1u) != 0});
  }
  S most = best.sum;
  bool any = best.has;
#pragma unroll
  for (int step = kLanes / 2; step > 0; step /= 2) {
    const int other = static_cast<int>(lane) ^ step;
    const S met = shuffle(most, other);
    const bool has = __shfl_sync(kAllLanes, any ? 1 : 0, other) != 0;
    if (has && (!any || met > most)) most = met;
    any = any || has;
  }
  // Where one key alone has the largest sum, nothing is drawn.
  const unsigned group = kLanes == kWarp ? kAllLanes : ((1u << kLanes % kWarp) - 1) << base;
  const unsigned first = __ballot_sync(kAllLanes, best.has && best.sum == most) & group;
  winner = shuffle(best.key, first == 0 ? base : __ffs(static_cast<int>(first)) - 1);
  bool is_tied = false;
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    const bool has = (valid[e] >> lane & 1u) != 0;
    is_tied = is_tied || (has && comparable(sum[e]) == most && key[e] != winner);
  }
  if (!__any_sync(kAllLanes, is_tied)) return any;
  bool has_own = false;
  K own = 0;
  if constexpr (TiesT::kPrefersOwn) {
    has_own = any && ties.preferred.has(row);
    if (has_own) own = ties.preferred.values[row];
  }
  best = RankedKey<K, S>{0, 0, 0, false};
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    const bool has = (valid[e] >> lane & 1u) != 0 && comparable(sum[e]) == most;
    if (has) best.take({most, ties.rank(key[e], row, has_own, own), key[e], true});
  }
#pragma unroll
  for (int step = kLanes / 2; step > 0; step /= 2) {
    best.take(best.from_lane(static_cast<int>(lane) ^ step));
  }
  if (any) winner = best.key;
  return any;
}

// Bits of a key, mixed so that no two keys have the same.
__device__ __forceinline__ unsigned mixed(int key) {
  unsigned x = static_cast<unsigned>(key);
  x = (x ^ x >> 16) * 0x85EBCA6Bu;
  x = (x ^ x >> 13) * 0xC2B2AE35u;
  return x ^ x >> 16;
}
__device__ __forceinline__ unsigned long long mixed(long long key) {
  unsigned long long x = static_cast<unsigned long long>(key);
  x = (x ^ x >> 33) * 0xFF51AFD7ED558CCDull;
  x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53ull;
  return x ^ x >> 33;
}

// Sums by place, added to by many threads. Integers are two words: shared memory adds to one at once.
template <class S>
struct TableSums {
  S sums[kModeSlots + 1];
  __device__ __forceinline__ void reset(unsigned slot) { sums[slot] = 0; }
  __device__ __forceinline__ void add(unsigned slot, S value) { atomicAdd(&sums[slot], value); }
  __device__ __forceinline__ S get(unsigned slot) const { return sums[slot]; }
};
template <>
struct TableSums<long long> {
  unsigned low[kModeSlots + 1], high[kModeSlots + 1];
  __device__ __forceinline__ void reset(unsigned slot) { low[slot] = high[slot] = 0; }
  __device__ __forceinline__ void add(unsigned slot, long long value) {
    const unsigned added = static_cast<unsigned>(value);
    unsigned more = static_cast<unsigned>(static_cast<unsigned long long>(value) >> 32);
    if (added != 0) more += atomicAdd(&low[slot], added) > ~added ? 1u : 0u;
    if (more != 0) atomicAdd(&high[slot], more);
  }
  __device__ __forceinline__ long long get(unsigned slot) const {
    return static_cast<long long>(static_cast<unsigned long long>(high[slot]) << 32 | low[slot]);
  }
};

// Keys of a row, or of a part of them. The lowest key marks a free place, and has one of its own
// behind the others.
template <class K, class S>
struct KeyTable {
  static constexpr K kFree = kLowest<K>;
  K keys[kModeSlots];
  TableSums<S> sums;
  unsigned filled;  // more than kModeKeys: the row is walked again, in more parts
  bool has_lowest;

  __device__ __forceinline__ void reset() {
    for (unsigned slot = threadIdx.x; slot <= kModeSlots; slot += blockDim.x) {
      if (slot < kModeSlots) keys[slot] = kFree;
      sums.reset(slot);
    }
    if (threadIdx.x == 0) {
      filled = 0;
      has_lowest = false;
    }
  }
  __device__ __forceinline__ bool is_full() const {
    return *static_cast<const volatile unsigned*>(&filled) > kModeKeys;
  }
  // Nothing where the table is full.
  template <class Bits>
  __device__ __forceinline__ void add(K key, Bits bits, S value) {
    if (key == kFree) {
      has_lowest = true;
      sums.add(kModeSlots, value);
      return;
    }
    unsigned slot = static_cast<unsigned>(bits >> (8 * sizeof(Bits) - 11));
    static_assert(kModeSlots == 1u << 11, "the bits that name a place");
    for (unsigned tries = 0; tries < kModeSlots; ++tries) {
      K found = keys[slot];
      if (found == kFree) {
        if (is_full()) return;
        found = compare_and_set(&keys[slot], key);
        if (found == kFree) {
          atomicAdd(&filled, 1u);
          found = key;
        }
      }
      if (found == key) {
        sums.add(slot, value);
        return;
      }
      slot = (slot + 1) % kModeSlots;
    }
  }
  static __device__ __forceinline__ int compare_and_set(int* place, int key) {
    return atomicCAS(place, kFree, key);
  }
  static __device__ __forceinline__ long long compare_and_set(long long* place, long long key) {
    return static_cast<long long>(atomicCAS(reinterpret_cast<unsigned long long*>(place),
                                            static_cast<unsigned long long>(kFree),
                                            static_cast<unsigned long long>(key)));
  }
};

// Adds the entries of a row whose keys are of one part to the table. All threads of the block.
template <class K, class S, class Rows>
__device__ __forceinline__ void fill_key_table(KeyTable<K, S>& table, const Rows& rows,
                                               Offset begin, Offset end,
                                               decltype(mixed(K())) part,
                                               decltype(mixed(K())) parts) {
  constexpr int kBatch = 4;
  const Offset step = static_cast<Offset>(blockDim.x);
  for (Offset first = begin + static_cast<Offset>(threadIdx.x); first < end;
       first += kBatch * step) {
    K key[kBatch];
    bool has[kBatch];
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      const Offset at = first + b * step;
      has[b] = at < end && rows.load(at, key[b]);
    }
    if (table.is_full()) return;
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      if (!has[b]) continue;
      const auto bits = mixed(key[b]);
      if ((bits & (parts - 1)) != part) continue;
      table.add(key[b], bits, rows.template value<S>(first + b * step));
    }
  }
}

// The mode of a row by a whole block; thread 0 gets it.
template <class S, class K, class Rows, class TiesT>
__device__ __forceinline__ RankedKey<K, S> mode_by_block(KeyTable<K, S>& table, const Rows& rows,
                                                         const TiesT& ties, Index row) {
  using Bits = decltype(mixed(K()));
  __shared__ RankedKey<K, S> of_warps[kWarp];
  const Offset begin = rows.matrix.indptr[row], end = rows.matrix.indptr[row + 1];
  bool has_own = false;
  K own = 0;
  if constexpr (TiesT::kPrefersOwn) {
    has_own = ties.preferred.has(row);
    if (has_own) own = ties.preferred.values[row];
  }
  RankedKey<K, S> best{0, 0, 0, false};
  bool is_ranked = false;
  for (Bits part = 0, parts = 1; part < parts; ++part) {
    table.reset();
    __syncthreads();
    fill_key_table(table, rows, begin, end, part, parts);
    __syncthreads();
    if (table.is_full()) {
      // From the start, in parts of half the size. Everybody has seen it before it is emptied.
      part = static_cast<Bits>(-1);
      parts *= 2;
      best.has = is_ranked = false;
      __syncthreads();
      continue;
    }
    for (unsigned slot = threadIdx.x; slot <= kModeSlots; slot += blockDim.x) {
      const bool is_last = slot == kModeSlots;
      const K key = is_last ? KeyTable<K, S>::kFree : table.keys[slot];
      if (is_last ? !table.has_lowest : key == KeyTable<K, S>::kFree) continue;
      RankedKey<K, S> met{comparable(table.sums.get(slot)), 0, key, true};
      if (best.has && met.sum == best.sum) {
        if (!is_ranked) best.rank = ties.rank(best.key, row, has_own, own);
        is_ranked = true;
        met.rank = ties.rank(key, row, has_own, own);
        best.take(met);
      } else if (!best.has || met.sum > best.sum) {
        best = met;
        is_ranked = false;
      }
    }
    __syncthreads();
  }
  if (best.has && !is_ranked) best.rank = ties.rank(best.key, row, has_own, own);
  const int lane = static_cast<int>(threadIdx.x % kWarp);
#pragma unroll 1
  for (int step = kWarp / 2; step > 0; step /= 2) best.take(best.from_lane(lane ^ step));
  if (lane == 0) of_warps[threadIdx.x / kWarp] = best;
  __syncthreads();
  if (threadIdx.x < kWarp) {
    best.has = false;
    if (threadIdx.x < blockDim.x / kWarp) best = of_warps[threadIdx.x];
#pragma unroll 1
    for (int step = kWarp / 2; step > 0; step /= 2) best.take(best.from_lane(lane ^ step));
  }
  __syncthreads();
  return best;
}

// Rows that a block has found for itself, at most one a thread.
struct FoundRows {
  unsigned count;
  Index rows[1024];
};

// `out` is empty before.
template <class S, class Rows, class TiesT, class MaskT>
SEMIRA_PHASE void mode_rows(const Team& team, const Rows rows, const TiesT ties, Index num_rows,
                            const MaskT mask, const Plane<typename Rows::Key> out,
                            Counters* counters) {
  using K = typename Rows::Key;
  constexpr int kLongest = kWarp * kLaneMode;
  Count inserted = 0, touched = 0;
  const unsigned count = static_cast<unsigned>(num_rows);
  for (unsigned first = team.warp * kWarp; first < count; first += team.warps * kWarp) {
    const unsigned mine = first + team.lane;
    const bool open = mine < count && mask.allows(static_cast<Index>(mine));
    const Offset begin = open ? rows.matrix.indptr[mine] : 0;
    const Offset entries = open ? rows.matrix.indptr[mine + 1] - begin : 0;
    const int length = entries > kLongest ? 0 : static_cast<int>(entries);
    touched += static_cast<Count>(length);
    unsigned shorts = __ballot_sync(kAllLanes, length > 0 && length <= kShortMode);
    unsigned others = __ballot_sync(kAllLanes, length > kShortMode);
    unsigned filled = 0;
    while (shorts != 0) {
      const unsigned turn = team.lane / kShortMode;
      const bool has_row = turn < static_cast<unsigned>(__popc(shorts));
      const int source = has_row ? nth_bit(shorts, turn) : 0;
      const Offset from = __shfl_sync(kAllLanes, begin, source);
      const int items = __shfl_sync(kAllLanes, length, source);
      const Index row = static_cast<Index>(first) + source;
      K winner;
      const bool found = mode_of_row<kShortMode, 1, S>(rows, ties, row, from, has_row ? items : 0,
                                                       team.lane, winner);
      const bool writes = found && has_row && team.lane % kShortMode == 0;
      if (writes) out.values[row] = winner;
      filled |= __reduce_or_sync(kAllLanes, writes ? 1u << source : 0u);
      for (int k = 0; k < kWarp / kShortMode && shorts != 0; ++k) shorts &= shorts - 1;
    }
    while (others != 0) {
      const int source = __ffs(static_cast<int>(others)) - 1;
      others &= others - 1;
      const Offset from = __shfl_sync(kAllLanes, begin, source);
      const int items = __shfl_sync(kAllLanes, length, source);
      const Index row = static_cast<Index>(first) + source;
      K winner;
      const bool found =
          mode_of_row<kWarp, kLaneMode, S>(rows, ties, row, from, items, team.lane, winner);
      if (found && team.lane == 0) out.values[row] = winner;
      filled |= found ? 1u << source : 0u;
    }
    // Blocks add the long rows of the word.
    if (team.lane == 0 && filled != 0) {
      atomicOr(&out.words[first / kWarp], filled);
      inserted += static_cast<Count>(__popc(filled));
    }
  }
  __shared__ FoundRows found;
  __shared__ KeyTable<K, S> table;
  // Neighbouring rows go to different blocks: long rows tend to be neighbours.
  for (unsigned first = team.block; first < count; first += team.blocks * blockDim.x) {
    if (threadIdx.x == 0) found.count = 0;
    __syncthreads();
    const unsigned mine = first + threadIdx.x * team.blocks;
    if (mine < count && rows.matrix.degree(static_cast<Index>(mine)) > kLongest &&
        mask.allows(static_cast<Index>(mine))) {
      found.rows[atomicAdd(&found.count, 1u)] = static_cast<Index>(mine);
    }
    __syncthreads();
    const unsigned number = found.count;
    for (unsigned k = 0; k < number; ++k) {
      const Index row = found.rows[k];
      const RankedKey<K, S> best = mode_by_block<S>(table, rows, ties, row);
      if (threadIdx.x != 0) continue;
      touched += static_cast<Count>(rows.matrix.degree(row));
      if (!best.has) continue;
      out.values[row] = best.key;
      atomicOr(&out.words[static_cast<unsigned>(row) / kWarp],
               1u << (static_cast<unsigned>(row) % kWarp));
      ++inserted;
    }
    __syncthreads();
  }
  const Count values[2] = {inserted, touched};
  Count* const sums[2] = {&counters->inserted, &counters->touched};
  add_over_block(values, sums);
}
