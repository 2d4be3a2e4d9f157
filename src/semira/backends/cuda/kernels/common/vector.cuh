// Vectors on the device: dense values, presence packed 32 to a word, list of positions.
#pragma once
#include "common/grid.cuh"

struct PlaneDescriptor {
  void* values;
  unsigned* words;
  Index* list;
};

// What outlives a launch. `active` names the plane that holds the entries; the other is empty.
struct VectorState {
  long long nvals, active, listed;
  long long method, frontier;  // of the last eager product driven by the vector
};

struct VectorDescriptor {
  PlaneDescriptor plane[2];
  VectorState* state;
  long long size;
};

// `place`, which lies in device memory: what the compiler knows to lie there is loaded sooner.
template <class V> SEMIRA_INLINE V* in_global(V* place) {
  __builtin_assume(__isGlobal(place));
  return place;
}

template <class T> struct Plane {
  using Value = T;
  T* values;
  unsigned* words;
  Index* list;

  Plane() = default;
  __device__ explicit Plane(const PlaneDescriptor& d)
      : values(static_cast<T*>(d.values)), words(d.words), list(d.list) {}

  SEMIRA_INLINE bool has(Index i) const {
    return words[static_cast<unsigned>(i) / kWarp] >> (static_cast<unsigned>(i) % kWarp) & 1u;
  }
  // Others may put entries to the same word.
  SEMIRA_INLINE void put(Index i, T value) const {
    values[i] = value;
    atomicOr(&words[static_cast<unsigned>(i) / kWarp], 1u << (static_cast<unsigned>(i) % kWarp));
  }
};

// Lies in shared memory. One thread changes it, after a grid barrier and before a block barrier,
// alike in every block.
//
// `listed` says that `list` holds the positions of all entries, in any order; `old_nvals` and
// `old_listed` are those of the spare plane until it is cleared.
template <class T> struct Vector {
  using Value = T;
  Plane<T> here, spare;
  Index size, nvals, old_nvals;
  int active;
  bool listed, old_listed;

  __device__ void load(const VectorDescriptor& d) {
    size = static_cast<Index>(d.size);
    nvals = static_cast<Index>(d.state->nvals);
    active = static_cast<int>(d.state->active);
    listed = d.state->listed != 0;
    here = Plane<T>(d.plane[active]);
    spare = Plane<T>(d.plane[1 - active]);
    old_nvals = 0;
    old_listed = true;
  }

  __device__ void store(const VectorDescriptor& d) const {
    d.state->nvals = nvals;
    d.state->active = active;
    d.state->listed = listed ? 1 : 0;
  }

  SEMIRA_INLINE unsigned num_words() const {
    return (static_cast<unsigned>(size) + kWarp - 1) / kWarp;
  }
  SEMIRA_INLINE bool has(Index i) const { return here.has(i); }

  // The two planes change roles; what is in the old one stays there.
  SEMIRA_INLINE void turn_over() {
    const Plane<T> old = here;
    here = spare;
    spare = old;
    active = 1 - active;
    listed = false;
  }

  // Makes the spare plane, which a product has filled, the vector's own.
  SEMIRA_INLINE void take_spare(Index produced, bool is_listed) {
    old_nvals = nvals;
    old_listed = listed;
    turn_over();
    nvals = produced;
    listed = is_listed;
  }
};

// What a phase reads of a vector, or of a plane, in registers: the phase stores, and whatever it
// stores might be in shared memory for all that the compiler knows.
template <class T> struct HeldVector {
  Plane<T> here, spare;
  Index size, nvals;
};
template <class T> SEMIRA_INLINE HeldVector<T> in_registers(const Vector<T>& vector) {
  return {vector.here, vector.spare, vector.size, vector.nvals};
}
template <class T> SEMIRA_INLINE Plane<T> in_registers(const Plane<T>& plane) { return plane; }
// Of one that is known to have every entry.
template <class T> SEMIRA_INLINE HeldVector<T> as_full(const Vector<T>& vector) {
  const Index size = vector.size;
  return {vector.here, vector.spare, size, size};
}
template <class T> SEMIRA_INLINE Plane<T> as_full(const Plane<T>& plane) { return plane; }

// Whether a value of an index vector names a position of a vector of so many.
template <class I> SEMIRA_INLINE bool is_position(const I value, Index size) {
  const long long place = static_cast<long long>(value);
  return place >= 0 && place < size;
}

// Where positions go that are added to a list: into the block's part of it, into the list itself,
// or nowhere.
struct Room {
  unsigned start;
  bool here, none;
};

// Positions that the first lists of a program have room for in each block.
constexpr unsigned kListed = 1024;

