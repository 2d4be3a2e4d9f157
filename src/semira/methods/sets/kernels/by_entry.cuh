// Dot products entry by entry of the mask, in sets: entries of one row share a set of its columns in
// the warp's memory (bits of every column, or a hash table); lanes side by side walk the columns of B.
#pragma once
#include "mxm/entrywise.cuh"
#include "semira.methods.sets.kernels:by_rows.cuh"

// Entries of a list for each of the lanes that look it up: each has several loads under way.
constexpr unsigned kLookedUpByLane = 4;

// No row is longer.
constexpr Offset kLongest = 0x7fffffff;

// The entries of `lanes` of a warp, which are in one row, through a set of it.
template <class Warp, class Set>
__device__ __forceinline__ void look_up_row(const Warp& warp, const Set& set, unsigned lanes,
                                            unsigned mean) {
  const int first = __ffs(static_cast<int>(lanes)) - 1;
  const int end = kWarp - __clz(static_cast<int>(lanes));
  const Line shared(warp.row.indices, __shfl_sync(kAllLanes, warp.row.start, first),
                    __shfl_sync(kAllLanes, warp.row.length, first));
  const Index number = __shfl_sync(kAllLanes, warp.i, first);
  set.fill(warp.group, shared);
  const unsigned width = (mean + kLookedUpByLane - 1) / kLookedUpByLane;
  const Spread spread(warp.group.lane, kWarp, width, end - first);
  for (int from = first; from < end; from += static_cast<int>(spread.parts)) {
    const int owner = from + static_cast<int>(spread.part);
    const bool is_pair = owner < end && (lanes >> owner & 1u) != 0;
    const int source = is_pair ? owner : first;
    typename Warp::Product dot(warp.a, warp.bt, number, __shfl_sync(kAllLanes, warp.j, source));
    const Line other(warp.column.indices, __shfl_sync(kAllLanes, warp.column.start, source),
                     __shfl_sync(kAllLanes, warp.column.length, source));
    if (is_pair) meet(dot, spread, set, shared, other);
    deliver(spread, kAllLanes, dot, warp.base + owner, is_pair, warp.emit);
  }
  set.empty(warp.group, shared);
}

// Of the lanes in `open`, those whose row a set may have: those of one row look it up together.
template <class Warp, class Look>
__device__ __forceinline__ unsigned look_up_runs(const Warp& warp, unsigned open, Offset longest,
                                                 Look look) {
  const unsigned lane = warp.group.lane;
  const Index before = __shfl_up_sync(kAllLanes, warp.i, 1);
  unsigned heads = __ballot_sync(kAllLanes, lane == 0 || before != warp.i), done = 0;
  while (heads != 0) {
    const unsigned from = heads & (0u - heads);
    heads &= heads - 1;
    const unsigned until = heads & (0u - heads);
    // From one bit up to the next one, or to the end.
    const unsigned lanes = open & (until - from);
    if (lanes == 0) continue;
    const bool is_mine = (lanes >> lane & 1u) != 0;
    const unsigned pairs = __popc(lanes);
    const int first = __ffs(static_cast<int>(lanes)) - 1;
    const Offset length = __shfl_sync(kAllLanes, warp.row.length, first);
    if (length > longest) continue;
    const Offset clipped = warp.column.length < kLongEnough ? warp.column.length : kLongEnough;
    const unsigned walked =
        __reduce_add_sync(kAllLanes, is_mine ? static_cast<unsigned>(clipped) : 0u);
    look(lanes, length, (walked + pairs - 1) / pairs);
    done |= lanes;
  }
  return done;
}

// What a warp looks up: it has `slots` slots of a table in the block's memory (with places as many
// behind them), or `words` words of bits, one bit for each column of A; 0: none.
template <bool kHasBits, bool kPlaces>
struct LookUpRows {
  long long words, slots;
  Index* memory;

  __device__ LookUpRows(long long bit_words, long long table_slots)
      : words(bit_words), slots(table_slots) {
    const Group<kWarp> group;
    const long long each = words != 0 ? words : (kPlaces ? 2 : 1) * slots;
    memory = reinterpret_cast<Index*>(block_memory) + group.number * each;
    if constexpr (kHasBits) bits().clear(group, words);
  }

  __device__ __forceinline__ RowBits bits() const {
    return {reinterpret_cast<unsigned*>(memory)};
  }

  template <class Warp>
  __device__ __forceinline__ unsigned operator()(const Warp& warp, bool is_open) const {
    const unsigned open = __ballot_sync(kAllLanes, is_open);
    if (kHasBits && words != 0) {
      return look_up_runs(warp, open, kLongest, [&](unsigned lanes, Offset, unsigned mean) {
        look_up_row(warp, bits(), lanes, mean);
      });
    }
    if (slots == 0) return 0;
    const Offset longest = static_cast<Offset>(slots / 2);
    return look_up_runs(warp, open, longest, [&](unsigned lanes, Offset length, unsigned mean) {
      look_up_row(warp, RowTable<kPlaces>(memory, slots, length), lanes, mean);
    });
  }
};
