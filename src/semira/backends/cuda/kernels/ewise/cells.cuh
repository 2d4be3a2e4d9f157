// One position of the vectors that neighbouring statements share, in registers.
//
// A phase takes each position once: it loads what the statements read, runs them one after the
// other and stores what they changed. A cell reads like a plane at its position, so the sources
// of ewise/sources.cuh compute on either.
#pragma once
#include "common/control.cuh"
#include "common/mask.cuh"
#include "common/matrix.cuh"
#include "ewise/sources.cuh"

template <class T> struct Cell {
  using Value = T;
  struct Only {
    T value;
    SEMIRA_INLINE const T& operator[](Index) const { return value; }
  };
  Only values;
  bool present, had, changed;
  T before = T{};  // what `fetch_replaced` found

  SEMIRA_INLINE bool has(Index) const { return present; }
};

// A position nobody has looked at: without an entry.
template <class T> SEMIRA_INLINE Cell<T> empty_cell() { return {{T{}}, false, false, false}; }
// Presence; the value is fetched apart, so that all words are under way before the first value.
// `full`: every position has an entry, so that no value waits for a word; `none`: none has.
template <class T>
SEMIRA_INLINE Cell<T> open_cell(
    const Plane<T>& plane, Index i, bool live, bool full = false, bool none = false) {
  const bool has = live && !none && (full || plane.has(i));
  return {{T{}}, has, has, false};
}
// Of a vector whose list is walked.
template <class T> SEMIRA_INLINE Cell<T> listed_cell(const Plane<T>&, bool live) {
  return {{T{}}, live, live, false};
}
template <class T> SEMIRA_INLINE void fetch(Cell<T>& cell, const Plane<T>& plane, Index i) {
  if (cell.had) cell.values.value = in_global(static_cast<const T*>(plane.values))[i];
}
// The same where what is stored later may not depend on it.
template <class T>
SEMIRA_INLINE void fetch_replaced(Cell<T>& cell, const Plane<T>& plane, Index i) {
  fetch(cell, plane, i);
  cell.before = cell.values.value;
}

// `value`, which is not there before `before` has arrived. A store that overtakes a load of the same
// line, still on its way, makes L1 miss what others read: PageRank of USA-road-NE took 3.5 times as
// long in FP64 (docs/decisions/0045). Compilers cannot know that there is one block in z. Records of more
// than 16 bytes do not wait.
template <class T> SEMIRA_INLINE T once_arrived(T value, T before) {
  if constexpr (sizeof(T) <= 16) {
    constexpr unsigned kWords = (sizeof(T) + sizeof(unsigned) - 1) / sizeof(unsigned);
    const unsigned zero = blockDim.z - 1;
    unsigned bits[kWords] = {}, old[kWords] = {};
    memcpy(bits, &value, sizeof(T));
    memcpy(old, &before, sizeof(T));
#pragma unroll
    for (unsigned w = 0; w < kWords; ++w) bits[w] ^= old[w] & zero;
    memcpy(&value, bits, sizeof(T));
  }
  return value;
}

template <class M, bool kStructural, bool kComplement> struct CellMask {
  Cell<M> cell;
  SEMIRA_INLINE bool allows(Index) const {
    bool set = cell.present;
    if constexpr (!kStructural) set = set && cell.values.value != static_cast<M>(0);
    return set != kComplement;
  }
};

// out<mask, replace> accum= source, at one position.
template <class Accum, bool kReplace, class T, class Source, class MaskT>
SEMIRA_INLINE void update(Index i, Cell<T>& out, const Source source, const MaskT mask) {
  if (!mask.allows(i)) {
    if constexpr (kReplace) out.present = false;
    return;
  }
  typename Source::Value z{};
  const bool got = source.get(i, z);
  if constexpr (Accum::kAccumulates) {
    if (!got) return;
    if (out.present) {
      using A = typename Accum::T;
      out.values.value = cast<T>(Accum::apply(cast<A>(out.values.value), cast<A>(z), i, 0, 0));
    } else {
      out.values.value = cast<T>(z);
    }
    out.present = out.changed = true;
  } else {
    out.present = got;
    if (got) {
      out.values.value = cast<T>(z);
      out.changed = true;
    }
  }
}

// What a thread changed in one vector. There are fewer than 2**31 positions, of which it has a share.
struct Changes {
  unsigned inserted, deleted;
  Count edges;
};

template <class T> SEMIRA_INLINE void count_change(const Cell<T>& cell, Changes& changes) {
  changes.inserted += cell.present && !cell.had ? 1 : 0;
  changes.deleted += cell.had && !cell.present ? 1 : 0;
}

