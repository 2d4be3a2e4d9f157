// Searches from many sources, a bit for each: one level of one block of sources a call. See hops.py.
// Calls have turns 0, 1, 2, 0, ...: what a call finds goes where the next one looks, and where the
// one before looked is cleared meanwhile, so that a level needs one barrier. Frontiers are sets, a
// bit for each vertex: a queue has an end that all threads would change.
#pragma once

typedef unsigned long long Word;

// A turn's part of `state`, behind the two numbers that hosts have too: what the call before did,
// and what it counted.
enum : int { kPhase, kBlock, kDepth, kLeft, kShare, kOf, kFound, kEdges, kDone, kLooked, kAlive,
             kPart = kAlive + 4 };
enum : long long { kNothing, kClear, kSeed, kPush, kPull, kLast, kEnd };

__device__ __forceinline__ long long* part_of(long long* state, int turn) {
  return state + 2 + turn % 3 * kPart;
}

// Threads that share a row, and entries that each of them reads before they talk.
constexpr int kLanes = 8, kAtOnce = 4;

// Blocks share longer rows out, so many entries each.
constexpr long long kLong = 1024;

// Most threads of a block.
constexpr int kThreads = 256;

__device__ __forceinline__ Word bits_from(long long count) {
  return count >= 64 ? 0ull : count <= 0 ? ~0ull : ~0ull << count;
}

// What a call does; all threads decide alike.
struct Call {
  long long phase, block, depth, left, share, of;

  __device__ Call(const long long* told, long long n, long long k, long long width,
                  long long entries, long long limit)
      : phase(told[kPhase]), block(told[kBlock]), depth(told[kDepth]), left(told[kLeft]),
        share(told[kShare]), of(told[kOf]) {
    if (phase == kEnd) return;
    if (phase == kNothing) {
      phase = kClear;
    } else if (phase == kClear) {
      phase = kSeed;
      depth = -1;
      left = entries;
      share = 1;
      of = 4;
    } else if (phase == kLast || told[kFound] == 0) {
      phase = width * ++block < k ? kClear : kEnd;
    } else {
      if (phase == kPull) {
        share = told[kLooked];
        of = left + 1;
      }
      left -= told[kDone];
      const double part = static_cast<double>(share) / static_cast<double>(of);
      const double pulled = static_cast<double>(left) * part * 0.5 + static_cast<double>(n) * 0.25;
      phase = static_cast<double>(told[kEdges]) > pulled ? kPull : kPush;
      if (++depth == limit) phase = kLast;
    }
  }

  // For the next call.
  __device__ void tell(long long* part) const {
    part[kPhase] = phase;
    part[kBlock] = block;
    part[kDepth] = depth;
    part[kLeft] = left;
    part[kShare] = share;
    part[kOf] = of;
  }
};

// What a thread counts; `alive` is of one word.
struct Tally {
  Count found, edges, done, looked;
  Word alive;
};

// The searches of one block: words that found a vertex before, do in this level, and will in the
// next; `past` is what the level before found. Of each but the first the vertices, as a set.
struct Searches {
  long long n, first, many;
  int words, shift;
  Word *seen, *now, *next, *past;
  unsigned *ready, *coming, *gone;

  Searches() = default;
  __device__ Searches(int turn, long long block, long long n, long long k, long long width,
                      long long words, Word* seen, Word* fresh, unsigned* sets)
      : n(n),
        first(width * block),
        many(min(width, k - first)),
        words(static_cast<int>(words)),
        shift(static_cast<int>(words) / 2),
        seen(seen),
        now(fresh + turn * n * words),
        next(fresh + (turn + 1) % 3 * n * words),
        past(fresh + (turn + 2) % 3 * n * words),
        ready(sets + turn * num_sets()),
        coming(sets + (turn + 1) % 3 * num_sets()),
        gone(sets + (turn + 2) % 3 * num_sets()) {}

