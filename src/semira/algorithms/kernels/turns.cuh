// Greedy colours, each vertex as soon as its neighbours of greater numbers have theirs; see turns.py.
//
// There is no barrier: who waits for a colour looks at it again and again. A class of vertices, by the
// length of their rows, has blocks of its own, which take its vertices in falling order of their
// numbers. So somebody always can go on: the vertex of the greatest number without a colour waits for
// none, and whoever has to do it has done all that he had to do before.
#pragma once

typedef unsigned long long Word;

// Entries of the rows that two lanes do, eight lanes, a warp; longer ones have a block each.
constexpr int kTiny = 8, kShort = 32, kMedium = 512, kClasses = 4;

// Neighbours that a thread looks at together; those that it remembers to wait for, of a longer row.
constexpr int kAtOnce = 4, kListed = 16;

// How long who waits does not look, in ns.
constexpr unsigned kBlink = 20;

// Looks at a colour, which others write.
template <class V>
__device__ __forceinline__ V latest(const V* colour) {
  return *static_cast<const volatile V*>(colour);
}
template <class V>
__device__ __forceinline__ void tell(V* colour, long long c) {
  *static_cast<volatile V*>(colour) = static_cast<V>(c);
}

__device__ __forceinline__ unsigned number_of(long long v, long long start) {
  unsigned h = static_cast<unsigned>(v) ^ static_cast<unsigned>(start);
  h = (h ^ h >> 16) * 0x85EBCA6Bu;
  h = (h ^ h >> 13) * 0xC2B2AE35u;
  return h ^ h >> 16;
}

template <class P>
__device__ void falling_keys(long long items, long long start, const P* indptr, Word* keys,
                             long long* counts) {
  const Group<1> mine;
  unsigned own[kClasses] = {};
  for (long long v = mine.first; v < items; v += mine.step) {
    const long long length = indptr[v + 1] - indptr[v];
    const int kind = (length > kTiny) + (length > kShort) + (length > kMedium);
    keys[v] = static_cast<Word>(kind) << 32 | ~number_of(v, start);
#pragma unroll
    for (int k = 0; k < kClasses; ++k) own[k] += k == kind;
  }
#pragma unroll
  for (int k = 0; k < kClasses; ++k) {
    const unsigned all = __reduce_add_sync(kAllLanes, own[k]);
    if (threadIdx.x % kWarp == 0 && all != 0) atomic_add(&counts[k], all);
  }
}

template <class V>
__device__ void begin_colours(long long items, V* colour, long long* state) {
  const Group<1> mine;
  if (mine.first == 0) state[0] = 0;
  for (long long v = mine.first; v < items; v += mine.step) colour[v] = -1;
}

// Vertices of a class in the order of their turns, and the blocks that do them.
struct Share {
  const long long* order;
  long long count, block, blocks;
};

// Which class this block belongs to. Each one that has vertices gets a block, and of the others a share
// by its work: in turns of a warp, times 32.
__device__ __forceinline__ int class_of_block(const long long* order, const long long* counts,
                                              Share& share) {
  const int work[kClasses] = {2, 8, 64, 512};
  double total = 0;
  int classes = 0;
#pragma unroll
  for (int k = 0; k < kClasses; ++k) {
    total += static_cast<double>(counts[k]) * work[k];
    classes += counts[k] > 0;
  }
  const long long rest = gridDim.x - classes, own = block_number();
  long long from = 0, place = 0;
  for (int k = kClasses - 1; k >= 0; --k) {
    if (counts[k] == 0) continue;
    const double part = static_cast<double>(counts[k]) * work[k] / total;
    // The last class has what is left.
    long long blocks = 1 + static_cast<long long>(part * static_cast<double>(rest));
    if (--classes == 0) blocks = gridDim.x - from;
    if (own < from + blocks) {
      for (int j = 0; j < k; ++j) place += counts[j];
      share = {order + place, counts[k], own - from, blocks};
      return k;
    }
    from += blocks;
  }
  return kClasses;
}

