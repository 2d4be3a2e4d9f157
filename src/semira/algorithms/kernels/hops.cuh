// Searches from many sources, a bit for each: one level of one block of sources a round. See
// hops.py. Two buffers of words and two queues change places from level to level.
#pragma once

typedef unsigned long long Word;

// What is in `state`, after the two numbers that hosts have too.
enum : int {
  kPhase = 2, kBlock, kDepth, kSide, kReady, kFound, kEdges, kLeft, kDone, kLooked, kShare, kOf,
  kAlive,
  kLive = kAlive + 4,
};
enum : long long { kClear, kSeed, kPush, kPull };

// Threads that share a row, and entries that each of them reads before they talk.
constexpr int kLanes = 8, kAtOnce = 4;

// Longer rows have a block each.
constexpr long long kLong = 2048;

__device__ __forceinline__ Word bits_from(long long count) {
  return count >= 64 ? 0ull : count <= 0 ? ~0ull : ~0ull << count;
}

// The searches of one block.
struct Block {
  long long n, words, first, many, side;
  Word *seen, *now, *next;
  int *queue, *queued;

  template <class S>
  __device__ Block(const S* state, long long n, long long k, long long width, long long words,
                   Word* seen, Word* fresh, int* queues)
      : n(n),
        words(words),
        first(width * state[kBlock]),
        many(min(width, k - first)),
        side(state[kSide]),
        seen(seen),
        now(fresh + side * n * words),
        next(fresh + (1 - side) * n * words),
        queue(queues + side * n),
        queued(queues + (1 - side) * n) {}
};

// Adds what the threads of a warp counted; all of them call it.
__device__ __forceinline__ void add_counts(long long* place, long long count) {
  for (int step = 16; step > 0; step /= 2) count += __shfl_xor_sync(kAllLanes, count, step);
  if (threadIdx.x % 32 == 0 && count != 0) atomic_add(place, count);
}

// Passes searches on along the entries first, first + step, ...
template <class I>
__device__ __forceinline__ void push_along(const Block& all, const I* indices, long long first,
                                           long long end, long long step, Word mine, int j,
                                           int stamp, int* marks, long long* state) {
  for (long long e = first; e < end; e += step) {
    const long long w = indices[e];
    Word* const to = all.next + all.words * w + j;
    const Word fresh = mine & ~all.seen[all.words * w + j] & ~*const_cast<volatile Word*>(to);
    if (fresh == 0) continue;
    atomicOr(to, fresh);
    if (*const_cast<volatile int*>(marks + w) != stamp && atomicExch(marks + w, stamp) != stamp) {
      all.queued[atomic_add(state + kFound, 1ll)] = static_cast<int>(w);
    }
  }
}

template <class P, class I>
__device__ void push_level(const Block& all, const P* indptr, const I* indices, const int* rows,
                           long long num_rows, int* marks, long long* state) {
  const int words = static_cast<int>(all.words), stamp = static_cast<int>(state[kDepth]) + 1;
  const long long ready = state[kReady];
  const Group<kLanes> mine;
  const int j = mine.lane % words, slot = mine.lane / words, slots = kLanes / words;
  for (long long i = mine.first; i < ready; i += mine.step) {
    const long long u = all.queue[i], begin = indptr[u], end = indptr[u + 1];
    if (end - begin > kLong) continue;
    push_along(all, indices, begin + slot, end, slots, all.now[words * u + j], j, stamp, marks,
               state);
  }
  const int place = static_cast<int>(threadIdx.x);
  for (long long i = block_number(); i < num_rows; i += gridDim.x) {
    const long long u = rows[i];
    const Word own = all.now[words * u + place % words];
    if (own == 0) continue;
    push_along(all, indices, indptr[u] + place / words, static_cast<long long>(indptr[u + 1]),
               blockDim.x / words, own, place % words, stamp, marks, state);
  }
}

