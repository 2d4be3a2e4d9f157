// w = u (+).(*) A in equal shares of rows and entries together (a merge path), each of which a warp
// sums in tiles: up to 16 neighbouring entries a lane, whichever rows they belong to.
//
// All columns of a tile are under way at once, then all values of the vector. Sums are made within
// each lane, then over the lanes, and left in shared memory where rows end; so it costs about the
// same however the entries lie in rows.
//
// Rows are finished 32 at a time, a word of presence, by the warp in whose share the word ends.
// Others that have a part of the word hand theirs over in device memory, each position one word
// with its value and a mark. Whoever waits for that has handed over its own before: so no share
// waits for one that waits, and there is no barrier. Parts are added in the order of the shares,
// which follow from the matrix and the device: sums of floats do not depend on a launch.
#pragma once
#include "vxm/handed.cuh"
#include "vxm/short.cuh"

// Neighbouring entries of a lane: fewer where sums are large, which leaves room for all.
template <class T> constexpr int kTileLane = sizeof(T) <= 4 ? 16 : (sizeof(T) <= 8 ? 8 : 4);
// Dynamic shared memory of each of a block's warps: a tile's sums, then three bits for each entry.
constexpr int kTileWarps = 16, kTileBytes = 64 * kWarp, kTileWords = 16;
constexpr unsigned kTileRoom = kTileWarps * (kTileBytes + 3 * kTileWords * sizeof(unsigned));
// Entries of each of a block's warps whose columns, and the bits where their rows end, may stay in
// shared memory from one walk over a matrix to the next, and the bytes of that, behind the rest.
constexpr int kKeptEntries = 1024;
constexpr unsigned kKeptRoom = kTileWarps * (kKeptEntries * sizeof(Index) + kKeptEntries / 8);
// Words of 32 rows whose ends a warp asks for at once.
constexpr int kTileWindows = 4;

// A warp's place in shared memory.
template <class T> struct TileRoom {
  T* sums;          // of the row that ends with this entry of the tile
  unsigned* ends;   // bits: a row ends with the entry
  unsigned* there;  // bits: the sum that ends there has an operand
  unsigned* open;   // bits: the entry belongs to a row that is wanted

  SEMIRA_INLINE TileRoom() {
    const unsigned warp = threadIdx.x / kWarp;
    sums = reinterpret_cast<T*>(shared_table() + warp * kTileBytes);
    ends = reinterpret_cast<unsigned*>(shared_table() + kTileWarps * kTileBytes) +
           warp * 3 * kTileWords;
    there = ends + kTileWords;
    open = there + kTileWords;
  }
  // `words` of each kind.
  SEMIRA_INLINE void clear(unsigned lane, unsigned words) const {
    if (lane < words) ends[lane] = there[lane] = open[lane] = 0;
    __syncwarp();
  }
  // The bits of a lane's kItems entries.
  template <int kItems> static SEMIRA_INLINE unsigned of_lane(const unsigned* bits, int lane) {
    static_assert(kWarp % kItems == 0, "a lane's bits lie in one word");
    const int from = lane * kItems;
    return bits[from / kWarp] >> (from % kWarp) & ((1u << kItems) - 1);
  }
  template <int kItems>
  static SEMIRA_INLINE void set_of_lane(unsigned* bits, int lane, unsigned mine) {
    const int from = lane * kItems;
    atomicOr(&bits[from / kWarp], mine << (from % kWarp));
  }
  static SEMIRA_INLINE void set(unsigned* bits, int at) {
    atomicOr(&bits[at / kWarp], 1u << (at % kWarp));
  }
  static SEMIRA_INLINE void set_range(unsigned* bits, int from, int upto) {
    for (int word = from / kWarp; word * kWarp < upto; ++word) {
      const int low = from > word * kWarp ? from - word * kWarp : 0;
      const int high = upto - word * kWarp < kWarp ? upto - word * kWarp : kWarp;
      atomicOr(&bits[word], kAllLanes >> (kWarp - high) & kAllLanes << low);
    }
  }
};

// The columns of a warp's first tiles, and the bits of where their rows end. Barriers of the grid
// empty L1, and where a matrix has a tile or a few for each warp, a walk waits for L2 to answer with
// columns and ends before it asks for the first value of the vector. A multiprocessor may have too
// little shared memory for that.
struct KeptTiles {
  Pack<Index, 4>* columns;
  unsigned* ends;

