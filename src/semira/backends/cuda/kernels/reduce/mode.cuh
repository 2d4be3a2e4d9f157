// w_i = the key u_j of which row i has the largest sum of A_ij, by rows.
//
// A warp takes up to 32 rows. Of the short ones it does four at once, of eight lanes each; each longer
// one has all lanes, and up to four entries a lane. There every entry meets all others of its row:
// registers alone, no atomics, and sums in the order of the entries. Rows of more entries wait in a queue for a block, which sums by
// key in a table in shared memory; where the keys of a row are too many, the row is walked several
// times, for a part of the keys each time.
#pragma once
#include "common/random.cuh"
#include "reduce/reduce.cuh"
#include "vxm/product.cuh"
#include "vxm/pull.cuh"
#include "vxm/push.cuh"

// Entries of the rows that lanes share four to a warp, and entries that a lane holds of longer ones.
constexpr int kShortMode = 8, kLaneMode = 4;

// What sums are compared as: NaN loses.
template <class S> SEMIRA_INLINE S comparable(S sum) {
  if constexpr (kIsFloat<S>) {
    if (sum != sum) return -__longlong_as_double(0x7ff0000000000000ll);
  }
  return sum;
}

// How a key is chosen among those with the largest sum: the preferred one; then, if there is a
// seed, the one with the greatest random number; then the smallest.
template <class K, bool kPrefers, bool kDraws> struct Ties {
  using Key = K;
  Plane<K> preferred;
  long long seed;

  // The key that a row prefers, if it has one.
  struct Own {
    K key = 0;
    bool is_there = false;
  };
  SEMIRA_INLINE Own own_of(Index row) const {
    if constexpr (kPrefers) {
      if (preferred.has(row)) return {preferred.values[row], true};
    }
    return {};
  }
  // Greater for what comes first; equal where the smaller key does.
  SEMIRA_INLINE unsigned long long rank(K key, Index row, const Own& own) const {
    if constexpr (kPrefers) {
      if (own.is_there && key == own.key) return ~0ull;
    }
    if constexpr (kDraws) {
      const unsigned long long drawn =
          philox(static_cast<unsigned long long>(static_cast<long long>(key)), row, 0, seed);
      return drawn == ~0ull ? drawn - 1 : drawn;
    }
    return 0;
  }
};

// A key with its sum and rank; the first of several is found by `take`.
template <class K, class S> struct RankedKey {
  S sum;
  unsigned long long rank;
  K key;
  bool has;

  SEMIRA_INLINE void take(const RankedKey& other) {
    if (!other.has) return;
    const bool loses =
        !has || other.sum > sum ||
        (other.sum == sum && (other.rank > rank || (other.rank == rank && other.key < key)));
    if (loses) *this = other;
  }
  SEMIRA_INLINE RankedKey from_lane(int lane) const {
    RankedKey other;
    other.sum = shuffle(sum, lane);
    other.rank = shuffle(rank, lane);
    other.key = shuffle(key, lane);
    other.has = __shfl_sync(kAllLanes, has ? 1 : 0, lane) != 0;
    return other;
  }
};

// What the rows are made of; with kCounts every entry counts 1.
template <class K, class A, bool kCounts> struct KeyedRows {
  using Key = K;
  static constexpr bool kSmall = kCounts;
  Compressed<A> matrix;
  const K* keys;
  const unsigned* present;  // null: every column has a key

  SEMIRA_INLINE bool load(Offset at, K& key) const {
    const unsigned column = static_cast<unsigned>(matrix.indices[at]);
    key = keys[column];
    return present == nullptr || (present[column / kWarp] >> (column % kWarp) & 1u);
  }
  // Whether a sum is larger if it has more entries, and only then.
  SEMIRA_INLINE bool are_equal() const {
    if constexpr (kCounts)
      return true;
    else
      return matrix.value_stride == 0 && matrix.values[0] > A(0);
  }
  template <class S> SEMIRA_INLINE S value(Offset at) const {
    if constexpr (kCounts)
      return S(1);
    else
      return cast<S>(matrix.value(at));
  }
};