template <class P, class I>
__device__ void pull_level(const Block& all, const P* indptr, const I* indices, const int* rows,
                           long long num_rows, long long* state) {
  const int words = static_cast<int>(all.words);
  const Group<kLanes> mine;
  const int j = mine.lane % words, slot = mine.lane / words, slots = kLanes / words;
  const unsigned peers = 0xffu << (threadIdx.x % 32 / kLanes * kLanes);
  long long looked = 0;
  for (long long v = mine.first; v < all.n; v += mine.step) {
    const long long begin = indptr[v], end = indptr[v + 1];
    if (end - begin > kLong) continue;
    const Word wanted = ~all.seen[words * v + j] & static_cast<Word>(state[kLive + j]);
    Word left = wanted;
    bool is_open = __any_sync(peers, left != 0);
    for (long long base = begin; base < end && is_open; base += kAtOnce * slots) {
#pragma unroll
      for (int r = 0; r < kAtOnce; ++r) {
        const long long e = base + r * slots + slot;
        if (e < end) left &= ~all.now[words * indices[e] + j];
      }
      for (int step = words; step < kLanes; step *= 2) {
        left &= __shfl_xor_sync(peers, left, step);
      }
      is_open = __any_sync(peers, left != 0);
      if (mine.lane == 0) looked += min(end - base, static_cast<long long>(kAtOnce * slots));
    }
    if (slot == 0) all.next[words * v + j] = wanted & ~left;
  }
  // A thread of a block has one word of a long row, and the block all of them.
  __shared__ Word missing[4];
  const int place = static_cast<int>(threadIdx.x), word = place % words;
  for (long long i = block_number(); i < num_rows; i += gridDim.x) {
    const long long v = rows[i], begin = indptr[v], end = indptr[v + 1];
    if (place < words) {
      missing[place] = ~all.seen[words * v + place] & static_cast<Word>(state[kLive + place]);
    }
    __syncthreads();
    const Word wanted = missing[word];
    Word left = wanted;
    const long long step = kAtOnce * (blockDim.x / words);
    for (long long base = begin; base < end; base += step) {
      if (__syncthreads_or(left != 0) == 0) break;
#pragma unroll
      for (int r = 0; r < kAtOnce; ++r) {
        const long long e = base + r * (blockDim.x / words) + place / words;
        if (e < end) left &= ~all.now[words * indices[e] + word];
      }
      if (~left & missing[word]) atomicAnd(&missing[word], left);
      __syncthreads();
      left = missing[word];
      if (place == 0) looked += min(end - base, step);
    }
    if (place < words) all.next[words * v + place] = wanted & ~left;
    __syncthreads();
  }
  add_counts(state + kLooked, looked);
}

template <class P, class I, class Q, class J, class L>
__device__ void expand(long long items, const P* indptr, const I* indices, const Q* in_indptr,
                       const J* in_indices, const int* rows, long long num_rows, const int* columns,
                       long long num_columns, const long long* sources, long long n, long long k,
                       long long width, long long words, long long kind, long long limit, L* level,
                       long long* counts, long long* far, long long* state, Word* seen, Word* fresh,
                       int* queues, int* marks) {
  const Block all(state, n, k, width, words, seen, fresh, queues);
  const long long phase = state[kPhase];
  if (phase == kPush) {
    push_level(all, indptr, indices, rows, num_rows, marks, state);
  } else if (phase == kPull) {
    pull_level(all, in_indptr, in_indices, columns, num_columns, state);
  } else if (phase == kClear) {
    const Group<1> mine;
    for (long long at = mine.first; at < n * words; at += mine.step) {
      seen[at] = bits_from(all.many - 64 * (at % words));
      fresh[at] = fresh[n * words + at] = 0;
      if (at < n) marks[at] = 0;
    }
  }
}

// Eight threads settle a vertex.
template <class P, class Q, class L>
__device__ void settle_vertex(const Block& all, long long v, const P* indptr, const Q* in_indptr,
                              long long kind, L* level, long long* counts, long long depth,
                              long long* state, int lane, long long& edges, long long& done) {
  const long long words = all.words;
  Word missed = 0;
  long long came = 0;
  for (long long j = 0; j < words; ++j) {
    const Word x = all.next[words * v + j], known = all.seen[words * v + j] | x;
    missed |= ~known;
    came += __popcll(x);
    if (kind == 1) {
      L* const own = level + all.first * all.n + all.many * v + 64 * j;
      for (int bit = lane; bit < 64; bit += kLanes) {
        if (x >> bit & 1) own[bit] = static_cast<L>(depth);
      }
    }
    if (lane == 0 && (x & ~static_cast<Word>(*const_cast<volatile long long*>(state + kAlive + j)))) {
      atomicOr(reinterpret_cast<Word*>(state + kAlive + j), x);
    }
  }
  // All have read before one writes.
  __syncwarp(0xffu << (threadIdx.x % 32 / kLanes * kLanes));
  if (lane < words) all.seen[words * v + lane] |= all.next[words * v + lane];
  if (lane != 0) return;
  if (kind == 2 && depth > 0) {
    counts[2 * v] += came;
    counts[2 * v + 1] += came * depth;
  }
  edges += indptr[v + 1] - indptr[v];
  if (missed == 0) done += in_indptr[v + 1] - in_indptr[v];
}

