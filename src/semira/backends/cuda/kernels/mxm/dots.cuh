// C<M> = A (+).(*) B: one dot product for each entry of a mask, row by row of A.
//
// A group of threads keeps a row of A in a table and passes the columns of B that the mask's row
// names (rows of `bt`) by it. Where one list is much longer than the other, or the row fits no
// table, the shorter one is walked and the longer one searched. Entry by entry: `mxm/entrywise.cuh`.
#pragma once
#include "matrix/merge.cuh"
#include "matrix/policies.cuh"
#include "mxm/counts.cuh"
#include "mxm/lines.cuh"
#include "mxm/multiply.cuh"
#include "reduce/reduce.cuh"

// Dot products that share a row before a table of it is worth filling.
constexpr int kWorthATable = 2;

// Calls `body(n)` for n = place, place + share, ... below `length` until one lane of the spread
// says that its sum is final.
template <bool kExit, class Body>
__device__ __forceinline__ void for_each_until(const Spread& spread, Offset length, Body body) {
  const unsigned lanes = spread.mask();
  for (Offset base = 0; base < length; base += spread.share) {
    const Offset n = base + spread.place;
    const bool is_final = n < length && body(n);
    if constexpr (kExit) {
      if (__any_sync(lanes, is_final)) return;
    }
  }
}

// One lane's share of a dot product.
template <bool kExit, class Semiring, class A, class B>
struct Dot {
  using Add = typename Semiring::Add;
  using T = typename Add::T;
  const Entries<A>& a;
  const Entries<B>& bt;
  Index i, j;
  T value{};
  bool has = false;

  __device__ Dot(const Entries<A>& left, const Entries<B>& right, Index row, Index column)
      : a(left), bt(right), i(row), j(column) {}

  // Whether the sum is final.
  __device__ __forceinline__ bool add(Offset at_a, Offset at_b, Index k) {
    const T z = multiply_entries<Semiring>(a, bt, at_a, at_b, i, k, j);
    value = has ? Add::apply(value, z) : z;
    has = true;
    if constexpr (kExit) return Add::kIsAny || (Add::kHasTerminal && Add::is_terminal(value));
    return false;
  }

  // Walks B's column past the set of A's row.
  template <class Set>
  __device__ __forceinline__ void look_up(const Spread& spread, const Set& set, const Line& row,
                                          const Line& column) {
    for_each_until<kExit>(spread, column.length, [&](Offset n) {
      const Index k = column.indices[column.start + n];
      Offset place = 0;
      return set.find(k, place) && add(row.start + place, column.start + n, k);
    });
  }

  // The same where the set has the row, unless the column is so long that a search is cheaper.
  template <class Set>
  __device__ __forceinline__ void meet(const Spread& spread, const Set& set, const Line& row,
                                       const Line& column) {
    if (column.length / kSearchCost <= row.length) {
      look_up(spread, set, row, column);
    } else {
      search(spread, row, column);
    }
  }

  // Walks the shorter list and searches the longer one.
  __device__ __forceinline__ void search(const Spread& spread, const Line& row,
                                         const Line& column) {
    const bool by_row = row.length <= column.length;
    const Line walked(by_row, row, column), searched(by_row, column, row);
    const Offset end = searched.start + searched.length;
    Offset low = searched.start;
    for_each_until<kExit>(spread, walked.length, [&](Offset n) {
      const Offset at = walked.start + n;
      const Index k = walked.indices[at];
      low = lower_bound(searched.indices, low, end, k);
      if (low == end || searched.indices[low] != k) return false;
      return add(by_row ? at : low, by_row ? low : at, k);
    });
  }

  // Adds up over the lanes of the spread; all of them get the sum.
  __device__ __forceinline__ void combine(const Spread& spread, unsigned lanes) {
    for (unsigned step = spread.share / 2; step > 0; step /= 2) {
      const int other = static_cast<int>(threadIdx.x % kWarp ^ step);
      const T other_value = shuffle(value, other, lanes);
      const bool other_has = __shfl_sync(lanes, has, other) != 0;
      merge<Add>(value, has, other_value, other_has);
    }
  }
};

