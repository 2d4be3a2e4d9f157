// Label propagation in rounds; see ballots.py.
//
// Eight lanes do a row of up to kEight entries and compare them in registers. Longer rows wait in two
// queues: a warp does one of up to kMedium entries, a block a longer one, with counts by label in a
// table in shared memory. If that is full, the row is walked again, for a part of the labels each time.
#pragma once

typedef unsigned long long Word;

// What is in `state`.
enum : int { kRounds = 1, kWanted, kFew, kLimit, kTie, kTurn, kQueued, kConverged, kLongMoves };

constexpr int kEight = 32, kMedium = 128, kOwnSlots = 2 * kMedium;
constexpr int kBlockWarps = 8, kSlots = kOwnSlots * kBlockWarps, kMostLabels = kSlots / 4 * 3;
constexpr int kLikely = kMostLabels / 4 * 3;
// Into how many parts the labels of a row are divided, at most.
constexpr unsigned kMostParts = 1u << 20;

// A label with a random number; none if it is below 0. The greater number wins, then the smaller label.
struct Drawn {
  Word number;
  int label;

  __device__ __forceinline__ void take(const Drawn& other) {
    if (other.label < 0) return;
    if (label < 0 || other.number > number || (other.number == number && other.label < label)) {
      *this = other;
    }
  }
  template <int kLanes>
  __device__ __forceinline__ void join_lanes() {
#pragma unroll
    for (int step = kLanes / 2; step > 0; step /= 2) {
      const int source = static_cast<int>(threadIdx.x % kWarp) ^ step;
      take({shuffle(number, source), shuffle(label, source)});
    }
  }
};

template <class P, class I>
struct Ballot {
  const P* indptr;
  const I* indices;
  const int* label;
  int* best;
  double* draw;
  long long tie, turn;

  __device__ __forceinline__ int label_at(long long p) const { return label[indices[p]]; }
  __device__ __forceinline__ Drawn drawn(int v, int key) const {
    return {philox(static_cast<Word>(key), v, 0, tie), key};
  }
  __device__ __forceinline__ void finish(int v, int wanted) const {
    best[v] = wanted;
    if (wanted < 0) return;
    draw[v] = static_cast<double>(philox(static_cast<Word>(wanted), v, 0, turn) >> 11) *
              1.1102230246251565e-16;
  }
};

// What a row of `length` entries wants; lanes without a row pass 0. All lanes of the warp call it.
template <class P, class I>
__device__ __forceinline__ int want_of_eight(const Ballot<P, I>& all, int v, long long first,
                                             int length) {
  constexpr int kLanes = 8, kEach = kEight / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kWarp, rank = lane % kLanes, base = lane - rank;
  int key[kEach], count[kEach];
  bool is_first[kEach];
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    const int p = e * kLanes + rank;
    key[e] = p < length ? all.label_at(first + p) : -1;
    count[e] = 0;
    is_first[e] = true;
  }
#pragma unroll
  for (int f = 0; f < kEach; ++f) {
    if (!__any_sync(kAllLanes, length > f * kLanes)) break;
#pragma unroll 2
    for (int other = 0; other < kLanes; ++other) {
      const int there = shuffle(key[f], base + other);
#pragma unroll
      for (int e = 0; e < kEach; ++e) {
        if (key[e] != there) continue;
        ++count[e];
        if (f * kLanes + other < e * kLanes + rank) is_first[e] = false;
      }
    }
  }
  int most = 0;
#pragma unroll
  for (int e = 0; e < kEach; ++e) most = key[e] >= 0 && count[e] > most ? count[e] : most;
#pragma unroll
  for (int step = kLanes / 2; step > 0; step /= 2) {
    const int other = shuffle(most, lane ^ step);
    most = other > most ? other : most;
  }
  const int own = all.label[v];
  bool keeps = false;
#pragma unroll
  for (int e = 0; e < kEach; ++e) keeps = keeps || (key[e] == own && count[e] == most);
  keeps = (__ballot_sync(kAllLanes, keeps) >> base & 0xFFu) != 0;
  Drawn drawn{0, -1};
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    if (!keeps && key[e] >= 0 && is_first[e] && count[e] == most) drawn.take(all.drawn(v, key[e]));
  }
  drawn.join_lanes<kLanes>();
  return drawn.label;
}