  __device__ __forceinline__ long long num_sets() const { return (n + 31) / 32; }

  // Searches of a word that did not find a vertex. Whether `seen` has those of this level yet does
  // not matter.
  __device__ __forceinline__ Word missing(long long v, int j) const {
    return ~(seen[words * v + j] | now[words * v + j]);
  }

  // Notes that searches, which are not 0, find a vertex next.
  template <class P>
  __device__ __forceinline__ void find(long long v, int j, Word fresh, const P* indptr,
                                       Tally& tally) const {
    // Whoever finds something in the word is not the first.
    if (atomicOr(next + words * v + j, fresh) != 0) return;
    const unsigned bit = 1u << v % 32;
    if (atomicOr(coming + v / 32, bit) & bit) return;
    ++tally.found;
    tally.edges += static_cast<Count>(indptr[v + 1] - indptr[v]);
  }

  // Passes searches of a word on along an edge to w.
  template <class P>
  __device__ __forceinline__ void pass(long long w, int j, Word mine, const P* indptr,
                                       Tally& tally) const {
    const Word fresh = mine & missing(w, j) & ~*const_cast<volatile Word*>(next + words * w + j);
    if (fresh == 0) return;
    tally.alive |= fresh;
    find(w, j, fresh, indptr, tally);
  }
};

// Lets no search have found a vertex; of the first block, no level is there.
template <class L>
__device__ __forceinline__ void clear_all(const Searches& all, long long k, long long kind, long long block,
                          L* level) {
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
__device__ __forceinline__ void seed_all(const Searches& all, const P* indptr, const long long* sources,
                         long long* next, Tally& tally) {
  const Group<1> mine;
  for (long long s = mine.first; s < all.many; s += mine.step) {
    const Word bit = 1ull << (s % 64);
    atomicOr(reinterpret_cast<Word*>(next + kAlive + s / 64), bit);
    all.find(sources[all.first + s], static_cast<int>(s / 64), bit, indptr, tally);
  }
}

// Notes what this level found at a vertex; eight threads do, with equal parts of the words.
template <class Q, class L>
__device__ __forceinline__ void settle_vertex(const Searches& all, long long v, const Q* in_indptr,
                                       long long kind, L* level, long long* counts,
                                       long long depth, Tally& tally) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const unsigned peers = 0xffu << (threadIdx.x % 32 / kLanes * kLanes);
  const int bits = 8 * all.words, j = lane * bits / 64, from = lane * bits % 64;
  const long long at = all.words * v + j;
  const Word x = all.now[at], known = all.seen[at] | x;
  const bool misses = __any_sync(peers, ~known != 0);
  if (from == 0) all.seen[at] = known;
  Word own = x >> from & ~0ull >> (64 - bits);
  if (kind == 2 && depth > 0) {
    long long came = __popcll(own);
    for (int step = 1; step < kLanes; step *= 2) came += __shfl_xor_sync(peers, came, step);
    if (lane == 0) {
      counts[2 * v] += came;
      counts[2 * v + 1] += came * depth;
    }
  } else if (kind == 1) {
    L* const to = level + all.first * all.n + all.many * v + 64 * j + from;
    for (; own != 0; own &= own - 1) to[__popcll(~own & (own - 1))] = static_cast<L>(depth);
  }
  if (lane == 0 && !misses) tally.done += static_cast<Count>(in_indptr[v + 1] - in_indptr[v]);
}

