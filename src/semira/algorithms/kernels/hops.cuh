// Searches from many sources, a bit for each (see hops.py): one level of a block of sources a call.
// Calls have turns 0, 1, 2, 0, ...: what a call finds goes where the next one looks, and where the
// one before looked is cleared meanwhile, so that a level needs one barrier. Frontiers are sets, a
// bit for each vertex: a queue has an end that all threads would change.
#pragma once
#include "semira.algorithms.kernels:hop_state.cuh"

// Lets no search have found a vertex; of the first block, no level is there.
template <class L>
__device__ __forceinline__ void clear_all(const Searches& all, long long k, long long kind,
                                          long long block, L* level) {
  const Group<1> mine;
  for (long long at = mine.first; at < all.n * all.words; at += mine.step) {
    all.seen[at] = bits_from(all.many - 64 * (at % all.words));
    all.now[at] = all.next[at] = all.past[at] = 0;
  }
  for (long long at = mine.first; at < all.num_sets(); at += mine.step) {
    all.ready[at] = all.coming[at] = all.gone[at] = 0;
  }
  if (kind != 1 || block != 0) return;
  Word none = static_cast<Word>(kHighest<L>);
  for (int bits = 8 * sizeof(L); bits < 64; bits *= 2) none |= none << bits;
  const long long length = all.n * k, wide = length * static_cast<long long>(sizeof(L)) / 8;
  for (long long at = mine.first; at < wide; at += mine.step) {
    reinterpret_cast<Word*>(level)[at] = none;
  }
  const long long rest = wide * 8 / static_cast<long long>(sizeof(L)) + mine.first;
  if (rest < length) level[rest] = kHighest<L>;
}

template <class P>
__device__ __forceinline__ void seed_all(const Searches& all, const P* indptr,
                                         const long long* sources, long long* next, Tally& tally) {
  const Group<1> mine;
  for (long long s = mine.first; s < all.many; s += mine.step) {
    const Word bit = 1ull << (s % 64);
    atomicOr(reinterpret_cast<Word*>(next + kAlive + s / 64), bit);
    const long long v = sources[all.first + s];
    atomicOr(all.seen + all.words * v + s / 64, bit);
    atomicOr(all.next + all.words * v + s / 64, bit);
    all.enter(v, indptr, tally);
  }
}

// Notes what the last level found at the `ready` ones of eight vertices, unless only last levels are
// kept, and forgets what the level before found at the `gone` ones. Eight threads do, with equal parts
// of a vertex' words.
template <class L>
__device__ __forceinline__ void settle_set(const Searches& all, long long set, unsigned ready,
                                           unsigned gone, long long kind, L* level,
                                           long long* counts, long long depth) {
  const int own = static_cast<int>(threadIdx.x) % kLanes;
  for (int at = own; at < kLanes * all.words; at += kLanes) {
    if (gone >> (at >> all.shift) & 1) all.past[kLanes * all.words * set + at] = 0;
  }
  if (kind == 0 || (kind == 2 && depth == 0)) return;
  const unsigned peers = 0xffu << (threadIdx.x % 32 / kLanes * kLanes);
  const int bits = 8 * all.words, from = own * bits % 64;
  for (unsigned left = ready; left != 0; left &= left - 1) {
    const long long v = kLanes * set + __ffs(static_cast<int>(left)) - 1;
    Word x = all.now[all.words * v + own * bits / 64] >> from & ~0ull >> (64 - bits);
    if (kind == 1) {
      L* const to = level + all.first * all.n + all.many * v + own * bits;
      for (; x != 0; x &= x - 1) to[__popcll(~x & (x - 1))] = static_cast<L>(depth);
    } else {
      int came = __popcll(x);
      for (int step = 1; step < kLanes; step *= 2) came += __shfl_xor_sync(peers, came, step);
      if (own == 0) {
        counts[2 * v] += came;
        counts[2 * v + 1] += came * depth;
      }
    }
  }
}