// Threads that do a row with a table: a warp, or the block.
template <bool kBlock>
struct Crew {
  unsigned thread, threads;
  __device__ Crew()
      : thread(kBlock ? threadIdx.x : threadIdx.x % kWarp), threads(kBlock ? blockDim.x : kWarp) {}

  __device__ __forceinline__ void meet() const {
    if constexpr (kBlock) __syncthreads();
    else __syncwarp();
  }
  template <class T, class Joins>
  __device__ __forceinline__ T joined(T value, Joins joins) const {
#pragma unroll
    for (int step = kWarp / 2; step > 0; step /= 2) {
      joins(value, shuffle(value, static_cast<int>(threadIdx.x % kWarp) ^ step));
    }
    if constexpr (kBlock) {
      __shared__ T of_warps[kBlockWarps];
      if (threadIdx.x % kWarp == 0) of_warps[threadIdx.x / kWarp] = value;
      __syncthreads();
      value = of_warps[0];
      for (int w = 1; w < kBlockWarps; ++w) joins(value, of_warps[w]);
      __syncthreads();
    }
    return value;
  }
};

__device__ __forceinline__ unsigned slot_bits(int key) {
  return static_cast<unsigned>(key) * 2654435769u;
}

// Bits that tell parts apart: those above the bits of slots, then those below.
__device__ __forceinline__ unsigned part_bits(int key) {
  const unsigned bits = slot_bits(key);
  return bits >> 20 | (bits & 0xffu) << 12;
}

// Counts a label; whether it is new.
__device__ __forceinline__ bool count_label(int* keys, int* counts, unsigned used, int key) {
  unsigned slot = slot_bits(key) >> 8 & (used - 1);
  bool is_new = false;
  while (true) {
    int found = *static_cast<volatile int*>(&keys[slot]);
    if (found == -1) {
      found = atomicCAS(&keys[slot], -1, key);
      is_new = found == -1;
    }
    if (is_new || found == key) break;
    slot = (slot + 1) & (used - 1);
  }
  atomicAdd(&counts[slot], 1);
  return is_new;
}

// The most votes for another label, and one of those that have so many; the votes for the own one.
struct Tally {
  int most, owns;
  Drawn drawn;

  __device__ __forceinline__ void take(int votes, const Drawn& other) {
    if (votes > most) drawn = {0, -1};
    if (votes >= most) drawn.take(other);
    most = votes > most ? votes : most;
  }
  __device__ __forceinline__ int wanted() const { return owns >= most ? -1 : drawn.label; }
};

// Into how many parts the labels of a long row are divided, each for a block, while they are many.
__device__ __forceinline__ unsigned parts_of(long long length, long long round) {
  unsigned parts = 1;
  while (round < 4 && parts < kMostParts && static_cast<long long>(parts) * kLikely < length) parts *= 2;
  return parts;
}

