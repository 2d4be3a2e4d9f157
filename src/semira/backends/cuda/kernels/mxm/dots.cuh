// C<M> = A (+).(*) B: one dot product for each entry of a mask, row by row of A.
//
// A group of threads keeps a row of A in a table and passes the columns of B that the mask's row
// names (rows of `bt`) by it. Where one list is much longer than the other, or the row fits no
// table, the shorter one is walked and the longer one searched.
#pragma once
#include "matrix/merge.cuh"
#include "matrix/policies.cuh"
#include "mxm/counts.cuh"
#include "mxm/multiply.cuh"
#include "reduce/reduce.cuh"

// Dot products that share a row before a table of it is worth filling.
constexpr int kWorthATable = 2;

// A list of indices: entries [start, start + length) of a matrix.
struct Line {
  const Index* __restrict__ indices;
  Offset start, length;
  __device__ Line(const Pattern& p, Index i)
      : indices(p.indices), start(p.indptr[i]), length(p.indptr[i + 1] - start) {}
  // Field by field, so that lines stay in registers.
  __device__ Line(bool is_first, const Line& first, const Line& second)
      : indices(is_first ? first.indices : second.indices),
        start(is_first ? first.start : second.start),
        length(is_first ? first.length : second.length) {}
};

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

  // Walks B's column past the table of A's row; `places` are numbers of entries in that row.
  __device__ __forceinline__ void look_up(const Spread& spread, const KeyTable& table,
                                          const Index* places, const Line& row,
                                          const Line& column) {
    for_each_until<kExit>(spread, column.length, [&](Offset n) {
      const Index k = column.indices[column.start + n];
      unsigned slot;
      if (!table.find(k, slot)) return false;
      Offset at_a = row.start;
      if constexpr (Semiring::Multiply::kReadsA) at_a += places[slot];
      return add(at_a, column.start + n, k);
    });
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

// The dot products of the rows of the mask that are listed, tables of `most` slots for each group
// (0: no tables). Calls `emit(e, value, has)` once for every entry of these rows. `mean` is the
// mean length of B's columns.
template <bool kExit, int kLanes, class Semiring, bool kStructural, class A, class B, class M,
          class Emit>
__device__ void dot_rows(const Entries<A>& a, const Entries<B>& bt, const Entries<M>& mask,
                         const RowList& list, long long most, long long mean, Emit emit) {
  const Group<kLanes> group;
  const unsigned groups = blockDim.x / group.lanes;
  Index* const keys = reinterpret_cast<Index*>(block_memory) + group.number * most;
  Index* const places = keys + groups * most;
  const Pattern rows = pattern_of(a), columns = pattern_of(bt);
  for (long long r = group.first; r < list.count; r += group.step) {
    const Index i = list.rows[r];
    const Line row(rows, i);
    const Offset begin = mask.indptr[i], entries = mask.indptr[i + 1] - begin;
    const bool has_table = most != 0 && entries >= kWorthATable;
    const KeyTable table(keys, has_table ? static_cast<unsigned>(row.length) : 1u);
    if (has_table) {
      for (unsigned s = group.lane; s < table.slots(); s += group.lanes) keys[s] = kEmpty;
      group.sync();
      for (Offset n = static_cast<Offset>(group.lane); n < row.length; n += group.lanes) {
        bool is_new;
        const unsigned slot = table.insert(row.indices[row.start + n], is_new);
        if constexpr (Semiring::Multiply::kReadsA) places[slot] = static_cast<Index>(n);
      }
      group.sync();
    }
    const Spread spread(group.lane, group.lanes, mean, entries);
    for (Offset base = 0; base < entries; base += spread.parts) {
      const Offset e = begin + base + spread.part;
      const bool is_entry = base + spread.part < entries;
      Dot<kExit, Semiring, A, B> dot(a, bt, i, is_entry ? mask.indices[e] : 0);
      bool is_open = is_entry;
      if constexpr (!kStructural) is_open = is_open && cast<bool>(mask.value(e));
      if (is_open) {
        const Line column(columns, dot.j);
        if (has_table && column.length / kSearchCost <= row.length) {
          dot.look_up(spread, table, places, row, column);
        } else {
          dot.search(spread, row, column);
        }
      }
      dot.combine(spread, group.mask);
      if (is_entry && spread.place == 0) emit(e, dot.value, dot.has);
    }
    group.sync();
  }
}

// Entries of a line that one thread walks; longer ones get a warp.
constexpr Offset kWalkedAlone = 32;

// The same for every entry of the mask without tables: a thread takes an entry, and its warp those
// whose shorter line is long.
template <bool kExit, class Semiring, bool kStructural, class A, class B, class M, class Emit>
__device__ void dot_entries(const Entries<A>& a, const Entries<B>& bt, const Entries<M>& mask,
                            Emit emit) {
  using Product = Dot<kExit, Semiring, A, B>;
  const Group<kWarp> group;
  const Pattern rows = pattern_of(a), columns = pattern_of(bt);
  const Spread alone(group.lane, kWarp, 1, kWarp), together(group.lane, kWarp);
  // Whole warps go on together.
  for (long long base = group.first * kWarp; base < mask.nvals; base += group.step * kWarp) {
    const bool is_entry = base + group.lane < mask.nvals;
    const Offset e = is_entry ? static_cast<Offset>(base + group.lane) : 0;
    bool is_open = is_entry;
    if constexpr (!kStructural) is_open = is_open && cast<bool>(mask.value(e));
    Product dot(a, bt, mask.rows[e], mask.indices[e]);
    Offset shorter = 0;
    if (is_open) {
      const Line row(rows, dot.i), column(columns, dot.j);
      shorter = row.length < column.length ? row.length : column.length;
      if (shorter <= kWalkedAlone) dot.search(alone, row, column);
    }
    unsigned left = __ballot_sync(kAllLanes, shorter > kWalkedAlone);
    for (; left != 0; left &= left - 1) {
      const int owner = __ffs(static_cast<int>(left)) - 1;
      const Index i = __shfl_sync(kAllLanes, dot.i, owner);
      const Index j = __shfl_sync(kAllLanes, dot.j, owner);
      Product shared(a, bt, i, j);
      shared.search(together, Line(rows, i), Line(columns, j));
      shared.combine(together, kAllLanes);
      if (group.lane == static_cast<unsigned>(owner)) {
        dot.value = shared.value;
        dot.has = shared.has;
      }
    }
    if (is_entry) emit(e, dot.value, dot.has);
  }
}