// Settles the frontier, clears the one before, and pushes. Eight threads take as many vertices;
// those of a block lie apart, and their edges are shared out among all of its threads.
template <class P, class I, class L>
__device__ __forceinline__ void walk_frontier(const Searches& all, bool pushes, const P* indptr,
                                              const I* indices, long long kind, L* level,
                                              long long* counts, long long depth, Tally& tally) {
  __shared__ long long starts[kThreads];
  __shared__ int ends[kThreads], totals[kThreads / 32], held[kThreads / kLanes];
  const int place = static_cast<int>(threadIdx.x), lane = place % 32, warp = place / 32;
  const int threads = static_cast<int>(blockDim.x), own = place % kLanes, group = place / kLanes;
  const long long sets = 4 * all.num_sets(), groups = threads / kLanes;
  for (long long base = 0; base < sets; base += groups * gridDim.x) {
    const long long set = base + static_cast<long long>(group) * gridDim.x + block_number();
    unsigned char* const gone = reinterpret_cast<unsigned char*>(all.gone) + set;
    unsigned ready = 0, past = 0;
    if (set < sets) {
      ready = reinterpret_cast<const unsigned char*>(all.ready)[set];
      past = *gone;
    }
    P begin = 0;
    int length = 0;
    if (pushes && (ready >> own & 1)) {
      const long long v = kLanes * set + own;
      begin = indptr[v];
      const long long edges = static_cast<long long>(indptr[v + 1] - begin);
      length = edges > kLong ? 0 : static_cast<int>(edges);
    }
    // All lanes have read what one of them clears.
    __syncwarp();
    if (past != 0 && own == 0) *gone = 0;
    if ((ready | past) != 0) {
      settle_set(all, set, ready, past, kind, level, counts, depth);
    }
    __syncwarp();
    if (!pushes) continue;
    int end = length;
    for (int step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(kAllLanes, end, step);
      if (lane >= step) end += other;
    }
    if (lane == 31) totals[warp] = end;
    if (own == 0) held[group] = static_cast<int>(set < sets ? set : 0);
    __syncthreads();
    int before = 0, total = 0;
    for (int i = 0; i < threads / 32; ++i) {
      if (i < warp) before += totals[i];
      total += totals[i];
    }
    ends[place] = before + end;
    starts[place] = static_cast<long long>(begin) - (before + end - length);
    __syncthreads();
    const int items = total << all.shift, j = place & (all.words - 1);
    for (int at = place; at < items; at += kAtOnce * threads) {
      int to[kAtOnce];
      Word mine[kAtOnce];
#pragma unroll
      for (int r = 0; r < kAtOnce; ++r) {
        const int e = (at + r * threads) >> all.shift;
        to[r] = -1;
        if (e >= total) continue;
        int row = 0;
        for (int step = threads / 2; step > 0; step /= 2) {
          if (ends[row + step - 1] <= e) row += step;
        }
        to[r] = static_cast<int>(indices[starts[row] + e]);
        mine[r] = all.now[all.words * (kLanes * static_cast<long long>(held[row / kLanes]) +
                                       row % kLanes) + j];
      }
      all.pass(to, j, mine, indptr, tally);
    }
    __syncthreads();
  }
}

// Pushes from long rows, a warp from each part; `parts` has a vertex and the number of its part.
// Parts of one row lie side by side and go to different warps.
template <class P, class I>
__device__ __forceinline__ void push_long(const Searches& all, const P* indptr, const I* indices,
                                          const int* parts, long long num_parts, Tally& tally) {
  const Group<32> warps;
  const int j = warps.lane & (all.words - 1), slots = 32 >> all.shift;
  for (long long base = warps.first; base < num_parts; base += 32 * warps.step) {
    const long long part = base + warps.lane * warps.step;
    const long long v = part < num_parts ? parts[2 * part] : -1;
    const bool is_live = v >= 0 && (all.ready[v / 32] >> v % 32 & 1);
    for (unsigned live = __ballot_sync(kAllLanes, is_live); live != 0; live &= live - 1) {
      const long long i = base + (__ffs(static_cast<int>(live)) - 1) * warps.step;
      const long long u = parts[2 * i], begin = indptr[u] + kLong * parts[2 * i + 1];
      const long long end = min(begin + kLong, static_cast<long long>(indptr[u + 1]));
      const Word own = all.now[all.words * u + j];
      for (long long e = begin + (warps.lane >> all.shift); e < end; e += kAtOnce * slots) {
        int to[kAtOnce];
        Word mine[kAtOnce];
#pragma unroll
        for (int r = 0; r < kAtOnce; ++r) {
          to[r] = e + r * slots < end ? static_cast<int>(indices[e + r * slots]) : -1;
          mine[r] = own;
        }
        all.pass(to, j, mine, indptr, tally);
      }
    }
  }
}

