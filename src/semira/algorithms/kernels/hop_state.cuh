// What searches from many sources know: what a call does, the words of vertices, their sets; see
// hops.cuh.
#pragma once

typedef unsigned long long Word;

// A turn's part of `state`, behind the two numbers that hosts have too: what the call before did,
// and what it counted.
enum : int { kPhase, kBlock, kDepth, kLeft, kShare, kOf, kFound, kEdges, kOpen, kLooked, kAlive,
             kPart = kAlive + 4 };
enum : long long { kNothing, kClear, kSeed, kPush, kPull, kLast, kEnd };

__device__ __forceinline__ long long* part_of(long long* state, int turn) {
  return state + 2 + turn % 3 * kPart;
}

// Threads that share a row, and entries that each of them reads before they talk; of long rows, in
// pulls, and most words of a vertex.
constexpr int kLanes = 8, kAtOnce = 4, kWide = 8, kWords = 4;

// Warps share longer rows out, so many entries each.
constexpr long long kLong = 128;

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
        left = told[kOpen];
        share = told[kLooked];
        of = left + 1;
      }
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

// What a thread counts: vertices found and their edges, entries of rows that miss a search, and those
// that it looked at; `alive` is of one word.
struct Tally {
  unsigned found, edges, open, looked;
  Word alive;
};

// The searches of one block: words that found a vertex at any time, in the last level, and in this
// one; `past` is what the level before found. Of each but the first the vertices, as a set.
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

  // Searches of a word that did not find a vertex, as far as this thread knows.
  __device__ __forceinline__ Word missing(long long v, int j) const {
    return ~*const_cast<volatile Word*>(seen + words * v + j);
  }

  // Adds a vertex to those of the next level, unless it is one.
  template <class P>
  __device__ __forceinline__ void enter(long long v, const P* indptr, Tally& tally) const {
    const unsigned bit = 1u << v % 32;
    if (atomicOr(coming + v / 32, bit) & bit) return;
    ++tally.found;
    tally.edges += static_cast<unsigned>(indptr[v + 1] - indptr[v]);
  }

  // Passes searches of a word on to vertices; -1 is none. What one step reads or changes of all of
  // them is under way before the next step needs it.
  template <class P>
  __device__ __forceinline__ void pass(const int (&to)[kAtOnce], int j, Word (&mine)[kAtOnce],
                                       const P* indptr, Tally& tally) const {
    Word old[kAtOnce];
#pragma unroll
    for (int r = 0; r < kAtOnce; ++r) {
      mine[r] = to[r] < 0 ? 0 : mine[r] & missing(to[r], j);
    }
#pragma unroll
    for (int r = 0; r < kAtOnce; ++r) {
      old[r] = mine[r];
      if (mine[r] != 0) old[r] = atomicOr(seen + words * static_cast<long long>(to[r]) + j, mine[r]);
    }
#pragma unroll
    for (int r = 0; r < kAtOnce; ++r) {
      mine[r] &= ~old[r];
      old[r] = ~0ull;
      if (mine[r] == 0) continue;
      tally.alive |= mine[r];
      old[r] = atomicOr(next + words * static_cast<long long>(to[r]) + j, mine[r]);
    }
    // Whoever finds something in the word is not the first.
#pragma unroll
    for (int r = 0; r < kAtOnce; ++r) {
      if (old[r] == 0) enter(to[r], indptr, tally);
    }
  }
};