// Passes on the dot product of entry e, of which each lane of the spread has a share; `lanes` call it.
template <class Product, class Emit>
__device__ __forceinline__ void deliver(const Spread& spread, unsigned lanes, Product& dot,
                                        Offset e, bool is_entry, Emit& emit) {
  if constexpr (Emit::kTakesShares) {
    const bool is_there = (__ballot_sync(lanes, dot.has) & spread.mask()) != 0;
    emit.take_share(dot.value, dot.has, is_there && spread.place == 0);
  } else {
    dot.combine(spread, lanes);
    if (is_entry && spread.place == 0) emit(e, dot.value, dot.has);
  }
}

// The dot products of the mask's entries in row i, which `set` holds if `has_set`.
template <bool kExit, class Semiring, bool kStructural, class G, class Set, class A, class B,
          class M, class Emit>
__device__ __forceinline__ void dot_row(const G& group, const Entries<A>& a, const Entries<B>& bt,
                                        const Entries<M>& mask, Index i, const Line& row,
                                        const Set& set, bool has_set, long long mean, Emit& emit) {
  const Pattern columns = pattern_of(bt);
  const Offset begin = mask.indptr[i], entries = mask.indptr[i + 1] - begin;
  const Spread spread(group.lane, group.lanes, mean, entries);
  for (Offset base = 0; base < entries; base += spread.parts) {
    const Offset e = begin + base + spread.part;
    const bool is_entry = base + spread.part < entries;
    Dot<kExit, Semiring, A, B> dot(a, bt, i, is_entry ? mask.indices[e] : 0);
    bool is_open = is_entry;
    if constexpr (!kStructural) is_open = is_open && cast<bool>(mask.value(e));
    if (is_open) {
      const Line column(columns, dot.j);
      if (has_set) {
        dot.meet(spread, set, row, column);
      } else {
        dot.search(spread, row, column);
      }
    }
    deliver(spread, group.mask, dot, e, is_entry, emit);
  }
}

// The dot products of the rows of the mask that are listed, tables of `most` slots for each group
// (0: no tables). Calls `emit(e, value, has)` once for every entry of these rows. `mean` is the
// mean length of B's columns. `words`: a block keeps the row as so many bits instead, 0: it does not.
template <bool kExit, int kLanes, class Semiring, bool kStructural, class A, class B, class M,
          class Emit>
__device__ void dot_rows(const Entries<A>& a, const Entries<B>& bt, const Entries<M>& mask,
                         const RowList& list, long long most, long long mean, long long words,
                         Emit emit) {
  const Group<kLanes> group;
  constexpr bool kPlaces = Semiring::Multiply::kReadsA;
  Index* const memory =
      reinterpret_cast<Index*>(block_memory) + group.number * (kPlaces ? 2 : 1) * most;
  const RowBits bits{reinterpret_cast<unsigned*>(memory)};
  if constexpr (kLanes == 0 && !kPlaces) bits.clear(group, words);
  for (long long r = group.first; r < list.count; r += group.step) {
    const Index i = list[r];
    const Line row(pattern_of(a), i);
    const bool is_shared = mask.indptr[i + 1] - mask.indptr[i] >= kWorthATable;
    if constexpr (kLanes == 0 && !kPlaces) {
      if (words != 0) {
        if (is_shared) bits.fill(group, row);
        dot_row<kExit, Semiring, kStructural>(group, a, bt, mask, i, row, bits, is_shared, mean,
                                              emit);
        if (is_shared) bits.empty(group, row);
        continue;
      }
    }
    const bool has_table = most != 0 && is_shared;
    const RowTable<kPlaces> table(memory, most, has_table ? row.length : 0);
    if (has_table) table.fill(group, row);
    dot_row<kExit, Semiring, kStructural>(group, a, bt, mask, i, row, table, has_table, mean, emit);
    group.sync();
  }
}