// The votes of a row for the labels of part `from` of `of`, by all threads of the crew.
template <bool kBlock, class P, class I>
__device__ __forceinline__ Tally tally_of(const Ballot<P, I>& all, int v, int* keys, int* counts,
                                          unsigned from, unsigned of) {
  const Crew<kBlock> crew;
  constexpr int kAtOnce = 4;
  __shared__ int filled;
  const long long first = all.indptr[v], length = all.indptr[v + 1] - first;
  const int own = all.label[v];
  unsigned used = kBlock ? kSlots : kOwnSlots, parts = of;
  while (used / 4 >= length) used /= 2;
  Tally mine{0, 0, {0, -1}};
  for (unsigned part = from; part < parts; part += of) {
    for (unsigned slot = crew.thread; slot < used; slot += crew.threads) {
      keys[slot] = -1;
      counts[slot] = 0;
    }
    if (kBlock && threadIdx.x == 0) filled = 0;
    crew.meet();
    mine.owns = 0;
    bool is_full = false;
    for (long long p = crew.thread; p < length && !is_full; p += kAtOnce * crew.threads) {
      int key[kAtOnce];
#pragma unroll
      for (int e = 0; e < kAtOnce; ++e) {
        const long long at = p + e * crew.threads;
        key[e] = at < length ? all.label_at(first + at) : -1;
      }
#pragma unroll
      for (int e = 0; e < kAtOnce; ++e) {
        mine.owns += key[e] == own ? 1 : 0;
        if (key[e] < 0 || key[e] == own || (part_bits(key[e]) & (parts - 1)) != part) continue;
        // Of the threads each may add one label more.
        is_full = is_full || (kBlock && *static_cast<volatile int*>(&filled) > kMostLabels);
        if (is_full) continue;
        if (count_label(keys, counts, used, key[e]) && kBlock) atomicAdd(&filled, 1);
      }
    }
    crew.meet();
    if (kBlock && filled > kMostLabels) {
      // Once more, in parts that should fit.
      do parts *= 2;
      while (parts < kMostParts && static_cast<long long>(parts) * kLikely < length);
      part = from - of;
      mine = {0, 0, {0, -1}};
      crew.meet();
      continue;
    }
    int here = 0;
    for (unsigned slot = crew.thread; slot < used; slot += crew.threads) {
      here = counts[slot] > here ? counts[slot] : here;
    }
    here = crew.joined(here, [](int& a, int b) { a = b > a ? b : a; });
    if (here > mine.most) {
      mine.most = here;
      mine.drawn = {0, -1};
    }
    for (unsigned slot = crew.thread; here == mine.most && here > 0 && slot < used; slot += crew.threads) {
      if (counts[slot] == here) mine.drawn.take(all.drawn(v, keys[slot]));
    }
    crew.meet();
  }
  mine.owns = crew.joined(mine.owns, [](int& a, int b) { a += b; });
  mine.drawn = crew.joined(mine.drawn, [](Drawn& a, const Drawn& b) { a.take(b); });
  return mine;
}

__device__ __forceinline__ void begin_ballots(long long items, long long few, long long limit, long long tie,
                              long long turn, int* label, int* best, signed char* active,
                              long long* state) {
  const Group<1> mine;
  for (long long v = mine.first; v < items; v += mine.step) {
    label[v] = static_cast<int>(v);
    best[v] = -1;
    active[v] = 1;
    if (v != 0) continue;
    for (int k = 0; k <= kLongMoves; ++k) state[k] = 0;
    state[kFew] = few;
    state[kLimit] = limit;
    state[kTie] = tie;
    state[kTurn] = turn;
  }
}

// Calls `work(v, first, length, lanes)` for the rows of which `wants(v)`: by eight lanes each those of
// up to kEight entries, with a length of 0 in lanes without one, `longer(v, length)` for the others.
// All threads of a warp call it; consecutive warps lie in different blocks.
template <class P, class Wants, class Longer, class Work>
__device__ __forceinline__ void each_row(long long items, const P* indptr, Wants wants, Longer longer,
                                         Work work) {
  const unsigned lane = threadIdx.x % kWarp;
  const long long warps = static_cast<long long>(gridDim.x) * (blockDim.x / kWarp);
  const long long fair = (items + warps - 1) / warps, each = fair > kWarp ? kWarp : fair;
  const long long warp = static_cast<long long>(threadIdx.x / kWarp) * gridDim.x + block_number();
  for (long long start = warp * each; start < items; start += warps * each) {
    const long long v = start + lane;
    const bool open = lane < each && v < items && wants(static_cast<int>(v));
    const long long first = open ? indptr[v] : 0, length = open ? indptr[v + 1] - first : 0;
    longer(static_cast<int>(v), open && length > kEight, first, length);
    unsigned shorts = __ballot_sync(kAllLanes, open && length <= kEight);
    while (shorts != 0) {
      int source = -1;
      for (unsigned four = 0; four < kWarp / 8; ++four) {
        const int next = __ffs(static_cast<int>(shorts)) - 1;
        if (lane / 8 == four) source = next;
        shorts &= shorts - 1;
      }
      const int from = source < 0 ? 0 : source;
      const long long begin = shuffle(first, from), entries = shuffle(length, from);
      work(static_cast<int>(start) + from, begin, source < 0 ? 0 : static_cast<int>(entries),
           source >= 0);
    }
  }
}

