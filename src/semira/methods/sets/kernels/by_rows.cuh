// Dot products row by row of A, in sets.
//
// A group of threads keeps a row of A in a set and passes the columns of B that the mask's row names
// (rows of `bt`) by it. Where one list is much longer than the other, or the row fits no table, the
// shorter one is walked and the longer one searched.
#pragma once
#include "mxm/dots.cuh"
#include "semira.methods.sets.kernels:row_sets.cuh"

// Dot products that share a row before a table of it is worth filling.
constexpr int kWorthATable = 2;

// Walks B's column past the set of A's row.
template <bool kExit, class Semiring, class A, class B, class Set>
__device__ __forceinline__ void look_up(Dot<kExit, Semiring, A, B>& dot, const Spread& spread,
                                        const Set& set, const Line& row, const Line& column) {
  for_each_until<kExit>(spread, column.length, [&](Offset n) {
    const Index k = column.indices[column.start + n];
    Offset place = 0;
    return set.find(k, place) && dot.add(row.start + place, column.start + n, k);
  });
}

// The same where the set has the row, unless the column is so long that a search is cheaper.
template <class Product, class Set>
__device__ __forceinline__ void meet(Product& dot, const Spread& spread, const Set& set,
                                     const Line& row, const Line& column) {
  if (column.length / kSearchCost <= row.length) {
    look_up(dot, spread, set, row, column);
  } else {
    dot.search(spread, row, column);
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
        meet(dot, spread, set, row, column);
      } else {
        dot.search(spread, row, column);
      }
    }
    deliver(spread, group.mask, dot, e, is_entry, emit);
  }
}

// The dot products of the rows of the mask that are listed, tables of `most` slots for each group
// (0: no tables). Calls `emit(e, value, has)` once for every entry of these rows. `mean` is the
// mean length of B's columns. `words`: a block keeps the row as bits in this many words, 0: it does not.
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