// Keys of the entries of rows that lanes hold, `kEach` a lane: those that have an entry, by bits of a
// word, and those of which the sum is the largest of their row.
template <class K, int kEach> struct HeldKeys {
  K key[kEach];
  unsigned valid[kEach], tied[kEach];

  // The key of the lowest bit of words; every lane of the group gets it, and which word that was.
  SEMIRA_INLINE K first_of(
      const unsigned (&words)[kEach], unsigned lane, int& at, int& source) const {
    K found = key[0];
    unsigned word = words[0];
    at = 0;
#pragma unroll
    for (int e = 1; e < kEach; ++e) {
      if (word != 0) continue;
      word = words[e];
      found = key[e];
      at = e;
    }
    source = word == 0 ? static_cast<int>(lane) : __ffs(static_cast<int>(word)) - 1;
    return shuffle(found, source);
  }
};

// Where all entries count alike: how many of the row have the key of each.
template <int kLanes, int kEach, class K>
SEMIRA_INLINE void count_keys(HeldKeys<K, kEach>& held, int length, unsigned lane, unsigned group) {
  const unsigned base = lane / kLanes * kLanes;
  int count[kEach];
  SEMIRA_UNROLLED(e, kEach) count[e] = 0;
  SEMIRA_UNROLLED(f, kEach) {
    // Alike in all lanes: only whole warps hold more than an entry a lane.
    if (f > 0 && f * kLanes >= length) continue;
    const unsigned there = held.valid[f] >> base;
    int steps = kLanes;
    if constexpr (kLanes == kWarp) {
      // A multiple of what is unrolled: lanes beyond the row have no entry.
      const int left = length - f * kWarp;
      if (left < kWarp) steps = (left + 7) / 8 * 8;
    }
#pragma unroll 1
    for (int first = 0; first < steps; first += 8) {
#pragma unroll
      for (int step = first; step < first + 8; ++step) {
        const K other = shuffle(held.key[f], static_cast<int>(base) + step);
        const bool is_there = there >> step & 1u;
        SEMIRA_UNROLLED(e, kEach) {
          if (e > 0 && e * kLanes >= length) continue;
          count[e] += is_there && other == held.key[e] ? 1 : 0;
        }
      }
    }
  }
  int most = 0;
  SEMIRA_UNROLLED(e, kEach) {
    if ((held.valid[e] >> lane & 1u) == 0) count[e] = 0;
    most = count[e] > most ? count[e] : most;
  }
  if constexpr (kLanes == kWarp) {
    most = static_cast<int>(__reduce_max_sync(kAllLanes, static_cast<unsigned>(most)));
  } else {
#pragma unroll
    for (int step = kLanes / 2; step > 0; step /= 2) {
      const int met = __shfl_xor_sync(kAllLanes, most, step);
      most = met > most ? met : most;
    }
  }
  SEMIRA_UNROLLED(e, kEach) {
    held.tied[e] = __ballot_sync(kAllLanes, count[e] == most && most > 0) & group;
  }
}