// Settles the frontier, clears the one before, and pushes. The warps of a block take 32 vertices
// each, from places that lie apart, and share the edges of all of them out.
template <class P, class I, class Q, class L>
__device__ __forceinline__ void walk_frontier(const Searches& all, bool pushes, const P* indptr, const I* indices,
                              const Q* in_indptr, long long kind, L* level, long long* counts,
                              long long depth, Tally& tally) {
  __shared__ long long starts[kThreads];
  __shared__ int ends[kThreads], totals[kThreads / 32], held[kThreads / 32];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int warps = static_cast<int>(blockDim.x) / 32;
  const long long sets = all.num_sets();
  for (long long base = 0; base < sets; base += static_cast<long long>(warps) * gridDim.x) {
    const long long set = base + static_cast<long long>(warp) * gridDim.x + block_number();
    const unsigned ready = set < sets ? all.ready[set] : 0, gone = set < sets ? all.gone[set] : 0;
    const long long v = 32 * set + lane;
    const bool is_live = ready >> lane & 1;
    P begin = 0;
    int length = 0;
    if (pushes && is_live) {
      begin = indptr[v];
      const long long edges = static_cast<long long>(indptr[v + 1] - begin);
      length = edges > kLong ? 0 : static_cast<int>(edges);
    }
    // All lanes have read what one of them clears.
    __syncwarp();
    if (gone != 0) {
      for (int at = lane; at < 32 * all.words; at += 32) {
        if (gone >> (at >> all.shift) & 1) all.past[32 * all.words * set + at] = 0;
      }
      if (lane == 0) all.gone[set] = 0;
    }
    unsigned left = ready;
    for (int i = 0; i < lane / kLanes; ++i) left &= left - 1;
    while (left != 0) {
      settle_vertex(all, 32 * set + __ffs(static_cast<int>(left)) - 1, in_indptr, kind, level,
                    counts, depth, tally);
      for (int i = 0; i < 32 / kLanes; ++i) left &= left - 1;
    }
    __syncwarp();
    if (!pushes) continue;
    int end = length;
    for (int step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(kAllLanes, end, step);
      if (lane >= step) end += other;
    }
    if (lane == 31) totals[warp] = end;
    if (lane == 0) held[warp] = static_cast<int>(set < sets ? set : 0);
    __syncthreads();
    int before = 0, total = 0;
    for (int i = 0; i < warps; ++i) {
      if (i < warp) before += totals[i];
      total += totals[i];
    }
    ends[threadIdx.x] = before + end;
    starts[threadIdx.x] = static_cast<long long>(begin) - (before + end - length);
    __syncthreads();
    for (int at = static_cast<int>(threadIdx.x); at < total << all.shift;
         at += static_cast<int>(blockDim.x)) {
      const int e = at >> all.shift, j = at & (all.words - 1);
      int row = 0;
      for (int step = static_cast<int>(blockDim.x) / 2; step > 0; step /= 2) {
        if (ends[row + step - 1] <= e) row += step;
      }
      const long long u = 32ll * held[row / 32] + row % 32;
      all.pass(indices[starts[row] + e], j, all.now[all.words * u + j], indptr, tally);
    }
    __syncthreads();
  }
}

// Pushes from long rows; `parts` has a vertex and the number of its part for each.
template <class P, class I>
__device__ __forceinline__ void push_long(const Searches& all, const P* indptr, const I* indices, const int* parts,
                          long long num_parts, Tally& tally) {
  const int place = static_cast<int>(threadIdx.x), j = place & (all.words - 1);
  for (long long i = block_number(); i < num_parts; i += gridDim.x) {
    const long long u = parts[2 * i], begin = indptr[u] + kLong * parts[2 * i + 1];
    const Word mine = all.now[all.words * u + j];
    if (mine == 0) continue;
    const long long end = min(begin + kLong, static_cast<long long>(indptr[u + 1]));
    for (long long e = begin + (place >> all.shift); e < end; e += blockDim.x >> all.shift) {
      all.pass(indices[e], j, mine, indptr, tally);
    }
  }
}