// Rows of up to kLanes * kAtOnce entries, so that one word has room for their colours.
template <int kLanes, class P, class I, class V>
__device__ __forceinline__ void colour_short(const Share& share, long long start, const P* indptr,
                                             const I* indices, V* colour) {
  constexpr int kRows = kWarp / kLanes;
  static_assert(kLanes * kAtOnce <= kWarp, "a word of colours");
  const int lane = static_cast<int>(threadIdx.x % kWarp), rank = lane % kLanes;
  const unsigned group = ((1u << kLanes) - 1) << (lane - rank);
  const long long warps = share.blocks * (blockDim.x / kWarp);
  const long long warp = threadIdx.x / kWarp * share.blocks + share.block;
  for (long long first = warp * kRows; first < share.count; first += warps * kRows) {
    const long long k = first + lane / kLanes;
    bool open = k < share.count;
    const V v = open ? static_cast<V>(share.order[k]) : V(0);
    const long long begin = open ? indptr[v] : 0, end = open ? indptr[v + 1] : 0;
    const unsigned own = number_of(v, start);
    V near[kAtOnce];
    bool waits[kAtOnce];
#pragma unroll
    for (int e = 0; e < kAtOnce; ++e) {
      const long long p = begin + e * kLanes + rank;
      near[e] = p < end ? static_cast<V>(indices[p]) : v;
    }
#pragma unroll
    for (int e = 0; e < kAtOnce; ++e) waits[e] = number_of(near[e], start) > own;
    unsigned used = 0;
    while (true) {
      bool any = false;
      V seen[kAtOnce];
#pragma unroll
      for (int e = 0; e < kAtOnce; ++e) seen[e] = waits[e] ? latest(&colour[near[e]]) : V(-1);
#pragma unroll
      for (int e = 0; e < kAtOnce; ++e) {
        waits[e] = waits[e] && seen[e] < 0;
        any = any || waits[e];
        if (seen[e] >= 0 && seen[e] < 32) used |= 1u << seen[e];
      }
      const unsigned those = __ballot_sync(kAllLanes, any);
      const bool is_ready = open && (those & group) == 0;
      if (__any_sync(kAllLanes, is_ready)) {
        unsigned all = used;
#pragma unroll
        for (int step = kLanes / 2; step > 0; step /= 2) all |= __shfl_xor_sync(kAllLanes, all, step);
        // The place of its lowest bit that is 0, or 32.
        if (is_ready && rank == 0) tell(&colour[v], __popc((~all & (all + 1)) - 1));
        open = open && !is_ready;
      }
      if (!__any_sync(kAllLanes, open)) break;
      __nanosleep(kBlink);
    }
  }
}

// The bits of all threads that do a row, a warp or the block; all of them call it.
template <bool kBlock>
__device__ __forceinline__ Word all_bits(Word bits) {
  const unsigned low = __reduce_or_sync(kAllLanes, static_cast<unsigned>(bits));
  const unsigned high = __reduce_or_sync(kAllLanes, static_cast<unsigned>(bits >> 32));
  bits = static_cast<Word>(high) << 32 | low;
  if constexpr (kBlock) {
    __shared__ Word of_warps[kWarp];
    if (threadIdx.x % kWarp == 0) of_warps[threadIdx.x / kWarp] = bits;
    __syncthreads();
    bits = 0;
    for (unsigned w = 0; w < blockDim.x / kWarp; ++w) bits |= of_warps[w];
    __syncthreads();
  }
  return bits;
}

// Colours from `chosen` on, as bits.
struct Colours {
  Word low = 0, high = 0;

  __device__ __forceinline__ void add(long long c) {
    if (c < 0 || c >= 128) return;
    if (c < 64) low |= 1ull << c;
    else high |= 1ull << (c - 64);
  }
  // The lowest one that is missing, or 128.
  __device__ __forceinline__ int missing() const {
    if (~low != 0) return __popcll((~low & (low + 1)) - 1);
    return ~high != 0 ? 64 + __popcll((~high & (high + 1)) - 1) : 128;
  }
};