// Stores a word of the output: one lane a position. No vote but among lanes whose entry came or
// went: mostly none, and where the compiler sees that there are none, nothing is left of it. Their
// bits are turned over, which is right because a cell has what the word in memory says.
template <class T>
SEMIRA_INLINE void store_word(
    const Team& team, const Plane<T>& plane, Index i, const Cell<T>& cell, Changes& changes) {
  if (cell.present && cell.changed) {
    in_global(plane.values)[i] = once_arrived(cell.values.value, cell.before);
  }
  if (cell.present != cell.had) {
    const unsigned peers = __activemask();
    if (team.lane == static_cast<unsigned>(__ffs(static_cast<int>(peers)) - 1)) {
      atomicXor(&plane.words[static_cast<unsigned>(i) / kWarp], peers);
    }
    count_change(cell, changes);
  }
}

// Stores positions of one word that the lanes have side by side and that lose no entry; other warps
// may store to the same word.
template <class T>
SEMIRA_INLINE void store_beside(
    const Team& team, const Plane<T>& plane, Index i, const Cell<T>& cell, Changes& changes) {
  if (cell.present && cell.changed) in_global(plane.values)[i] = cell.values.value;
  const bool fresh = cell.present && !cell.had;
  const unsigned bits =
      __reduce_or_sync(kAllLanes, fresh ? 1u << (static_cast<unsigned>(i) % kWarp) : 0u);
  if (bits == 0) return;
  if (team.lane == 0) atomicOr(&plane.words[static_cast<unsigned>(i) / kWarp], bits);
  changes.inserted += fresh ? 1 : 0;
}

// Stores a word of the output, all of whose entries were made anew, into the plane that will be its
// own, whatever that holds.
template <class T>
SEMIRA_INLINE void store_behind(
    const Team& team, const Plane<T>& plane, Index i, const Cell<T>& cell, Changes& changes) {
  if (cell.present) in_global(plane.values)[i] = cell.values.value;
  const unsigned after = __ballot_sync(kAllLanes, cell.present);
  if (team.lane == 0) plane.words[static_cast<unsigned>(i) / kWarp] = after;
  count_change(cell, changes);
}

// Gives the lanes' new positions their places in a list, by way of the block's.
template <class List>
SEMIRA_INLINE void append_to(
    const Team& team, List& block, Index* list, Index end, Index i, bool fresh, Count* cursor) {
  const unsigned peers = __ballot_sync(kAllLanes, fresh);
  if (peers == 0) return;
  Room room = {};
  if (team.lane == 0) room = block.reserve(static_cast<unsigned>(__popc(peers)), cursor);
  const unsigned place =
      __shfl_sync(kAllLanes, room.start, 0) + __popc(peers & ((1u << team.lane) - 1));
  const bool here = __shfl_sync(kAllLanes, room.here, 0);
  if (!fresh) return;
  if (here) {
    block.items[place] = i;
  } else if (list != nullptr) {
    list[end + place] = i;
  }
}

// List that new entries are appended to; null if the vector has none.
template <class T> SEMIRA_INLINE Index* kept_list(const Vector<T>& v) {
  return v.listed ? v.here.list : nullptr;
}

// Stores scattered positions in place. With kAppend, new entries go to the end of the list, if
// the vector has one; `block` is written out after the last of them.
template <bool kAppend, class T, class List>
SEMIRA_INLINE void store_listed(const Team& team, const Vector<T>& out, List& block, Index i,
    const Cell<T>& cell, Count* cursor, Changes& changes) {
  const Plane<T>& plane = out.here;
  if (cell.present && cell.changed) plane.values[i] = cell.values.value;
  const unsigned bit = 1u << (static_cast<unsigned>(i) % kWarp);
  unsigned* word = &plane.words[static_cast<unsigned>(i) / kWarp];
  const bool fresh = cell.present && !cell.had;
  if (fresh) atomicOr(word, bit);
  if (cell.had && !cell.present) {
    atomicAnd(word, ~bit);
    ++changes.deleted;
  }
  if constexpr (kAppend) {
    append_to(team, block, kept_list(out), out.nvals, i, fresh, cursor);
  } else {
    changes.inserted += fresh ? 1 : 0;
  }
}

// Stores scattered positions into the spare plane, which is empty before and holds all entries
// of the vector afterwards.
template <class T, class List>
SEMIRA_INLINE void store_spare(const Team& team, const Vector<T>& out, List& block, Index i,
    const Cell<T>& cell, Count* cursor) {
  const Plane<T>& plane = out.spare;
  if (cell.present) {
    plane.put(i, cell.values.value);
  }
  append_to(team, block, plane.list, 0, i, cell.present, cursor);
}