template <class P, class I>
__device__ void vote(long long items, const P* indptr, const I* indices, int* label, int* best,
                     double* draw, signed char* active, int* queue, long long* state) {
  const Ballot<P, I> all{indptr, indices, label, best, draw, state[kTie], state[kTurn]};
  int* const queued = reinterpret_cast<int*>(&state[kQueued]);
  const unsigned lane = threadIdx.x % kWarp;
  each_row(
      items, indptr,
      [&](int v) {
        if (active[v] == 0) return false;
        active[v] = 0;
        return true;
      },
      [&](int v, bool is_longer, long long, long long length) {
        // Parts of long rows lie behind the others.
        const bool is_medium = is_longer && length <= kMedium;
        const unsigned those = __ballot_sync(kAllLanes, is_medium);
        int place = 0;
        if (those != 0 && lane == 0) place = atomicAdd(&queued[1], __popc(those));
        place = shuffle(place, 0) + __popc(those & ((1u << lane) - 1));
        if (is_medium) queue[place] = v;
        if (!is_longer || is_medium) return;
        // The row, then how far back it is.
        const int parts = static_cast<int>(parts_of(length, state[kRounds]));
        int* const own = queue + items + atomicAdd(&queued[0], parts);
        for (int part = 0; part < parts; ++part) own[part] = part == 0 ? v : -part;
      },
      [&](int v, long long first, int length, bool has) {
        const int wanted = want_of_eight(all, v, first, length);
        if (has && lane % 8 == 0) all.finish(v, wanted);
      });
}

// Keeps the votes of a part of a row that begins at `head`; the last part gets those of all.
__device__ __forceinline__ bool is_last_part(Tally& mine, int head, int part, int parts,
                                             long long* picks, int* tickets) {
  volatile long long* const those = picks + 2 * static_cast<long long>(head);
  those[2 * part] = static_cast<long long>(mine.drawn.number);
  those[2 * part + 1] = static_cast<long long>(mine.most) << 32 | static_cast<unsigned>(mine.drawn.label);
  __threadfence();
  if (atomicAdd(&tickets[head], 1) != parts - 1) return false;
  tickets[head] = 0;
  __threadfence();
  mine.most = 0;
  mine.drawn = {0, -1};
  for (int k = 0; k < parts; ++k) {
    const Word number = static_cast<Word>(those[2 * k]);
    const long long rest = those[2 * k + 1];
    mine.take(static_cast<int>(rest >> 32), {number, static_cast<int>(rest)});
  }
  return true;
}

template <class P, class I>
__device__ void vote_long(long long, long long n, const P* indptr, const I* indices, int* label,
                          int* best, double* draw, int* queue, long long* state, long long* picks,
                          int* tickets) {
  __shared__ int keys[kSlots], counts[kSlots];
  const Ballot<P, I> all{indptr, indices, label, best, draw, state[kTie], state[kTurn]};
  const int* const queued = reinterpret_cast<const int*>(&state[kQueued]);
  for (int k = static_cast<int>(block_number()); k < queued[0]; k += gridDim.x) {
    const int* const item = queue + n + k;
    const int part = *item < 0 ? -*item : 0, v = item[-part];
    const unsigned parts = parts_of(indptr[v + 1] - indptr[v], state[kRounds]);
    Tally found = tally_of<true>(all, v, keys, counts, part, parts);
    if (threadIdx.x != 0) continue;
    if (parts == 1 || is_last_part(found, k - part, part, static_cast<int>(parts), picks, tickets)) {
      all.finish(v, found.wanted());
    }
  }
  const unsigned warp = threadIdx.x / kWarp;
  // The last blocks first: the first ones have long rows to do.
  for (long long k = static_cast<long long>(warp) * gridDim.x + (gridDim.x - 1 - block_number());
       k < queued[1]; k += static_cast<long long>(gridDim.x) * kBlockWarps) {
    const int v = queue[k];
    const Tally found =
        tally_of<false>(all, v, keys + warp * kOwnSlots, counts + warp * kOwnSlots, 0, 1);
    if (threadIdx.x % kWarp == 0) all.finish(v, found.wanted());
  }
}

__device__ __forceinline__ double share_of(long long round) {
  return round >= 32 ? 0 : (round & 1) != 0 ? 0.5 : 0.75;
}