  SEMIRA_INLINE KeptTiles() {
    const unsigned warp = threadIdx.x / kWarp;
    unsigned char* const room = shared_table() + kTileRoom;
    columns = reinterpret_cast<Pack<Index, 4>*>(room) + warp * (kKeptEntries / 4);
    ends = reinterpret_cast<unsigned*>(room + kTileWarps * kKeptEntries * sizeof(Index)) +
           warp * (kKeptEntries / kWarp);
  }
  static SEMIRA_INLINE bool has_room() { return shared_table_bytes() >= kTileRoom + kKeptRoom; }
};

// One share of a matrix as a warp walks it. Entries are counted from `origin` on, a multiple of
// what is loaded together.
template <bool kOwners, bool kFull, class Semiring, class U, class A, class MaskT> struct TileWalk {
  using Add = typename Semiring::Add;
  using T = typename Add::T;
  static constexpr int kItems = kTileLane<T>, kTile = kItems * kWarp, kPack = 4;
  static constexpr bool kMasked = !Same<MaskT, NoMask>::value;
  static_assert(!(kFull && kMasked), "what is open differs from walk to walk");
  enum Keeping { kNothing, kForNextTime, kSinceLastTime };

  const SharedGather<Semiring, U, A>& gather;
  const MaskT& mask;
  TileRoom<T> room;
  Index rows, last_window;
  Offset first, last, origin;
  int whole;            // entries that may be loaded together end here
  int base, low, stop;  // the tile begins at `base`, its entries of this share are low <= e < stop
  int lane;
  Index first_row, last_row;
  Offset next_end;     // of the word that is asked for next: where this lane's row ends
  Partial<Add> carry;  // of the row that goes on in the next tile
  Keeping keeping;     // of the columns and ends of the first tiles, with kFull

  SEMIRA_INLINE TileWalk(
      const SharedGather<Semiring, U, A>& g, const MaskT& m, Index num_rows, unsigned l)
      : gather(g), mask(m), rows(num_rows), lane(static_cast<int>(l)) {}

  // Begins a share, whose rows are known, at these items of the path; returns its first entry.
  SEMIRA_INLINE int open(long long from_item, long long upto_item) {
    const Compressed<A>& matrix = gather.matrix;
    const bool packed = is_packed<kPack>(matrix.indices) &&
                        (matrix.value_stride == 0 || is_packed<kPack>(matrix.values));
    first = matrix.entry_at(from_item, first_row);
    last = matrix.entry_at(upto_item, last_row);
    origin = first - first % kPack;
    const long long until = packed ? matrix.nvals - origin : 0;
    whole = static_cast<int>(until < kAlone ? until : kAlone);
    last_window = (last_row < rows ? last_row : rows - 1) / kWarp;
    next_end = end_of(first_row / kWarp);
    carry = Partial<Add>{T{}, false};
    base = 0;
    low = stop = static_cast<int>(first - origin);
    return low;
  }

  SEMIRA_INLINE bool has_no_gaps() const { return kFull || gather.present == nullptr; }
  SEMIRA_INLINE int total() const { return static_cast<int>(last - origin); }

  // Where this lane's row of a word ends.
  SEMIRA_INLINE Offset end_of(Index window) const {
    const Index row = window * kWarp + lane;
    return row < rows ? in_global(gather.matrix.indptr)[row + 1] : last;
  }
  // The same as far as the share goes.
  SEMIRA_INLINE int within(Offset end) const {
    return static_cast<int>((end < first ? first : (end > last ? last : end)) - origin);
  }

  // Marks where rows end in this tile, those of `window` and behind it.
  SEMIRA_INLINE void mark(Index window) {
    int before = low;
    // What was loaded from before the share is summed apart.
    if (low > base && lane == 0) room.set(room.ends, low - 1 - base);
    for (bool more = true; more; window += kTileWindows) {
      Offset ends[kTileWindows];
      int end[kTileWindows];
      SEMIRA_UNROLLED(k, kTileWindows) {
        ends[k] = window + k <= last_window ? end_of(window + k) : last;
      }
      SEMIRA_UNROLLED(k, kTileWindows) end[k] = within(ends[k]);
      SEMIRA_UNROLLED(k, kTileWindows) {
        int begin = __shfl_up_sync(kAllLanes, end[k], 1);
        if (lane == 0) begin = before;
        begin = begin < low ? low : begin;
        if (end[k] > begin && begin < stop) {
          if (end[k] <= stop) room.set(room.ends, end[k] - 1 - base);
          if constexpr (kMasked) {
            if (mask.allows((window + k) * kWarp + lane)) {
              room.set_range(room.open, begin - base, (end[k] < stop ? end[k] : stop) - base);
            }
          }
        }
        before = __shfl_sync(kAllLanes, end[k], kWarp - 1);
      }
      more = before < stop;
    }
    __syncwarp();
  }

  // Row of an entry that this share has.
  SEMIRA_INLINE Index owner(Offset at) const {
    return first_where(first_row, last_row < rows ? last_row : rows - 1,
        [&](Index row) { return gather.matrix.indptr[row + 1] > at; });
  }

  // Asks for an array's items of this lane's entries.
  template <class V> SEMIRA_INLINE void fetch(const V* array, V (&items)[kItems]) const {
    const int from = base + kItems * lane;
    const bool together = base + kTile <= whole;
#pragma unroll
    for (int p = 0; p < kItems; p += kPack) {
      V pack[kPack] = {};
      if (from + p < stop) {
        load_items(array + (origin + from) + p, together, stop - from - p, pack);
      }
      SEMIRA_UNROLLED(k, kPack) items[p + k] = pack[k];
    }
  }
  // Asks for the values of this lane's entries.
  SEMIRA_INLINE void fetch_values(A (&a)[kItems]) const {
    if constexpr (kReadsMatrix<Semiring>) {
      const Compressed<A>& matrix = gather.matrix;
      if (matrix.value_stride == 0) {
        SEMIRA_UNROLLED(k, kItems) a[k] = in_global(matrix.values)[0];
      } else {
        fetch(matrix.values, a);
      }
    }
  }

  // The products of this lane's entries; returns a bit for each that there is.
  SEMIRA_INLINE unsigned multiply(
      Index (&column)[kItems], const A (&a)[kItems], T (&z)[kItems]) const {
    const Compressed<A>& matrix = gather.matrix;
    const int from = base + kItems * lane;
    // Bits low <= e < stop of this lane.
    const int head = low - from, tail = stop - from;
    unsigned hits = head <= 0 ? ~0u : (head < kItems ? ~0u << head : 0u);
    hits &= tail >= kItems ? (1u << kItems) - 1 : (tail > 0 ? (1u << tail) - 1 : 0u);
    if constexpr (kMasked) {
      hits &= room.template of_lane<kItems>(room.open, lane);
      SEMIRA_UNROLLED(k, kItems) column[k] = hits >> k & 1u ? column[k] : 0;
    }
    if (!has_no_gaps()) {
      const unsigned* const present = in_global(gather.present);
      unsigned word[kItems];
      SEMIRA_UNROLLED(k, kItems) word[k] = present[static_cast<unsigned>(column[k]) / kWarp];
      SEMIRA_UNROLLED(k, kItems) {
        const bool has = word[k] >> (static_cast<unsigned>(column[k]) % kWarp) & 1u;
        hits &= ~(has ? 0u : 1u << k);
        column[k] = has ? column[k] : 0;
      }
    }
    U x[kItems] = {};
    if constexpr (kReadsU<Semiring>) {
      SEMIRA_UNROLLED(k, kItems) x[k] = in_global(gather.u)[column[k]];
    }
    const Offset at = origin + from;
    Index row = 0;
    if constexpr (kOwners) {
      if (hits != 0) row = owner(at + (__ffs(hits) - 1));
    }
    SEMIRA_UNROLLED(k, kItems) {
      if constexpr (kOwners) {
        while ((hits >> k & 1u) && matrix.indptr[row + 1] <= at + k) ++row;
      }
      // Also where it is no product: then nobody asks for it.
      z[k] = multiply_values<Semiring>(x[k], a[k], column[k], row);
    }
    return hits;
  }

  // Adds the products up from each row's beginning on and keeps the sums at which rows end. With
  // kGaps some products may be missing: `hits` has a bit for each that there is.
  template <bool kGaps> SEMIRA_INLINE void add(T (&z)[kItems], unsigned hits) {
    const unsigned ends = room.template of_lane<kItems>(room.ends, lane);
    if constexpr (!kGaps) hits = kAllLanes;
    if (lane == 0 && carry.has) {
      z[0] = joined<Add>(carry.value, hits & 1u, z[0]);
      hits |= 1u;
    }
#pragma unroll
    for (int k = 1; k < kItems; ++k) {
      const bool joins = !(ends >> (k - 1) & 1u) && (hits >> (k - 1) & 1u);
      // Not a branch: `z` is something everywhere.
      const T both = joined<Add>(z[k - 1], hits >> k & 1u, z[k]);
      z[k] = joins ? both : z[k];
      hits |= joins ? 1u << k : 0u;
    }
    // What goes on behind a lane, from the last lane on in which a row ends.
    const unsigned with_end = __ballot_sync(kAllLanes, ends != 0);
    const unsigned upto = with_end & (kAllLanes >> (kWarp - 1 - lane));
    const int start = upto == 0 ? 0 : kWarp - 1 - __clz(upto);
    const bool goes_on = !(ends >> (kItems - 1) & 1u) && (hits >> (kItems - 1) & 1u);
    unsigned tails = __ballot_sync(kAllLanes, goes_on);
    T tail = z[kItems - 1];
    add_tails<true, Add>(lane, start, tail, tails);
    const int left = lane > 0 ? lane - 1 : 0;
    const T before = shuffle(tail, left);
    const bool has_before = lane > 0 && (tails >> left & 1u);
    T* const mine = room.sums + kItems * lane;
    // ptxas must not keep these tests from above on: where sums are loops it has no place for them.
    unsigned stored = ends;
    asm volatile("" : "+r"(stored));
    SEMIRA_UNROLLED(k, kItems) {
      if (stored >> k & 1u) mine[k] = z[k];
    }
    unsigned there = ends & hits;
    if (has_before && ends != 0) {
      const int k = __ffs(ends) - 1;
      mine[k] = joined<Add>(before, hits >> k & 1u, mine[k]);
      there |= 1u << k;
    }
    if (kGaps && there != 0) room.template set_of_lane<kItems>(room.there, lane, there);
    carry = Partial<Add>{shuffle(tail, kWarp - 1), (tails >> (kWarp - 1) & 1u) != 0};
    __syncwarp();
  }

  // Takes the columns of this lane's entries from where they are kept, or puts them there: pieces of
  // four, those of a warp side by side.
  template <bool kPut> SEMIRA_INLINE void keep(Index (&column)[kItems]) const {
    Pack<Index, kPack>* const pieces = KeptTiles().columns + base / kPack + lane;
    SEMIRA_UNROLLED(p, kItems / kPack) {
      Pack<Index, kPack>& kept = pieces[p * kWarp];
      Pack<Index, kPack> piece;
      if constexpr (!kPut) piece = kept;
      SEMIRA_UNROLLED(k, kPack) {
        if constexpr (kPut) {
          piece.items[k] = column[p * kPack + k];
        } else {
          column[p * kPack + k] = piece.items[k];
        }
      }
      if constexpr (kPut) kept = piece;
    }
  }

  // Sums the tile from entry `from` on, whose row is one of `window`.
  SEMIRA_INLINE void load(Index window, int from) {
    base = from - from % kPack;
    low = from;
    stop = base + kTile < total() ? base + kTile : total();
    __syncwarp();
    constexpr unsigned kWords = kTile / kWarp;
    Index column[kItems];
    A a[kItems] = {};
    Keeping now = kNothing;
    if constexpr (kFull) {
      now = base + kTile <= kKeptEntries ? keeping : kNothing;
      room.ends = now != kNothing ? KeptTiles().ends + base / kWarp : TileRoom<T>().ends;
    }
    if (now == kSinceLastTime) {
      keep<false>(column);
      fetch_values(a);
    } else {
      room.clear(static_cast<unsigned>(lane), kWords);
      if constexpr (!kMasked) {
        fetch(gather.matrix.indices, column);
        fetch_values(a);
      }
      mark(window);
      if constexpr (kMasked) {
        if (!__any_sync(kAllLanes, room.template of_lane<kItems>(room.open, lane) != 0)) {
          carry.has = false;
          return;
        }
        fetch(gather.matrix.indices, column);
        fetch_values(a);
      }
      if (now == kForNextTime) keep<true>(column);
    }
    T z[kItems];
    const unsigned hits = multiply(column, a, z);
    if (has_no_gaps()) {
      add<false>(z, hits);
    } else {
      add<true>(z, hits);
    }
  }

  // What this share has of the rows of a word, each lane its row's; words are asked for in order.
  // `begin` is where the word's first row begins, and becomes where its last one ends.
  SEMIRA_INLINE Partial<Add> sum_word(Index window, int& begin, unsigned& touched) {
    const int end = within(next_end);
    // On its way while these rows are finished.
    next_end = end_of(window + 1);
    int from = __shfl_up_sync(kAllLanes, end, 1);
    if (lane == 0) from = begin;
    const int upto = __shfl_sync(kAllLanes, end, kWarp - 1);
    bool live = end > from;
    if constexpr (kMasked) live = live && mask.allows(window * kWarp + lane);
    if (live) touched += static_cast<unsigned>(end - from);
    // Without gaps what a share has of a row is a sum.
    Partial<Add> sum{T{}, kFull && live};
    while (begin < upto) {
      if (begin >= stop) load(window, stop);
      if (live && end > low && end <= stop) {
        const int at = end - 1 - base;
        sum.value = room.sums[at];
        if constexpr (!kFull) {
          sum.has = has_no_gaps() || (room.there[at / kWarp] >> (at % kWarp) & 1u);
        }
      }
      begin = upto < stop ? upto : stop;
    }
    return sum;
  }
};