template <class P, class Q, class J>
__device__ __forceinline__ void pull_short(const Searches& all, const P* indptr, const Q* in_indptr,
                           const J* in_indices, const long long* told, Tally& tally) {
  const Group<kLanes> mine;
  const int words = all.words, j = mine.lane & (words - 1), slot = mine.lane >> all.shift;
  const int slots = kLanes >> all.shift;
  const unsigned peers = 0xffu << (threadIdx.x % 32 / kLanes * kLanes);
  const Word alive = static_cast<Word>(told[kAlive + j]);
  for (long long v = mine.first; v < all.n; v += mine.step) {
    const long long begin = in_indptr[v], end = in_indptr[v + 1];
    if (begin == end || end - begin > kLong) continue;
    const Word wanted = all.missing(v, j) & alive;
    Word left = wanted;
    bool is_open = __any_sync(peers, left != 0);
    for (long long base = begin; base < end && is_open; base += kAtOnce * slots) {
#pragma unroll
      for (int r = 0; r < kAtOnce; ++r) {
        const long long e = base + r * slots + slot;
        if (e < end) left &= ~all.now[words * in_indices[e] + j];
      }
      for (int step = words; step < kLanes; step *= 2) {
        left &= __shfl_xor_sync(peers, left, step);
      }
      is_open = __any_sync(peers, left != 0);
      if (mine.lane == 0) {
        const long long most = kAtOnce * slots;
        tally.looked += static_cast<Count>(min(end - base, most));
      }
    }
    const Word fresh = wanted & ~left;
    if (slot != 0 || fresh == 0) continue;
    tally.alive |= fresh;
    all.find(v, j, fresh, indptr, tally);
  }
}

// A thread of a block has one word of a part of a long row, and the block all of them.
template <class P, class Q, class J>
__device__ __forceinline__ void pull_long(const Searches& all, const P* indptr, const Q* in_indptr,
                          const J* in_indices, const int* parts, long long num_parts,
                          const long long* told, Tally& tally) {
  __shared__ Word missing[4];
  const int place = static_cast<int>(threadIdx.x), j = place & (all.words - 1);
  const long long slots = blockDim.x >> all.shift;
  for (long long i = block_number(); i < num_parts; i += gridDim.x) {
    const long long v = parts[2 * i], begin = in_indptr[v] + kLong * parts[2 * i + 1];
    const long long end = min(begin + kLong, static_cast<long long>(in_indptr[v + 1]));
    if (place < all.words) {
      missing[place] = all.missing(v, place) & static_cast<Word>(told[kAlive + place]) &
                       ~*const_cast<volatile Word*>(all.next + all.words * v + place);
    }
    __syncthreads();
    const Word wanted = missing[j];
    Word left = wanted;
    for (long long base = begin; base < end; base += kAtOnce * slots) {
      if (__syncthreads_or(left != 0) == 0) break;
#pragma unroll
      for (int r = 0; r < kAtOnce; ++r) {
        const long long e = base + r * slots + (place >> all.shift);
        if (e < end) left &= ~all.now[all.words * in_indices[e] + j];
      }
      if (~left & missing[j]) atomicAnd(&missing[j], left);
      __syncthreads();
      left = missing[j];
      if (place == 0) tally.looked += static_cast<Count>(min(end - base, kAtOnce * slots));
    }
    const Word fresh = wanted & ~left;
    if (place < all.words && fresh != 0) {
      tally.alive |= fresh;
      all.find(v, j, fresh, indptr, tally);
    }
    __syncthreads();
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
  const Count values[4] = {tally.found, tally.edges, tally.done, tally.looked};
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
__device__ __noinline__ void run_call(int turn, const P* indptr, const I* indices, const Q* in_indptr,
                                      const J* in_indices, const int* rows, long long num_rows,
                                      const int* columns, long long num_columns,
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
    walk_frontier(all, pushes, indptr, indices, in_indptr, kind, level, counts, call.depth, tally);
    if (pushes) push_long(all, indptr, indices, rows, num_rows, tally);
    if (call.phase == kPull) {
      pull_short(all, indptr, in_indptr, in_indices, told, tally);
      pull_long(all, indptr, in_indptr, in_indices, columns, num_columns, told, tally);
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