// A row of which `kLanes` lanes do the entries; those without one pass `has` as false. All lanes of
// the warp call it.
template <int kLanes, class I>
__device__ __forceinline__ void settle_row(int v, long long first, long long length, bool has,
                                           double share, const I* indices, int* label,
                                           const int* best, const double* draw,
                                           signed char* active) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp, rank = lane % kLanes, base = lane - rank;
  const unsigned group = kLanes == kWarp ? kAllLanes : ((1u << kLanes % kWarp) - 1) << base;
  const double mine = has ? draw[v] : 0;
  bool waits = false;
  for (long long start = 0; __any_sync(kAllLanes, has && !waits && mine >= share && start < length);
       start += kLanes) {
    const long long p = start + rank;
    bool is_less = false;
    if (has && mine >= share && p < length) {
      const int u = static_cast<int>(indices[first + p]);
      is_less = best[u] >= 0 && draw[u] > mine;
    }
    const unsigned those = __ballot_sync(kAllLanes, is_less) & group;
    waits = waits || those != 0;
  }
  if (!has) return;
  if (rank == 0) active[v] = 1;
  if (waits) return;
  if (rank == 0) label[v] = best[v];
  for (long long p = rank; p < length; p += kLanes) active[indices[first + p]] = 1;
}

template <class P, class I>
__device__ void settle(long long items, const P* indptr, const I* indices, int* label, int* best,
                       double* draw, signed char* active, int* queue, long long* state) {
  const double share = share_of(state[kRounds]);
  int* const long_moves = reinterpret_cast<int*>(&state[kLongMoves]);
  long long wanted = 0;
  each_row(
      items, indptr,
      [&](int v) {
        if (best[v] < 0) return false;
        ++wanted;
        return true;
      },
      [&](int v, bool is_longer, long long first, long long length) {
        if (is_longer && length > kMedium) queue[atomicAdd(long_moves, 1)] = v;
        unsigned open = __ballot_sync(kAllLanes, is_longer && length <= kMedium);
        while (open != 0) {
          const int source = __ffs(static_cast<int>(open)) - 1;
          open &= open - 1;
          settle_row<kWarp>(shuffle(v, source), shuffle(first, source), shuffle(length, source), true,
                            share, indices, label, best, draw, active);
        }
      },
      [&](int v, long long first, int length, bool has) {
        settle_row<8>(v, first, length, has, share, indices, label, best, draw, active);
      });
  for (int step = kWarp / 2; step > 0; step /= 2) wanted += __shfl_xor_sync(kAllLanes, wanted, step);
  if (threadIdx.x % kWarp == 0 && wanted != 0) atomic_add(&state[kWanted], wanted);
}

// Long rows that `settle` left in the queue, by blocks.
template <class P, class I>
__device__ void settle_long(long long, const P* indptr, const I* indices, int* label,
                            const int* best, const double* draw, signed char* active,
                            const int* queue, const long long* state) {
  constexpr int kAtOnce = 8;
  const double share = share_of(state[kRounds]);
  const int rows = *reinterpret_cast<const int*>(&state[kLongMoves]);
  for (int k = static_cast<int>(block_number()); k < rows; k += gridDim.x) {
    const int v = queue[k];
    const long long first = indptr[v], last = indptr[v + 1], step = kAtOnce * blockDim.x;
    const double mine = draw[v];
    bool waits = false;
    for (long long start = first; mine >= share && start < last && !waits; start += step) {
      bool is_less = false;
#pragma unroll
      for (int e = 0; e < kAtOnce; ++e) {
        const long long p = start + e * blockDim.x + threadIdx.x;
        const int u = static_cast<int>(indices[p < last ? p : first]);
        is_less = is_less || (best[u] >= 0 && draw[u] > mine);
      }
      waits = __syncthreads_or(is_less) != 0;
    }
    if (threadIdx.x == 0) active[v] = 1;
    if (waits) continue;
    if (threadIdx.x == 0) label[v] = best[v];
#pragma unroll 8
    for (long long p = first + threadIdx.x; p < last; p += blockDim.x) active[indices[p]] = 1;
  }
}

__device__ __forceinline__ void next_ballot(long long, long long* state) {
  state[kRounds] += 1;
  state[kTie] += 1;
  state[kTurn] += 1;
  state[kQueued] = 0;
  state[kLongMoves] = 0;
  if (state[kWanted] <= state[kFew]) state[0] = state[kConverged] = 1;
  if (state[kRounds] >= state[kLimit]) state[0] = 1;
  state[kWanted] = 0;
}
