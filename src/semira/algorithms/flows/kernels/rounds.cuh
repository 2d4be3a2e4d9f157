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

// Gives a level to whom arcs with room lead from to vertices of a list; lists them. Four threads a
// vertex: rows may be long.
template <class P, class I, class B>
__device__ void spread(long long count, const int* list, const List& next, int level, int far,
                       long long aside, const P* indptr, const I* indices, const B* back,
                       const long long* room, const long long* excess, int* height,
                       long long* state) {
  const Group<4> four;
  for (long long i = four.first; i < count; i += four.step) {
    const int v = list[i];
    for (P e = indptr[v] + four.lane; e < indptr[v + 1]; e += 4) {
      const I u = indices[e];
      if (height[u] == far && room[back[e]] > 0 && u != aside &&
          atomicMin(&height[u], level) == far) {
        next.add(static_cast<int>(u));
        if (excess[u] > 0) atomic_add(&state[kSought], -1);
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
    // Two levels: the second is where the list was that the first came from.
    state[kSide] = side;
    state[kLevel] += min(found, 1LL);
    found = state[kCounts + side];
    state[kCounts + 1 - side] = 0;
    state[kLevel] += min(found, 1LL);
    if (found == 0 || state[kSought] == 0) {
      state[kMode] = kCollect;
      if (found == 0) state[kSought] = -1;
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
    const int farther = state[kSought] == 0 ? static_cast<int>(min(state[kLevel] + 1, n)) : far;
    for (long long v = mine.first; v < n; v += mine.step) {
      if (height[v] == far) height[v] = farther;
      if (excess[v] > 0 && height[v] < far) next.add(static_cast<int>(v));
    }
  } else {
    const int stamp = static_cast<int>(state[kTurns]) + 1;
    for (long long i = mine.first; i < count; i += mine.step) {
      const int v = current[i], h = height[v];
      long long left = excess[v];
      if (left <= 0 || h >= far) continue;
      for (P e = indptr[v]; e < indptr[v + 1] && left > 0; ++e) {
        const I w = indices[e];
        // An arc whose head is lower: nobody else changes it in this turn.
        if (height[w] != h - 1 || room[e] == 0) continue;
        const long long sent = min(room[e], left);
        room[e] -= sent;
        room[back[e]] += sent;
        left -= sent;
        atomic_add(&incoming[w], sent);
        if (atomicMax(&mark[w], stamp) < stamp) next.add(static_cast<int>(w));
      }
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
           static_cast<int>(state[kLevel]) + 2, far, aside, indptr, indices, back, room, excess,
           height, state);
  }
  if (mode != kPush) return;
  for (long long i = mine.first; i < count; i += mine.step) {
    const int v = list[i];
    int h = height[v];
    const long long own = excess[v] + incoming[v];
    excess[v] = own;
    incoming[v] = 0;
    if (own > 0 && h < far) {
      int least = far;
      for (P e = indptr[v]; e < indptr[v + 1]; ++e) {
        if (room[e] > 0) least = min(least, height[indices[e]]);
      }
      if (least >= h) h = min(least + 1, far);
    }
    fresh[i] = h;
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
