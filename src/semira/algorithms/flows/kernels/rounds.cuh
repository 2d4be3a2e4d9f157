// Push-relabel in rounds. See rounds.py, which says what `state` holds.
#pragma once

namespace rounds {

enum Word { kEnd, kMode, kSide, kOldSide, kCounts, kCount = 6, kLevel, kSince, kMost, kSearches,
            kRounds, kTurns, kOldMode, kPace, kSought };
enum Mode { kReset, kSearch, kCollect, kPush };

// Appends to a list whose length other threads change too.
struct List {
  int* places;
  long long* length;
  __device__ __forceinline__ void add(int v) const { places[atomic_add(length, 1)] = v; }
};

// Lanes of a vertex, and the mask of them in their warp.
constexpr int kLanes = 4;
__device__ __forceinline__ unsigned lanes_of_group() {
  return ((1u << kLanes) - 1) << (threadIdx.x % 32 / kLanes * kLanes);
}

// Gives two levels, as in rounds.py. Rows may be long: all lanes go on from a vertex that one found.
template <class P, class I, class B>
__device__ void spread(long long count, const int* list, const List& next, int level, int far,
                       long long aside, const P* indptr, const I* indices, const B* back,
                       const long long* room, const long long* excess, int* height,
                       long long* state) {
  const Group<kLanes> four;
  const unsigned group = lanes_of_group();
  for (long long i = four.first; i < count; i += four.step) {
    const int v = list[i];
    const P last = indptr[v + 1];
    for (P first = indptr[v]; first < last; first += kLanes) {
      const P e = first + four.lane;
      bool is_new = false;
      I u = 0;
      if (e < last) {
        u = indices[e];
        const int h = height[u];
        if (h > level && h <= far && room[back[e]] > 0 && u != aside) {
          const int before = atomicMin(&height[u], level);
          is_new = before > level;
          if (before == far && excess[u] > 0) atomic_add(&state[kSought], -1);
        }
      }
      for (int lane = 0; lane < kLanes; ++lane) {
        if (!__shfl_sync(group, static_cast<int>(is_new), lane, kLanes)) continue;
        const I middle = __shfl_sync(group, u, lane, kLanes);
        for (P f = indptr[middle] + four.lane; f < indptr[middle + 1]; f += kLanes) {
          const I t = indices[f];
          if (height[t] == far && room[back[f]] > 0 && t != aside &&
              atomicMin(&height[t], level + 1) == far) {
            next.add(static_cast<int>(t));
            if (excess[t] > 0) atomic_add(&state[kSought], -1);
          }
        }
      }
    }
  }
}

// Decides what the next turn does; lists that nobody reads then are empty.
__device__ inline void turn(long long side, long long mode, long long* state) {
  long long found = state[kCounts + 1 - side];
  state[kSide] = 1 - side;
  ++state[kTurns];
  if (mode == kReset) {
    state[kMode] = kSearch;
    state[kLevel] = 0;
    ++state[kSearches];
    state[kCounts + 1 - side] = 0;
    // With nobody to be found, it finds all distances: the last search.
    if (state[kSought] == 0) state[kSought] = -1;
  } else if (mode == kSearch) {
    // Twice two levels: the last is where the list was that the first came from.
    state[kSide] = side;
    state[kLevel] += 4;
    found = state[kCounts + side];
    state[kCounts + 1 - side] = 0;
    if (state[kSought] == 0) {
      state[kMode] = kCollect;
    } else if (found == 0) {
      // All distances are known: the greatest one is told by who collects.
      state[kMode] = kCollect;
      state[kLevel] = 0;
      state[kSought] = -1;
    }
  } else if (mode == kCollect) {
    state[kMode] = kPush;
    state[kSince] = 0;
    state[kMost] = max(16LL, state[kPace] * state[kLevel] / 4);
    state[kEnd] = 1 - min(found, 1LL);
    state[kSought] = 0;
  } else {
    ++state[kSince];
    ++state[kRounds];
    if (found == 0 || state[kSince] >= state[kMost]) state[kMode] = kReset;
  }
  state[kCounts + side] = 0;
  state[kCount] = found;
}

}  // namespace rounds