// The first of the shares before `s` that end in the word from `row` on, if s - 1 does; `near` of
// lane k is the row in which share s + 1 - k begins.
SEMIRA_INLINE Index first_that_ends(const Index* slices, Index s, Index near, Index row, int lane) {
  Index from = s;
  unsigned more = __ballot_sync(kAllLanes, lane == 0 || near >= row);
  while (from > 0) {
    const int count = more == kAllLanes ? kWarp - 1 : __ffs(~more) - 2;
    from -= count;
    if (count < kWarp - 1) break;
    const Index next = from + 1 - lane;
    more = __ballot_sync(kAllLanes, lane == 0 || (next >= 0 && slices[next] >= row));
  }
  return from > 0 ? from : 0;
}

// Calls `begin` for every row, 32 together, before they are summed; and what that returns
// afterwards: with what each lane's row came to, and a Count to which it may add the edges that the
// row will drive. For words that other shares finish or wait for `begin` alone is called, or twice.
// With kFull operands have no gaps, and `keeps` says that the first tiles of a warp are to be kept,
// `is_kept` that they are.
template <bool kOwners, bool kFull = false, class Semiring, class U, class A, class MaskT,
    class Begin>
SEMIRA_PHASE void sum_tiles(const Team& team, const SharedGather<Semiring, U, A>& gather,
    Index rows, const MaskT& mask, Begin begin, const Handed<SumOf<Semiring>> handed, Tally& tally,
    bool keeps = false, bool is_kept = false) {
  using Add = typename Semiring::Add;
  const Compressed<A>& matrix = gather.matrix;
  const int lane = static_cast<int>(team.lane);
  const long long path = matrix.path(rows);
  using Walk = TileWalk<kOwners, kFull, Semiring, U, A, MaskT>;
  Walk walk(gather, mask, rows, team.lane);
  walk.keeping = !keeps ? Walk::kNothing : is_kept ? Walk::kSinceLastTime : Walk::kForNextTime;
  for (Index s = static_cast<Index>(team.warp); s < matrix.num_slices;
      s += static_cast<Index>(team.warps)) {
    const long long from_item = s * matrix.slice_items, upto_item = from_item + matrix.slice_items;
    // Cut for more entries than there are.
    if (from_item >= path) break;
    // Lane k: the row in which share s + 1 - k begins.
    const Index near = s + 1 - lane;
    const Index begins = near >= 0 ? matrix.slices[near] : -1;
    walk.first_row = __shfl_sync(kAllLanes, begins, 1);
    // Nothing is left but part of the end of the last row.
    if (walk.first_row >= rows) break;
    walk.last_row = __shfl_sync(kAllLanes, begins, 0);
    int from = walk.open(from_item, upto_item < path ? upto_item : path);
    const Index word = walk.first_row / kWarp, end_word = walk.last_window;
    const bool goes_on = walk.last_row < rows;
    // The first word waits until this share has handed over what it has of its last one.
    Partial<Add> of_first{typename Add::T{}, false};
    bool waits = word < end_word || !goes_on;
    for (Index w = word; w <= end_word || waits; ++w) {
      const bool is_last = w > end_word;
      const Index here = is_last ? word : w, row = here * kWarp + lane;
      const bool is_row = row < rows;
      // What it asks the memory for is on its way while the rows are summed.
      auto finish = begin(row, is_row);
      Partial<Add> sum = of_first;
      if (!is_last) {
        sum = walk.sum_word(w, from, tally.touched);
        if (goes_on && w == end_word) {
          if (row >= walk.first_row && row <= walk.last_row) handed.put(s, lane, sum);
          continue;
        }
        if (w == word) {
          of_first = sum;
          continue;
        }
      } else {
        waits = false;
        const Index first = first_that_ends(matrix.slices, s, begins, word * kWarp, lane);
        handed.take(first, s, matrix.slices, begins, row, lane, sum);
      }
      if constexpr (!Same<MaskT, NoMask>::value) sum.has = sum.has && is_row && mask.allows(row);
      tally.inserted += sum.has ? 1 : 0;
      finish(sum, tally.edges);
    }
    walk.keeping = Walk::kNothing;
  }
}