// The colours of the neighbours of `v` of greater numbers, as far as this thread looks at them. Waits
// for those that are missing: it remembers a few, in `list`; whether there are more, so that the row
// has to be read again.
template <class I, class V>
__device__ __forceinline__ bool look_around(V v, long long first, long long last, int thread,
                                            int threads, long long chosen, long long start,
                                            const I* indices, const V* colour, V* list,
                                            Colours& used) {
  const unsigned own = number_of(v, start);
  const int stride = static_cast<int>(blockDim.x);
  int count = 0;
  bool is_full = false;
  for (long long p = first + thread; p < last; p += kAtOnce * threads) {
    V near[kAtOnce], seen[kAtOnce];
    bool counts[kAtOnce];
#pragma unroll
    for (int e = 0; e < kAtOnce; ++e) {
      const long long at = p + e * threads;
      near[e] = at < last ? static_cast<V>(indices[at]) : v;
    }
#pragma unroll
    for (int e = 0; e < kAtOnce; ++e) {
      counts[e] = number_of(near[e], start) > own;
      seen[e] = counts[e] ? latest(&colour[near[e]]) : V(0);
    }
#pragma unroll
    for (int e = 0; e < kAtOnce; ++e) {
      if (!counts[e]) continue;
      if (seen[e] >= 0) used.add(seen[e] - chosen);
      else if (count < kListed) list[count++ * stride] = near[e];
      else is_full = true;
    }
  }
  while (count > 0) {
    int left = 0;
    for (int k = 0; k < count; k += kAtOnce) {
      V near[kAtOnce], seen[kAtOnce];
#pragma unroll
      for (int e = 0; e < kAtOnce; ++e) near[e] = k + e < count ? list[(k + e) * stride] : v;
#pragma unroll
      for (int e = 0; e < kAtOnce; ++e) seen[e] = near[e] == v ? V(0) : latest(&colour[near[e]]);
#pragma unroll
      for (int e = 0; e < kAtOnce; ++e) {
        if (near[e] == v) continue;
        if (seen[e] >= 0) used.add(seen[e] - chosen);
        else list[left++ * stride] = near[e];
      }
    }
    if (left == count) __nanosleep(kBlink);
    count = left;
  }
  return is_full;
}

// A row for each warp or each block.
template <bool kBlock, class P, class I, class V>
__device__ __forceinline__ void colour_long(const Share& share, long long start, const P* indptr,
                                            const I* indices, V* colour, V* list) {
  const int thread = static_cast<int>(kBlock ? threadIdx.x : threadIdx.x % kWarp);
  const int threads = kBlock ? static_cast<int>(blockDim.x) : kWarp;
  const long long crews = kBlock ? share.blocks : share.blocks * (blockDim.x / kWarp);
  const long long crew = kBlock ? share.block : threadIdx.x / kWarp * share.blocks + share.block;
  for (long long k = crew; k < share.count; k += crews) {
    const V v = static_cast<V>(share.order[k]);
    const long long first = indptr[v], last = indptr[v + 1];
    long long chosen = 0;
    while (true) {
      Colours used;
      bool again = true;
      while (again) {
        again = look_around(v, first, last, thread, threads, chosen, start, indices, colour, list, used);
        again = kBlock ? __syncthreads_or(again) != 0 : __any_sync(kAllLanes, again) != 0;
      }
      used.low = all_bits<kBlock>(used.low);
      if (~used.low == 0) used.high = all_bits<kBlock>(used.high);
      const int missing = used.missing();
      chosen += missing;
      if (missing < 128) break;
    }
    if (thread == 0) tell(&colour[v], chosen);
  }
}

template <class P, class I, class V>
__device__ void colour_in_turn(long long, long long start, const P* indptr, const I* indices,
                               const long long* order, const long long* counts, V* colour,
                               long long*) {
  __shared__ V lists[kListed * 256];
  V* const list = lists + threadIdx.x;
  Share share{};
  const int kind = class_of_block(order, counts, share);
  if (kind == 0) colour_short<kTiny / kAtOnce>(share, start, indptr, indices, colour);
  if (kind == 1) colour_short<kShort / kAtOnce>(share, start, indptr, indices, colour);
  if (kind == 2) colour_long<false>(share, start, indptr, indices, colour, list);
  if (kind == 3) colour_long<true>(share, start, indptr, indices, colour, list);
}

__device__ __forceinline__ void end_colours(long long, long long* state) { state[0] = 1; }