// Pulls along at most `kLong` entries of a row, by so many threads: each has one word of some of
// them. Returns the searches of its word that find the vertex.
template <int kMany, class J>
__device__ __forceinline__ Word gather(const Searches& all, long long v, const J* row, int length,
                                       const long long* told, Tally& tally) {
  constexpr int kRead = kMany == 32 ? kWide : kAtOnce;
  const int words = all.words, lane = static_cast<int>(threadIdx.x) % kMany;
  const int j = lane & (words - 1), slots = kMany >> all.shift;
  const unsigned peers = kAllLanes >> (32 - kMany) << (threadIdx.x % 32 / kMany * kMany);
  const Word* const front = all.now + j;
  int from[kRead], at = lane >> all.shift;
  // Entries are read a step before the words of their vertices.
  const auto fetch = [&]() {
#pragma unroll
    for (int r = 0; r < kRead; ++r, at += slots) {
      from[r] = at < length ? static_cast<int>(row[at]) : -1;
    }
  };
  fetch();
  Word wanted = all.missing(v, j) & static_cast<Word>(told[kAlive + j]);
  if constexpr (kMany == 32) {
    // Other parts of the row bring some meanwhile; the lanes of a word must agree on them.
    wanted = __shfl_sync(peers, wanted, j);
  }
  Word left = wanted;
  int read = 0;
  while (read < length && __any_sync(peers, left != 0)) {
    Word there[kRead];
#pragma unroll
    for (int r = 0; r < kRead; ++r) {
      there[r] = from[r] < 0 ? 0 : front[words * static_cast<long long>(from[r])];
    }
    fetch();
#pragma unroll
    for (int r = 0; r < kRead; ++r) left &= ~there[r];
    for (int step = words; step < kMany; step *= 2) left &= __shfl_xor_sync(peers, left, step);
    read = min(read + kRead * slots, length);
  }
  if (lane == 0) tally.looked += static_cast<unsigned>(read);
  return wanted & ~left;
}

// Pulls into short rows by eight threads each, or by warps into parts of long ones; `parts` is as in
// `push_long`. Each thread asks whether a row of its own misses a search, and all work on those.
template <int kMany, class P, class Q, class J>
__device__ __forceinline__ void pull(const Searches& all, const P* indptr, const Q* in_indptr,
                                     const J* in_indices, const int* parts, long long items,
                                     const long long* told, Tally& tally) {
  const Group<kMany> mine;
  const int leader = static_cast<int>(threadIdx.x) % 32 / kMany * kMany;
  const unsigned peers = kAllLanes >> (32 - kMany) << leader;
  for (long long base = mine.first; base < items; base += kMany * mine.step) {
    const long long item = base + mine.lane * mine.step;
    int v = 0, length = 0;
    Q begin = 0;
    Word misses = 0;
    if (item < items) {
      v = kMany == 32 ? parts[2 * item] : static_cast<int>(item);
      begin = in_indptr[v];
      long long entries = static_cast<long long>(in_indptr[v + 1] - begin);
      if constexpr (kMany == 32) {
        const long long past = kLong * parts[2 * item + 1];
        begin += static_cast<Q>(past);
        entries = min(entries - past, kLong);
      }
      length = entries > kLong ? 0 : static_cast<int>(entries);
      for (int j = 0; j < all.words && length != 0; ++j) {
        misses |= all.missing(v, j) & static_cast<Word>(told[kAlive + j]);
      }
      if (misses != 0) tally.open += static_cast<unsigned>(length);
    }
    unsigned found = 0;
    for (unsigned open = __ballot_sync(peers, misses != 0); open != 0; open &= open - 1) {
      const int owner = __ffs(static_cast<int>(open)) - 1;
      const long long u = __shfl_sync(peers, v, owner);
      const J* const row = in_indices + __shfl_sync(peers, begin, owner);
      const int entries = __shfl_sync(peers, length, owner);
      const Word fresh = gather<kMany>(all, u, row, entries, told, tally);
      if (__any_sync(peers, fresh != 0)) found |= 1u << owner;
      if (mine.lane >= all.words || fresh == 0) continue;
      tally.alive |= fresh;
      const long long to = all.words * u + mine.lane;
      if constexpr (kMany == 32) {
        atomicOr(all.next + to, fresh);
        atomicOr(all.seen + to, fresh);
      } else {
        all.next[to] = fresh;
        all.seen[to] |= fresh;
      }
    }
    if (found >> (leader + mine.lane) & 1) all.enter(v, indptr, tally);
  }
}

// Adds what threads counted to what the next call is told; all threads call it.
__device__ inline void report(const Tally& tally, int words, long long* next) {
  __shared__ Word alive[4];
  const int place = static_cast<int>(threadIdx.x);
  if (place < 4) alive[place] = 0;
  __syncthreads();
  Word mine = tally.alive;
  for (int step = words; step < 32; step *= 2) mine |= __shfl_xor_sync(kAllLanes, mine, step);
  if (place % 32 < words && mine != 0) atomicOr(&alive[place % 32], mine);
  const Count values[4] = {tally.found, tally.edges, tally.open, tally.looked};
  Count* const first = reinterpret_cast<Count*>(next + kFound);
  Count* const sums[4] = {first, first + 1, first + 2, first + 3};
  // Its first barrier is behind all that was found, too.
  add_over_block(values, sums);
  if (place < words && alive[place] != 0) {
    Word* const all = reinterpret_cast<Word*>(next + kAlive + place);
    if (alive[place] & ~*const_cast<volatile Word*>(all)) atomicOr(all, alive[place]);
  }
}