// Calls `begin` for the rows of a matrix as `sum_short_rows` does, whether they are short or not,
// behind the words that were done before: all of them, or of short rows those that have 32.
template <bool kOwners, class Semiring, class U, class A, class MaskT, class Begin>
SEMIRA_PHASE void sum_all_rows(const Team& team, const SharedGather<Semiring, U, A>& gather,
    Index rows, const MaskT& mask, Begin begin, const Handed<SumOf<Semiring>> handed, Tally& tally,
    unsigned done = 0) {
  if (is_short(gather.matrix, rows)) {
    sum_short_rows<2>(team, gather, rows, mask, begin, tally, done);
  } else if (done == 0) {
    sum_tiles<kOwners>(team, gather, rows, mask, begin, handed, tally);
  }
}

// The same where `begin` is for operands without gaps alone; returns which words that did. `is_kept`:
// so it did before, in this launch and by this team, with these rows kept; then it is true for the
// next time. Both may be null.
template <bool kOwners, class Semiring, class U, class A, class Begin>
SEMIRA_PHASE unsigned sum_full_rows(const Team& team, const SharedGather<Semiring, U, A>& gather,
    Index rows, Begin begin, const Handed<SumOf<Semiring>> handed, Tally& tally,
    KeptRows* kept = nullptr, bool* is_kept = nullptr) {
  const unsigned size = static_cast<unsigned>(rows);
  const bool was_kept = is_kept != nullptr && *is_kept;
  unsigned done = size / kWarp;
  if (is_short(gather.matrix, rows)) {
    sum_short_rows<2, true>(
        team, gather.of_full(), rows, NoMask{}, begin, tally, 0, kept, was_kept);
  } else {
    const bool keeps = kept != nullptr && KeptTiles::has_room();
    sum_tiles<kOwners, true>(team, gather, rows, NoMask{}, begin, handed, tally, keeps, was_kept);
    done = (size + kWarp - 1) / kWarp;
  }
  if (is_kept != nullptr) *is_kept = true;
  return done;
}

// `out` is empty before.
template <bool kOwners, class Semiring, class U, class A, class MaskT, class Degrees>
SEMIRA_PHASE void spmv_pull_tiles(const Team& team, const SharedGather<Semiring, U, A>& gather,
    Index rows, const MaskT& mask, const Plane<SumOf<Semiring>>& out, const Degrees& degrees,
    const Handed<SumOf<Semiring>> handed, Counters* counters) {
  Tally tally = {};
  const auto finish = store_rows(team, out, degrees);
  sum_all_rows<kOwners>(team, gather, rows, mask, begins_nothing(finish), handed, tally);
  tally.add_to(counters);
}
