// Dot products entry by entry of the mask: a warp takes 32 entries, and each pair of lists is merged or
// searched, whichever costs less (decision 39).
//
// - merge: a lane reads both lists once, four entries of each at a time.
// - search: the shorter list is walked and the longer one searched, by a lane or by the warp.
#pragma once
#include "mxm/dots.cuh"

// What is pinned; by count: merged or searched.
enum Meeting { kByCount, kMerge, kSearch };

// Entries of a line that one thread walks and searches for; longer ones get a warp.
constexpr Offset kWalkedAlone = 32;

// Entries of one list that a merge holds in registers.
constexpr int kTile = 4;

// Lengths are no longer than this where costs are compared, so that sums of them fit.
constexpr Offset kLongEnough = 1 << 20;

// Whether a merge costs less than a search of the longer list for each entry of the shorter one, which
// costs as much as `search_cost` entries that are merged.
SEMIRA_INLINE bool is_merged(Offset x, Offset y, unsigned search_cost) {
  const unsigned one = static_cast<unsigned>(x < kLongEnough ? x : kLongEnough);
  const unsigned other = static_cast<unsigned>(y < kLongEnough ? y : kLongEnough);
  return one + other <= search_cost * (one < other ? one : other);
}

// Up to kTile entries of a list.
struct Tile {
  Index entries[kTile];
  Index last;  // kAfterAll if nothing comes behind it

  // Places that hold no entry get `nothing`.
  SEMIRA_INLINE void load(const Line& line, Offset from, Index nothing) {
    SEMIRA_UNROLLED(n, kTile) {
      entries[n] = from + n < line.length ? line.indices[line.start + from + n] : nothing;
    }
    last = from + kTile < line.length ? entries[kTile - 1] : kAfterAll;
  }
};

// Merges two lists into `dot`, alone.
template <class Product>
SEMIRA_INLINE void merge_lines(Product& dot, const Line& row, const Line& column) {
  // Neither is a column, nor are they equal.
  constexpr Index kNoX = -1, kNoY = -2;
  if (row.length == 0 || column.length == 0) return;
  Offset at_x = 0, at_y = 0;
  Tile x, y;
  x.load(row, 0, kNoX);
  y.load(column, 0, kNoY);
  while (true) {
    unsigned equal = 0;
    SEMIRA_UNROLLED(n, kTile) {
      SEMIRA_UNROLLED(m, kTile) {
        if (x.entries[n] == y.entries[m]) equal |= 1u << (n * kTile + m);
      }
    }
    for (const int pair : SetBits{equal}) {
      const Offset at = row.start + at_x + pair / kTile;
      if (dot.add(at, column.start + at_y + pair % kTile, row.indices[at])) return;
    }
    const bool ends_x = x.last <= y.last, ends_y = y.last <= x.last;
    if (ends_x) {
      at_x += kTile;
      if (at_x >= row.length) return;
      x.load(row, at_x, kNoX);
    }
    if (ends_y) {
      at_y += kTile;
      if (at_y >= column.length) return;
      y.load(column, at_y, kNoY);
    }
  }
}

// The entries of the mask that a warp has, one a lane.
template <bool kExit, class Semiring, class A, class B, class Emit> struct WarpEntries {
  using Product = Dot<kExit, Semiring, A, B>;
  const Group<kWarp>& group;
  const Entries<A>& a;
  const Entries<B>& bt;
  Emit& emit;
  Offset base;  // the first lane's entry
  Index i, j;   // of this lane's
  Line row, column;

  // Entry `owner` by all lanes: its lists are long.
  SEMIRA_INLINE void search_together(int owner) const {
    const Spread together(group.lane, kWarp);
    const Line one(row.indices, __shfl_sync(kAllLanes, row.start, owner),
        __shfl_sync(kAllLanes, row.length, owner));
    const Line other(column.indices, __shfl_sync(kAllLanes, column.start, owner),
        __shfl_sync(kAllLanes, column.length, owner));
    Product dot(a, bt, __shfl_sync(kAllLanes, i, owner), __shfl_sync(kAllLanes, j, owner));
    dot.search(together, one, other);
    deliver(together, kAllLanes, dot, base + owner, true, emit);
  }

  // One lane's entry, alone. False: it is too long for that.
  template <int kMeeting> SEMIRA_INLINE bool meet_alone(Product& dot, unsigned search_cost) const {
    if (kMeeting == kMerge ||
        (kMeeting == kByCount && is_merged(row.length, column.length, search_cost))) {
      merge_lines(dot, row, column);
      return true;
    }
    if ((row.length < column.length ? row.length : column.length) > kWalkedAlone) return false;
    dot.search(Spread(group.lane, kWarp, 1, kWarp), row, column);
    return true;
  }
};

// Leaves every entry to its lane.
struct LookUpNothing {
  template <class Warp> SEMIRA_INLINE unsigned operator()(const Warp&, bool) const { return 0; }
};

// The dot products of all entries of the mask. Calls `emit(e, value, has)` once for each entry, or its
// shares where `emit` takes them. `look_up(warp, is_open)` may deliver entries of a warp before: it
// returns the lanes whose entries it took.
template <bool kExit, int kMeeting, class Semiring, bool kStructural, class A, class B, class M,
    class Emit, class LookUp = LookUpNothing>
__device__ void dot_entries(const Entries<A>& a, const Entries<B>& bt, const Entries<M>& mask,
    unsigned search_cost, Emit emit, LookUp look_up = LookUp()) {
  using Warp = WarpEntries<kExit, Semiring, A, B, Emit>;
  const Group<kWarp> group;
  const Pattern rows = pattern_of(a), columns = pattern_of(bt);
  // Whole warps go on together.
  for (long long base = group.first * kWarp; base < mask.nvals; base += group.step * kWarp) {
    const bool is_entry = base + group.lane < mask.nvals;
    const Offset e = is_entry ? static_cast<Offset>(base + group.lane) : 0;
    bool is_open = is_entry;
    if constexpr (!kStructural) is_open = is_open && cast<bool>(mask.value(e));
    const Index i = mask.rows[e], j = mask.indices[e];
    const Warp warp{group, a, bt, emit, static_cast<Offset>(base), i, j, {rows, i}, {columns, j}};
    is_open = is_open && warp.row.length != 0 && warp.column.length != 0;
    const unsigned done = look_up(warp, is_open);
    const bool is_left = is_entry && (done >> group.lane & 1u) == 0;
    typename Warp::Product dot(a, bt, i, j);
    bool is_met = true;
    if (is_left && is_open) is_met = warp.template meet_alone<kMeeting>(dot, search_cost);
    for (const int owner : SetBits{__ballot_sync(kAllLanes, !is_met)}) warp.search_together(owner);
    if (is_left && is_met) emit(e, dot.value, dot.has);
  }
}