template <class P, class I, class Q, class J, class L>
__device__ __noinline__ void run_call(int turn, const P* indptr, const I* indices,
                                      const Q* in_indptr, const J* in_indices, const int* rows,
                                      long long num_rows, const int* columns, long long num_columns,
                                      const long long* sources, long long n, long long k,
                                      long long width, long long words, long long kind,
                                      long long limit, L* level, long long* counts, long long* far,
                                      long long* state, Word* seen, Word* fresh, unsigned* sets) {
  const long long* const told = part_of(state, turn);
  long long *const next = part_of(state, turn + 1), *const past = part_of(state, turn + 2);
  const Call call(told, n, k, width, static_cast<long long>(in_indptr[n]), limit);
  const int place = static_cast<int>(threadIdx.x);
  if (block_number() == 0) {
    if (place == 0) {
      call.tell(next);
      if (call.phase == kLast) state[1] = 1;
      // All have asked before the last call of a round.
      if (call.phase == kEnd && turn == 2) state[0] = 1;
    }
    if (place >= kFound && place < kPart) past[place] = 0;
  }
  if (call.phase == kEnd) return;
  // The block holds it: fewer threads would fit with all of it in registers.
  __shared__ Searches all;
  if (place == 0) all = Searches(turn, call.block, n, k, width, words, seen, fresh, sets);
  __syncthreads();
  Tally tally{};
  if (call.phase == kClear) {
    clear_all(all, k, kind, call.block, level);
  } else if (call.phase == kSeed) {
    seed_all(all, indptr, sources, next, tally);
  } else {
    if (block_number() == 0) {
      for (long long s = place; s < all.many; s += blockDim.x) {
        if (static_cast<Word>(told[kAlive + s / 64]) >> s % 64 & 1) far[all.first + s] = call.depth;
      }
    }
    const bool pushes = call.phase == kPush;
    walk_frontier(all, pushes, indptr, indices, kind, level, counts, call.depth, tally);
    if (pushes) push_long(all, indptr, indices, rows, num_rows, tally);
    if (call.phase == kPull) {
      pull<kLanes>(all, indptr, in_indptr, in_indices, nullptr, n, told, tally);
      pull<32>(all, indptr, in_indptr, in_indices, columns, num_columns, told, tally);
    }
  }
  report(tally, all.words, next);
}

template <class... Given>
__device__ void expand(long long items, Given... given) {
  run_call(0, given...);
}
template <class... Given>
__device__ void settle(long long items, Given... given) {
  run_call(1, given...);
}
template <class... Given>
__device__ void decide(long long items, Given... given) {
  run_call(2, given...);
}

// A warp for a tile; the sources follow each other.
template <class L>
__device__ void count_levels(long long items, const L* level, long long n, long long k,
                             long long width, long long limit, long long tile, long long tiles,
                             long long* counts) {
  const Group<32> mine;
  for (long long at = mine.first; at < tiles * k; at += mine.step) {
    const long long s = at / tiles, t = at % tiles, first = s / width * width;
    const long long step = min(width, k - first), end = min(t * tile + tile, n);
    long long count = 0;
    for (long long v = t * tile + mine.lane; v < end; v += 32) {
      count += static_cast<long long>(level[first * n + v * step + s - first]) <= limit ? 1 : 0;
    }
    for (int half = 16; half > 0; half /= 2) count += __shfl_xor_sync(kAllLanes, count, half);
    if (mine.lane == 0) counts[at] = count;
  }
}

template <class L, class X>
__device__ void list_levels(long long items, const L* level, long long n, long long k,
                            long long width, long long limit, long long tile, long long tiles,
                            const long long* ends, X* indices, X* values) {
  const Group<32> mine;
  for (long long at = mine.first; at < tiles * k; at += mine.step) {
    const long long s = at / tiles, t = at % tiles, first = s / width * width;
    const long long step = min(width, k - first), end = min(t * tile + tile, n);
    long long place = at == 0 ? 0 : ends[at - 1];
    for (long long base = t * tile; base < end; base += 32) {
      const long long v = base + mine.lane;
      const long long found =
          v < end ? static_cast<long long>(level[first * n + v * step + s - first]) : limit + 1;
      const unsigned there = __ballot_sync(kAllLanes, found <= limit);
      if (found <= limit) {
        const long long to = place + __popc(there & ((1u << mine.lane) - 1));
        indices[to] = static_cast<X>(v);
        values[to] = static_cast<X>(found);
      }
      place += __popc(there);
    }
  }
}