// Where they do not: every entry meets all others of its row, in their order.
template <int kLanes, int kEach, class S, class K>
SEMIRA_INLINE void sum_keys(
    HeldKeys<K, kEach>& held, const S (&value)[kEach], unsigned lane, unsigned group) {
  const int base = static_cast<int>(lane) / kLanes * kLanes;
  S sum[kEach];
  SEMIRA_UNROLLED(e, kEach) sum[e] = 0;
  SEMIRA_UNROLLED(f, kEach) {
    if (!__any_sync(kAllLanes, held.valid[f] != 0)) continue;
#pragma unroll 4
    for (int step = 0; step < kLanes; ++step) {
      const K other = shuffle(held.key[f], base + step);
      const S added = shuffle(value[f], base + step);
      const bool is_there = held.valid[f] >> (base + step) & 1u;
      SEMIRA_UNROLLED(e, kEach) {
        if (is_there && other == held.key[e]) sum[e] += added;
      }
    }
  }
  S most = 0;
  bool any = false;
  SEMIRA_UNROLLED(e, kEach) {
    sum[e] = comparable(sum[e]);
    const bool has = (held.valid[e] >> lane & 1u) != 0;
    if (has && (!any || sum[e] > most)) most = sum[e];
    any = any || has;
  }
#pragma unroll
  for (int step = kLanes / 2; step > 0; step /= 2) {
    const int other = static_cast<int>(lane) ^ step;
    const S met = shuffle(most, other);
    const bool has = __shfl_sync(kAllLanes, any ? 1 : 0, other) != 0;
    if (has && (!any || met > most)) most = met;
    any = any || has;
  }
  SEMIRA_UNROLLED(e, kEach) {
    const bool has = (held.valid[e] >> lane & 1u) != 0;
    held.tied[e] = __ballot_sync(kAllLanes, has && sum[e] == most) & group;
  }
}

// The mode of a row of at most kEach * kLanes entries, of which `kLanes` lanes hold `kEach` each; all
// lanes of the warp call it, those of a row with the same `row`, `begin` and `length`.
template <int kLanes, int kEach, class S, class Rows, class TiesT>
SEMIRA_INLINE bool mode_of_row(const Rows& rows, const TiesT& ties, Index row, Offset begin,
    int length, unsigned lane, typename Rows::Key& winner) {
  using K = typename Rows::Key;
  const int rank = static_cast<int>(lane) % kLanes;
  const unsigned base = lane / kLanes * kLanes;
  const unsigned group = kLanes == kWarp ? kAllLanes : ((1u << kLanes % kWarp) - 1) << base;
  const bool counts = rows.are_equal();
  HeldKeys<K, kEach> held;
  S value[kEach];
  SEMIRA_UNROLLED(e, kEach) {
    const int place = e * kLanes + rank;
    held.key[e] = 0;
    value[e] = 0;
    bool has = false;
    if (place < length) has = rows.load(begin + place, held.key[e]);
    if (has && !counts) value[e] = rows.template value<S>(begin + place);
    held.valid[e] = __ballot_sync(kAllLanes, has) & group;
  }
  if (counts) {
    count_keys<kLanes>(held, length, lane, group);
  } else {
    sum_keys<kLanes>(held, value, lane, group);
  }
  int at, source;
  winner = held.first_of(held.tied, lane, at, source);
  unsigned all = 0;
  bool is_tied = false;
  SEMIRA_UNROLLED(e, kEach) {
    all |= held.tied[e];
    is_tied = is_tied || ((held.tied[e] >> lane & 1u) != 0 && held.key[e] != winner);
  }
  // Where one key alone has the largest sum, nothing is drawn.
  if (!__any_sync(kAllLanes, is_tied)) return all != 0;
  const auto own = all != 0 ? ties.own_of(row) : typename TiesT::Own{};
  RankedKey<K, S> best{0, 0, 0, false};
  SEMIRA_UNROLLED(e, kEach) {
    if ((held.tied[e] >> lane & 1u) == 0) continue;
    best.take({0, ties.rank(held.key[e], row, own), held.key[e], true});
  }
#pragma unroll
  for (int step = kLanes / 2; step > 0; step /= 2) {
    best.take(best.from_lane(static_cast<int>(lane) ^ step));
  }
  if (all != 0) winner = best.key;
  return all != 0;
}

// Bits of a key, mixed so that no two keys have the same.
SEMIRA_INLINE unsigned mixed(int key) {
  unsigned x = static_cast<unsigned>(key);
  x = (x ^ x >> 16) * 0x85EBCA6Bu;
  x = (x ^ x >> 13) * 0xC2B2AE35u;
  return x ^ x >> 16;
}
SEMIRA_INLINE unsigned long long mixed(long long key) {
  unsigned long long x = static_cast<unsigned long long>(key);
  x = (x ^ x >> 33) * 0xFF51AFD7ED558CCDull;
  x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53ull;
  return x ^ x >> 33;
}