template <class P, class I, class B>
__device__ void act(long long items, long long n, long long aside, const P* indptr,
                    const I* indices, const B* back, long long* room, long long* excess,
                    long long* incoming, int* height, int* mark, int* lists, long long* state) {
  using namespace rounds;
  const Group<1> mine;
  const long long mode = state[kMode], side = state[kSide], count = state[kCount];
  const int* current = lists + side * n;
  const List next{lists + (1 - side) * n, state + kCounts + 1 - side};
  const int far = static_cast<int>(n);
  if (mode == kReset) {
    for (long long v = mine.first; v < n; v += mine.step) {
      const long long own = excess[v];
      const int h = height[v] >= far ? far + 1 : far;
      height[v] = own < 0 ? 0 : h;
      if (own > 0 && h == far) atomic_add(&state[kSought], 1);
      if (own < 0) next.add(static_cast<int>(v));
    }
  } else if (mode == kSearch) {
    spread(count, current, next, static_cast<int>(state[kLevel]) + 1, far, aside, indptr, indices,
           back, room, excess, height, state);
  } else if (mode == kCollect) {
    const bool is_complete = state[kSought] != 0;
    const int farther = is_complete ? far : static_cast<int>(min(state[kLevel] + 1, n));
    int greatest = 0;
    for (long long v = mine.first; v < n; v += mine.step) {
      int h = height[v];
      if (h == far) height[v] = h = farther;
      if (h < far) greatest = max(greatest, h);
      if (excess[v] > 0 && h < far) next.add(static_cast<int>(v));
    }
    greatest = __reduce_max_sync(kAllLanes, greatest);
    if (is_complete && threadIdx.x % 32 == 0 && greatest > 0) {
      atomicMax(&state[kLevel], static_cast<long long>(greatest));
    }
  } else {
    const Group<kLanes> four;
    const unsigned group = lanes_of_group();
    const int stamp = static_cast<int>(state[kTurns]) + 1;
    for (long long i = four.first; i < count; i += four.step) {
      const int v = current[i], h = height[v];
      long long left = excess[v];
      if (left <= 0 || h >= far) continue;
      const P last = indptr[v + 1];
      for (P first = indptr[v]; first < last && left > 0; first += kLanes) {
        const P e = first + four.lane;
        I w = 0;
        long long open = 0, sent = 0;
        if (e < last) {
          // An arc whose head is lower: nobody else changes it in this turn.
          w = indices[e];
          open = height[w] == h - 1 ? room[e] : 0;
        }
        for (int lane = 0; lane < kLanes; ++lane) {
          const long long part = min(__shfl_sync(group, open, lane, kLanes), left);
          if (lane == four.lane) sent = part;
          left -= part;
        }
        if (sent == 0) continue;
        room[e] -= sent;
        room[back[e]] += sent;
        atomic_add(&incoming[w], sent);
        if (atomicMax(&mark[w], stamp) < stamp) next.add(static_cast<int>(w));
      }
      if (four.lane != 0) continue;
      excess[v] = left;
      if (left > 0 && atomicMax(&mark[v], stamp) < stamp) next.add(v);
    }
  }
}

template <class P, class I, class B>
__device__ void settle(long long items, long long n, long long aside, const P* indptr,
                       const I* indices, const B* back, const long long* room, long long* excess,
                       long long* incoming, int* height, int* fresh, int* lists,
                       long long* state) {
  using namespace rounds;
  const Group<1> mine;
  const long long side = state[kSide], mode = state[kMode];
  if (mine.first == 0) {
    state[kOldSide] = side;
    state[kOldMode] = mode;
  }
  const int far = static_cast<int>(n);
  const int* list = lists + (1 - side) * n;
  const long long count = state[kCounts + 1 - side];
  if (mode == kSearch) {
    spread(count, list, List{lists + side * n, state + kCounts + side},
           static_cast<int>(state[kLevel]) + 3, far, aside, indptr, indices, back, room, excess,
           height, state);
  }
  if (mode != kPush) return;
  const Group<kLanes> four;
  for (long long i = four.first; i < count; i += four.step) {
    const int v = list[i], h = height[v];
    const long long own = excess[v] + incoming[v];
    int least = far;
    if (own > 0 && h < far) {
      for (P e = indptr[v] + four.lane; e < indptr[v + 1]; e += kLanes) {
        const int other = height[indices[e]];
        if (room[e] > 0) least = min(least, other);
      }
    }
    const unsigned group = lanes_of_group();
    for (int step = kLanes / 2; step > 0; step /= 2) {
      least = min(least, __shfl_xor_sync(group, least, step));
    }
    if (four.lane != 0) continue;
    excess[v] = own;
    incoming[v] = 0;
    fresh[i] = own > 0 && h < far && least >= h ? min(least + 1, far) : h;
  }
}

__device__ inline void commit(long long items, long long n, int* height, const int* fresh,
                              const int* lists, long long* state) {
  using namespace rounds;
  const Group<1> mine;
  const long long side = state[kOldSide], mode = state[kOldMode];
  if (mode == kPush) {
    const int* list = lists + (1 - side) * n;
    const long long count = state[kCounts + 1 - side];
    for (long long i = mine.first; i < count; i += mine.step) height[list[i]] = fresh[i];
  }
  if (mine.first == 0) turn(side, mode, state);
}