// Empties a plane that was read, and writes `rest` where an entry was.
template <bool kList, class T>
SEMIRA_INLINE void reset_cell(
    const Team& team, const Plane<T>& plane, Index i, const Cell<T>& cell, T rest) {
  if (cell.had) plane.values[i] = rest;
  if constexpr (kList) {
    if (cell.had) plane.words[static_cast<unsigned>(i) / kWarp] = 0;
  } else {
    const unsigned before = __ballot_sync(kAllLanes, cell.had);
    if (before != 0 && team.lane == 0) plane.words[static_cast<unsigned>(i) / kWarp] = 0;
  }
}

// Whether an index vector names a position that is not below `size`; remembers one.
template <class I>
SEMIRA_INLINE bool is_bad_position(const Cell<I>& cell, Index size, const Control& control) {
  if (!cell.present) return false;
  const I value = cell.values.value;
  const bool is_bad = !is_position(value, size);
  if (is_bad) control.result->bad_position = static_cast<long long>(value);
  return is_bad;
}

template <bool kOnes> struct Flag {
  static constexpr bool kOn = kOnes;
};

// What a walk brings along, in registers, of a product's result at the position; and its cell.
template <class Sum> SEMIRA_INLINE const Sum& given_sum(const Sum& sum) { return sum; }
template <class T, class Sum> SEMIRA_INLINE Cell<T> filled_cell(const Sum& sum) {
  return {{sum.value}, sum.has, sum.has, false};
}

// Calls `at` for the positions of a list; all lanes take part, those past the end without one.
template <class At>
SEMIRA_INLINE void walk_list(const Team& team, const Index* list, Index nvals, At at) {
  const unsigned num = static_cast<unsigned>(nvals);
  for (unsigned base = team.warp * kWarp; base < num; base += team.threads) {
    const bool live = base + team.lane < num;
    at(Flag<true>{}, live ? list[base + team.lane] : 0, live);
  }
}

// Calls `at` for every position from the word `from` on: one warp a word, one lane a position.
template <class At>
SEMIRA_INLINE void walk_words(const Team& team, Index size, At at, unsigned from = 0) {
  const unsigned num = static_cast<unsigned>(size), num_words = (num + kWarp - 1) / kWarp;
  for (unsigned w = from + team.warp; w < num_words; w += team.warps) {
    const unsigned place = w * kWarp + team.lane;
    at(Flag<false>{}, static_cast<Index>(place), place < num);
  }
}

// Where every lane has a position: the compiler knows it.
struct Always {
  __device__ constexpr operator bool() const { return true; }
};

// Calls `at` for the positions of the words that have all of theirs.
template <class At> SEMIRA_INLINE void walk_full_words(const Team& team, Index size, At at) {
  const unsigned num_words = static_cast<unsigned>(size) / kWarp;
  for (unsigned w = team.warp; w < num_words; w += team.warps) {
    at(Flag<false>{}, static_cast<Index>(w * kWarp + team.lane), Always{});
  }
}

// Calls `at` for words from `from` on where `filled(w)` says that something may happen. Large vectors
// are looked through a word a lane.
template <class Filled, class At>
SEMIRA_INLINE void walk_filled(
    const Team& team, Index size, Filled filled, At at, unsigned from = 0) {
  const unsigned num = static_cast<unsigned>(size), num_words = (num + kWarp - 1) / kWarp;
  const unsigned tile = words_per_tile(team, num_words);
  for (unsigned base = from + team.warp * tile; base < num_words; base += team.warps * tile) {
    const unsigned mine = base + team.lane;
    const bool wanted = team.lane < tile && mine < num_words && (tile == 1 || filled(mine));
    for (const int k : SetBits{__ballot_sync(kAllLanes, wanted)}) {
      const unsigned place = (base + k) * kWarp + team.lane;
      at(Flag<false>{}, static_cast<Index>(place), place < num);
    }
  }
}

// After the barrier: what is known about the output. `appended`: a list, if there
// was one, got the new entries.
template <class Out>
SEMIRA_INLINE void refresh(Vector<Out>& out, const Counters& counters, bool appended) {
  out.listed = out.listed && counters.deleted == 0 && (appended || counters.inserted == 0);
  out.nvals += static_cast<Index>(counters.inserted) - static_cast<Index>(counters.deleted);
}