// Positions that a block's threads add to a list, gathered in shared memory: the list's end, one
// address for the whole grid, is asked for once a block and not once a warp. Without room, every
// warp asks for itself; of a list that may stay incomplete, beyond so many positions nobody asks.
template <unsigned kMost> struct BlockList {
  unsigned count;     // positions asked for
  unsigned valid;     // those that found room here
  unsigned unlisted;  // those that are only counted
  unsigned start, taken;
  Index items[kMost == 0 ? 1 : kMost];

  __device__ void reset() {
    count = unlisted = 0;
    valid = kMost;
  }

  SEMIRA_INLINE Room reserve(unsigned positions, Count* cursor, unsigned most = ~0u) {
    if constexpr (kMost != 0) {
      const unsigned first = atomicAdd(&count, positions);
      if (first + positions <= kMost) return {first, true, false};
      // Whoever comes later finds no room either.
      atomicMin(&valid, first);
      if (first + positions > most) {
        atomicAdd(&unlisted, positions);
        return {0, false, true};
      }
    }
    return {static_cast<unsigned>(atomicAdd(cursor, static_cast<Count>(positions))), false, false};
  }

  // One thread, between two barriers of the block: asks for places behind the entries that
  // `cursor` counts. Then all write what was gathered, and meet again before the next one comes.
  SEMIRA_INLINE void take(Count* cursor, Count* incomplete = nullptr) {
    taken = count < valid ? count : valid;
    if (taken != 0) start = static_cast<unsigned>(atomicAdd(cursor, static_cast<Count>(taken)));
    if (unlisted != 0) {
      atomicAdd(cursor, static_cast<Count>(unlisted));
      *incomplete = 1;
    }
    reset();
  }
  SEMIRA_INLINE void write(Index* list, Index end) const {
    if (list == nullptr) return;
    for (unsigned k = threadIdx.x; k < taken; k += blockDim.x) list[end + start + k] = items[k];
  }
};

// Positions that a block adds to a list that may stay incomplete. Where more than a 32nd of a long
// vector is new, walking all words takes no longer than their list, whose end is one address for all.
// Of short vectors blocks find unequally many: one gives up later (docs/decisions/0037).
SEMIRA_INLINE unsigned most_listed(const Team& team, Index size) {
  const unsigned even = static_cast<unsigned>(size) / (team.threads / blockDim.x);
  if (even <= 4 * kListed) return 4 * kListed;
  return even / 32 < kListed ? kListed : even / 32;
}

// Words that one warp takes at a time: few where they are few, so that all warps get some.
SEMIRA_INLINE unsigned words_per_tile(const Team& team, unsigned num_words) {
  const unsigned share = num_words / (4 * team.warps);
  return share < 1 ? 1 : (share > kWarp ? kWarp : share);
}

// Calls `body(w, word)` for every non-zero word; all lanes of a warp get the same w.
template <class Body>
SEMIRA_INLINE void for_each_word(
    const Team& team, const unsigned* words, unsigned num_words, Body body) {
  const unsigned tile = words_per_tile(team, num_words);
  for (unsigned base = team.warp * tile; base < num_words; base += team.warps * tile) {
    const unsigned mine = base + team.lane;
    const unsigned word = team.lane < tile && mine < num_words ? words[mine] : 0;
    for (const int source : SetBits{__ballot_sync(kAllLanes, word != 0)}) {
      body(base + source, __shfl_sync(kAllLanes, word, source));
    }
  }
}

// Writes the list of positions from the presence words, in no particular order. A warp asks for the
// places of all its words at once.
template <class T>
SEMIRA_PHASE void build_list(const Team& team, const Vector<T>& v, Count* cursor) {
  const unsigned each = (v.num_words() + team.warps - 1) / team.warps;
  const unsigned tile = each < kWarp ? each : kWarp;
  for (unsigned base = team.warp * tile; base < v.num_words(); base += team.warps * tile) {
    const unsigned mine = base + team.lane;
    const unsigned word = team.lane < tile && mine < v.num_words() ? v.here.words[mine] : 0;
    unsigned filled = __ballot_sync(kAllLanes, word != 0);
    if (filled == 0) continue;
    const unsigned own = static_cast<unsigned>(__popc(word));
    const unsigned upto = sum_upto(team.lane, own);
    unsigned end = 0;
    if (team.lane == kWarp - 1) {
      end = static_cast<unsigned>(atomicAdd(cursor, static_cast<Count>(upto)));
    }
    const unsigned start = __shfl_sync(kAllLanes, end, kWarp - 1) + upto - own;
    for (const int source : SetBits{filled}) {
      const unsigned entries = __shfl_sync(kAllLanes, word, source);
      const unsigned place = __shfl_sync(kAllLanes, start, source);
      if (entries >> team.lane & 1u) {
        const unsigned before = __popc(entries & ((1u << team.lane) - 1));
        v.here.list[place + before] = static_cast<Index>((base + source) * kWarp + team.lane);
      }
    }
  }
}

// Empties the spare plane word by word, whatever is known of it.
template <class T> SEMIRA_PHASE void wipe_spare(const Team& team, const Vector<T>& v) {
  for (unsigned w = team.thread; w < v.num_words(); w += team.threads) v.spare.words[w] = 0;
}

// Empties the spare plane: through its list where it has one, else word by word.
template <class T> SEMIRA_PHASE void clear_spare(const Team& all, const Vector<T>& v) {
  const Team team = from_the_end(all);
  const Plane<T> plane = v.spare;
  if (v.old_listed) {
    const unsigned num = static_cast<unsigned>(v.old_nvals);
    for (unsigned k = team.thread; k < num; k += team.threads) {
      plane.words[static_cast<unsigned>(plane.list[k]) / kWarp] = 0;
    }
  } else {
    const unsigned num_words = v.num_words();
    for (unsigned w = team.thread; w < num_words; w += team.threads) plane.words[w] = 0;
  }
}
