// Parts of dot products, one for each entry of a mask: C<M> = A (+).(*) B. Their lists meet in
// `mxm/entrywise.cuh`.
#pragma once
#include "matrix/merge.cuh"
#include "matrix/policies.cuh"
#include "mxm/counts.cuh"
#include "mxm/lines.cuh"
#include "mxm/multiply.cuh"
#include "reduce/reduce.cuh"

// Calls `body(n)` for n = place, place + share, ... below `length` until one lane of the spread
// says that its sum is final.
template <bool kExit, class Body>
SEMIRA_INLINE void for_each_until(const Spread& spread, Offset length, Body body) {
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
template <bool kExit, class Semiring, class A, class B> struct Dot {
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
  SEMIRA_INLINE bool add(Offset at_a, Offset at_b, Index k) {
    const T z = multiply_entries<Semiring>(a, bt, at_a, at_b, i, k, j);
    value = has ? Add::apply(value, z) : z;
    has = true;
    if constexpr (kExit) return Add::kIsAny || (Add::kHasTerminal && Add::is_terminal(value));
    return false;
  }

  // Walks the shorter list and searches the longer one.
  SEMIRA_INLINE void search(const Spread& spread, const Line& row, const Line& column) {
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
  SEMIRA_INLINE void combine(const Spread& spread, unsigned lanes) {
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
SEMIRA_INLINE void deliver(
    const Spread& spread, unsigned lanes, Product& dot, Offset e, bool is_entry, Emit& emit) {
  if constexpr (Emit::kTakesShares) {
    const bool is_there = (__ballot_sync(lanes, dot.has) & spread.mask()) != 0;
    emit.take_share(dot.value, dot.has, is_there && spread.place == 0);
  } else {
    dot.combine(spread, lanes);
    if (is_entry && spread.place == 0) emit(e, dot.value, dot.has);
  }
}