// Sums by place, added to by many threads. Counts are a word, other integers are two: shared memory
// adds to one at once.
template <class S, bool kSmall, unsigned kSlots> struct TableSums {
  S sums[kSlots + 1];
  SEMIRA_INLINE void reset(unsigned slot) { sums[slot] = 0; }
  SEMIRA_INLINE void add(unsigned slot, S value) { atomicAdd(&sums[slot], value); }
  SEMIRA_INLINE S get(unsigned slot) const { return sums[slot]; }
};
template <unsigned kSlots> struct TableSums<long long, true, kSlots> {
  unsigned sums[kSlots + 1];
  SEMIRA_INLINE void reset(unsigned slot) { sums[slot] = 0; }
  SEMIRA_INLINE void add(unsigned slot, long long) { atomicAdd(&sums[slot], 1u); }
  SEMIRA_INLINE long long get(unsigned slot) const { return sums[slot]; }
};
template <unsigned kSlots> struct TableSums<long long, false, kSlots> {
  unsigned low[kSlots + 1], high[kSlots + 1];
  SEMIRA_INLINE void reset(unsigned slot) { low[slot] = high[slot] = 0; }
  SEMIRA_INLINE void add(unsigned slot, long long value) {
    const unsigned added = static_cast<unsigned>(value);
    unsigned more = static_cast<unsigned>(static_cast<unsigned long long>(value) >> 32);
    if (added != 0) more += atomicAdd(&low[slot], added) > ~added ? 1u : 0u;
    if (more != 0) atomicAdd(&high[slot], more);
  }
  SEMIRA_INLINE long long get(unsigned slot) const {
    return static_cast<long long>(static_cast<unsigned long long>(high[slot]) << 32 | low[slot]);
  }
};

// Keys of a row, or of a part of them. The lowest key marks a free place, and has one of its own
// behind the others. With kSmall every entry counts 1.
template <class K, class S, bool kSmall> struct KeyTable {
  static constexpr K kFree = kLowest<K>;
  // At most 32 KiB.
  static constexpr int kBits = kSmall && sizeof(K) == 4 ? 12 : (sizeof(K) == 4 || kSmall ? 11 : 10);
  static constexpr unsigned kMost = 1u << kBits, kKeys = kMost - kMost / 4;
  K keys[kMost];
  TableSums<S, kSmall, kMost> sums;
  unsigned filled;  // more than kKeys: the row is walked again, in more parts
  bool has_lowest;

  SEMIRA_INLINE void reset(unsigned used) {
    for (unsigned slot = threadIdx.x; slot < used; slot += blockDim.x) {
      keys[slot] = kFree;
      sums.reset(slot);
    }
    if (threadIdx.x == 0) {
      sums.reset(kMost);
      filled = 0;
      has_lowest = false;
    }
  }
  SEMIRA_INLINE bool is_full() const {
    return *static_cast<const volatile unsigned*>(&filled) > kKeys;
  }
  // Nothing where the table is full.
  template <class Bits> SEMIRA_INLINE void add(K key, Bits bits, S value, unsigned used) {
    if (key == kFree) {
      has_lowest = true;
      sums.add(kMost, value);
      return;
    }
    unsigned slot = static_cast<unsigned>(bits >> (8 * sizeof(Bits) - kBits)) & (used - 1);
    for (unsigned tries = 0; tries < used; ++tries) {
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
      slot = (slot + 1) & (used - 1);
    }
  }
  static SEMIRA_INLINE int compare_and_set(int* place, int key) {
    return atomicCAS(place, kFree, key);
  }
  static SEMIRA_INLINE long long compare_and_set(long long* place, long long key) {
    return static_cast<long long>(atomicCAS(reinterpret_cast<unsigned long long*>(place),
        static_cast<unsigned long long>(kFree), static_cast<unsigned long long>(key)));
  }
};