template <class P, class I, class Q, class J, class L>
__device__ void settle(long long items, const P* indptr, const I* indices, const Q* in_indptr,
                       const J* in_indices, const int* rows, long long num_rows, const int* columns,
                       long long num_columns, const long long* sources, long long n, long long k,
                       long long width, long long words, long long kind, long long limit, L* level,
                       long long* counts, long long* far, long long* state, Word* seen, Word* fresh,
                       int* queues, int* marks) {
  const Block all(state, n, k, width, words, seen, fresh, queues);
  const long long phase = state[kPhase], depth = state[kDepth];
  if (phase == kClear) {
    const Group<1> mine;
    for (long long s = mine.first; s < all.many; s += mine.step) {
      const long long v = sources[all.first + s];
      atomicOr(all.next + words * v + s / 64, 1ull << (s % 64));
      if (atomicExch(marks + v, 1) != 1) {
        all.queued[atomic_add(state + kFound, 1ll)] = static_cast<int>(v);
      }
    }
    return;
  }
  const Group<kLanes> mine;
  long long edges = 0, done = 0;
  if (phase == kPull) {
    for (long long v = mine.first; v < n; v += mine.step) {
      Word any = 0;
      for (long long j = 0; j < words; ++j) any |= all.next[words * v + j];
      if (mine.lane < words) all.now[words * v + mine.lane] = 0;
      if (any == 0) continue;
      if (mine.lane == 0) all.queued[atomic_add(state + kFound, 1ll)] = static_cast<int>(v);
      settle_vertex(all, v, indptr, in_indptr, kind, level, counts, depth, state, mine.lane, edges,
                    done);
    }
  } else {
    const long long ready = state[kReady], found = state[kFound];
    for (long long i = mine.first; i < ready; i += mine.step) {
      if (mine.lane < words) all.now[words * all.queue[i] + mine.lane] = 0;
    }
    for (long long i = mine.first; i < found; i += mine.step) {
      settle_vertex(all, all.queued[i], indptr, in_indptr, kind, level, counts, depth, state,
                    mine.lane, edges, done);
    }
  }
  __syncwarp();
  add_counts(state + kEdges, edges);
  add_counts(state + kDone, done);
}

// One thread: whose last level it may be, where the next one goes, and which block is next.
__device__ inline void decide(long long items, long long n, long long k, long long width,
                              long long words, long long entries, long long limit, long long* far,
                              long long* state) {
  const Group<1> mine;
  if (mine.first >= items) return;
  if (state[kPhase] == kClear) {
    state[kPhase] = kSeed;
    state[kLeft] = entries;
    state[kShare] = 1;
    state[kOf] = 4;
    return;
  }
  const long long first = width * state[kBlock], depth = state[kDepth];
  for (long long j = 0; j < words; ++j) {
    for (Word x = static_cast<Word>(state[kAlive + j]); x != 0; x &= x - 1) {
      far[first + 64 * j + __popcll(~x & (x - 1))] = depth;
    }
    state[kLive + j] = state[kAlive + j];
    state[kAlive + j] = 0;
  }
  if (state[kPhase] == kPull) {
    state[kShare] = state[kLooked];
    state[kOf] = state[kLeft] + 1;
  }
  const long long found = state[kFound], edges = state[kEdges];
  state[kLeft] -= state[kDone];
  state[kReady] = found;
  state[kSide] = 1 - state[kSide];
  state[kFound] = state[kEdges] = state[kDone] = state[kLooked] = 0;
  if (found != 0 && depth != limit) {
    state[kDepth] = depth + 1;
    const double share = static_cast<double>(state[kShare]) / static_cast<double>(state[kOf]);
    const double pulled = static_cast<double>(state[kLeft]) * share * 0.5;
    const bool pulls = static_cast<double>(edges) > pulled + static_cast<double>(n) * 0.25;
    state[kPhase] = pulls ? kPull : kPush;
    return;
  }
  if (found != 0) state[1] = 1;
  state[kPhase] = kClear;
  state[kDepth] = state[kReady] = 0;
  if (width * ++state[kBlock] >= k) state[0] = 1;
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