// Adds the entries of a row whose keys are of one part to the table. All threads of the block.
template <class K, class S, bool kSmall, class Rows>
SEMIRA_INLINE void fill_key_table(KeyTable<K, S, kSmall>& table, const Rows& rows, Offset begin,
    Offset end, unsigned used, decltype(mixed(K())) part, decltype(mixed(K())) parts) {
  constexpr int kBatch = 4;
  const Offset step = static_cast<Offset>(blockDim.x);
  for (Offset first = begin + static_cast<Offset>(threadIdx.x); first < end;
      first += kBatch * step) {
    K key[kBatch];
    bool has[kBatch];
    SEMIRA_UNROLLED(b, kBatch) {
      const Offset at = first + b * step;
      has[b] = at < end && rows.load(at, key[b]);
    }
    if (table.is_full()) return;
    SEMIRA_UNROLLED(b, kBatch) {
      if (!has[b]) continue;
      const auto bits = mixed(key[b]);
      if ((bits & (parts - 1)) != part) continue;
      table.add(key[b], bits, rows.template value<S>(first + b * step), used);
    }
  }
}

// The mode of a row by a whole block; thread 0 gets it.
template <class S, class K, bool kSmall, class Rows, class TiesT>
SEMIRA_INLINE RankedKey<K, S> mode_by_block(
    KeyTable<K, S, kSmall>& table, const Rows& rows, const TiesT& ties, Index row) {
  using Table = KeyTable<K, S, kSmall>;
  using Bits = decltype(mixed(K()));
  __shared__ RankedKey<K, S> of_warps[kWarp];
  const Offset begin = rows.matrix.indptr[row], end = rows.matrix.indptr[row + 1];
  const auto own = ties.own_of(row);
  // Of a row that may fill no more than half of them fewer places are used.
  unsigned used = Table::kMost;
  while (used / 4 >= static_cast<Count>(end - begin)) used /= 2;
  RankedKey<K, S> best{0, 0, 0, false};
  bool is_ranked = false;
  for (Bits part = 0, parts = 1; part < parts; ++part) {
    table.reset(used);
    __syncthreads();
    fill_key_table(table, rows, begin, end, used, part, parts);
    __syncthreads();
    if (table.is_full()) {
      // From the start, in parts of half the size. Everybody has seen it before it is emptied.
      part = static_cast<Bits>(-1);
      parts *= 2;
      best.has = is_ranked = false;
      __syncthreads();
      continue;
    }
    for (unsigned slot = threadIdx.x; slot <= used; slot += blockDim.x) {
      const bool is_last = slot == used;
      const K key = is_last ? Table::kFree : table.keys[slot];
      if (is_last ? !table.has_lowest : key == Table::kFree) continue;
      const S sum = comparable(table.sums.get(is_last ? Table::kMost : slot));
      RankedKey<K, S> met{sum, 0, key, true};
      if (best.has && met.sum == best.sum) {
        if (!is_ranked) best.rank = ties.rank(best.key, row, own);
        is_ranked = true;
        met.rank = ties.rank(key, row, own);
        best.take(met);
      } else if (!best.has || met.sum > best.sum) {
        best = met;
        is_ranked = false;
      }
    }
    __syncthreads();
  }
  if (best.has && !is_ranked) best.rank = ties.rank(best.key, row, own);
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

// `out` is empty before. Rows for a block are left in `queue`.
template <class S, class Rows, class TiesT, class MaskT>
SEMIRA_PHASE void mode_rows(const Team& team, const Rows rows, const TiesT ties, Index num_rows,
    const MaskT mask, const Plane<typename Rows::Key> out, const ChunkQueue queue,
    Counters* counters) {
  using K = typename Rows::Key;
  constexpr int kLongest = kWarp * kLaneMode;
  Count inserted = 0, touched = 0;
  const unsigned count = static_cast<unsigned>(num_rows);
  const unsigned turn = rows_of_turn<true>(count, team.warps);
  for (unsigned first = team.warp * turn; first < count; first += team.warps * turn) {
    const unsigned mine = first + team.lane;
    const bool open = team.lane < turn && mine < count && mask.allows(static_cast<Index>(mine));
    if (!__any_sync(kAllLanes, open)) continue;
    const Offset begin = open ? rows.matrix.indptr[mine] : 0;
    const Offset entries = open ? rows.matrix.indptr[mine + 1] - begin : 0;
    touched += static_cast<Count>(entries);
    unsigned others = __ballot_sync(kAllLanes, entries > kLongest);
    if (others != 0) {
      Count place = 0;
      if (team.lane == 0) place = atomicAdd(&counters->queued, static_cast<Count>(__popc(others)));
      place = shuffle(place, 0);
      if (entries > kLongest) {
        queue.rows[place + __popc(others & ((1u << team.lane) - 1))] = static_cast<Index>(mine);
      }
    }
    const int length = entries > kLongest ? 0 : static_cast<int>(entries);
    unsigned shorts = __ballot_sync(kAllLanes, length > 0 && length <= kShortMode);
    others = __ballot_sync(kAllLanes, length > kShortMode);
    unsigned filled = 0;
    while (shorts != 0) {
      const unsigned which = team.lane / kShortMode;
      const bool has_row = which < static_cast<unsigned>(__popc(shorts));
      const int source = has_row ? nth_bit(shorts, which) : 0;
      const Offset from = __shfl_sync(kAllLanes, begin, source);
      const int items = __shfl_sync(kAllLanes, length, source);
      const Index row = static_cast<Index>(first) + source;
      K winner;
      const bool found = mode_of_row<kShortMode, 1, S>(
          rows, ties, row, from, has_row ? items : 0, team.lane, winner);
      const bool writes = found && has_row && team.lane % kShortMode == 0;
      if (writes) out.values[row] = winner;
      filled |= __reduce_or_sync(kAllLanes, writes ? 1u << source : 0u);
      SEMIRA_UNROLLED(k, kWarp / kShortMode) shorts &= shorts - 1;
    }
    for (const int source : SetBits{others}) {
      const Offset from = __shfl_sync(kAllLanes, begin, source);
      const int items = __shfl_sync(kAllLanes, length, source);
      const Index row = static_cast<Index>(first) + source;
      K winner;
      const bool found =
          items <= kWarp
              ? mode_of_row<kWarp, 1, S>(rows, ties, row, from, items, team.lane, winner)
              : mode_of_row<kWarp, kLaneMode, S>(rows, ties, row, from, items, team.lane, winner);
      if (found && team.lane == 0) out.values[row] = winner;
      filled |= found ? 1u << source : 0u;
    }
    if (team.lane == 0 && filled != 0) {
      // Others may have rows of this word.
      atomicOr(&out.words[first / kWarp], filled << (first % kWarp));
      inserted += static_cast<Count>(__popc(filled));
    }
  }
  add_over_block<2>({inserted, touched}, {&counters->inserted, &counters->touched});
}

// Second phase, if anything was queued: a row a block.
template <class S, class Rows, class TiesT>
SEMIRA_PHASE void mode_long_rows(const Team& team, const Rows rows, const TiesT ties,
    const Plane<typename Rows::Key> out, const ChunkQueue queue, Count queued, Counters* counters) {
  using K = typename Rows::Key;
  __shared__ KeyTable<K, S, Rows::kSmall> table;
  Count inserted = 0;
  for (Count k = team.block; k < queued; k += team.blocks) {
    const Index row = queue.rows[k];
    const RankedKey<K, S> best = mode_by_block<S>(table, rows, ties, row);
    if (threadIdx.x != 0 || !best.has) continue;
    out.put(row, best.key);
    ++inserted;
  }
  add_over_block<1>({inserted}, {&counters->inserted});
}
