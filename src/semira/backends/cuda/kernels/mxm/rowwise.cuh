// C = A (+).(*) B row by row: partial products meet in shared memory, and leave in order.
#pragma once
#include "common/atomics.cuh"
#include "matrix/merge.cuh"
#include "mxm/counts.cuh"
#include "mxm/multiply.cuh"

template <class Add> SEMIRA_INLINE typename Add::T resting_value() {
  if constexpr (Add::kIsAny) {
    return typename Add::T{};
  } else {
    return Add::identity();
  }
}

// Adds A_ik B_kj to `*sum`, which rests at the identity; `claim` says whether nothing was added
// before. `any` keeps what came first, and under a lock the first value is stored as it is.
template <class Semiring, class A, class B, class Claim>
SEMIRA_INLINE void accumulate_product(SumOf<Semiring>* sum, Claim claim, const Entries<A>& a,
    const Entries<B>& b, Offset at_a, Offset at_b, Index i, Index k, Index j) {
  using Add = typename Semiring::Add;
  if constexpr (Add::kIsAny) {
    if (claim()) *sum = multiply_entries<Semiring>(a, b, at_a, at_b, i, k, j);
  } else {
    const typename Add::T z = multiply_entries<Semiring>(a, b, at_a, at_b, i, k, j);
    if constexpr (Add::kMethod == Method::kLock) {
      with_lock(sum, [&] { *sum = claim() ? z : Add::apply(*sum, z); });
    } else {
      claim();
      atomic_accumulate<Add>(sum, z);
    }
  }
}

// Writes row i, which begins at entry `start` of the result, by one lane (mxm/few.cuh). Returns where
// it ends.
template <class Semiring, class A, class B>
SEMIRA_INLINE long long fill_few(const Entries<A>& a, const Entries<B>& b, const RowMask& mask,
    Index i, long long start, const Written& out) {
  using Add = typename Semiring::Add;
  using T = typename Add::T;
  using Op = typename Semiring::Multiply;
  A x[kFewLines] = {};
  const Offset from = a.indptr[i], lines = a.indptr[i + 1] - from;
  SEMIRA_UNROLLED(l, kFewLines) {
    if (Op::kReadsA && l < lines) x[l] = a.value(from + l);
  }
  const auto write = [&](Index j, unsigned hits, const Offset(&behind)[kFewLines]) {
    if (!mask.allows(i, j)) return;
    // All values are asked for before the first is used.
    B y[kFewLines] = {};
    SEMIRA_UNROLLED(l, kFewLines) {
      if (Op::kReadsB && (hits >> l & 1u)) y[l] = b.value(behind[l] - 1);
    }
    T sum{};
    bool has = false;
    SEMIRA_UNROLLED(l, kFewLines) {
      if ((hits >> l & 1u) == 0 || (Add::kIsAny && has)) continue;
      const Index k = a.indices[from + l];
      const T z = multiply_values<Semiring>(x[l], y[l], i, k, j);
      sum = has ? Add::apply(sum, z) : z;
      has = true;
    }
    out.indices[start] = j;
    if (out.rows != nullptr) out.rows[start] = i;
    static_cast<T*>(out.values)[start] = sum;
    ++start;
  };
  merge_few(pattern_of(a), pattern_of(b), i, write);
  return start;
}

// Rows that a lane makes.
template <class Semiring, class A, class B>
__device__ void fill_by_lane(const Entries<A>& a, const Entries<B>& b, const RowMask& mask,
    const RowList& list, const RowRooms& rooms, const Written out) {
  for (const long long r : items_below(list.count)) {
    const Index i = list[r];
    const long long start = rooms.starts[i];
    rooms.tell(i, fill_few<Semiring>(a, b, mask, i, start, out) - start);
  }
}

// Rows that fit a table of `most` slots for each group.
template <int kLanes, class Semiring, class A, class B>
__device__ void fill_by_table(const Entries<A>& a, const Entries<B>& b, const RowMask& mask,
    const RowList& list, const RowRooms& rooms, long long most, const Written out) {
  using Add = typename Semiring::Add;
  using T = typename Add::T;
  const Group<kLanes> group;
  __shared__ unsigned taken[Group<kLanes>::kMost];
  const unsigned groups = blockDim.x / group.lanes;
  T* const values = reinterpret_cast<T*>(block_memory) + group.number * most;
  Index* const keys =
      reinterpret_cast<Index*>(block_memory + groups * most * sizeof(T)) + group.number * most;
  for (long long r = group.first; r < list.count; r += group.step) {
    const Index i = list[r];
    const long long start = rooms.starts[i];
    const KeyTable table(keys, static_cast<unsigned>(rooms.room(i)));
    for (unsigned s = group.lane; s < table.slots(); s += group.lanes) {
      keys[s] = kEmpty;
      values[s] = resting_value<Add>();
    }
    if (group.lane == 0) taken[group.number] = 0;
    group.sync();
    for_each_product<kInOrder<Semiring>>(group, pattern_of(a), pattern_of(b), mask, i,
        rooms.work[i], [&](Offset at_a, Offset at_b, Index k, Index j) {
          constexpr bool kLocks = Add::kMethod == Method::kLock;
          bool is_new;
          const unsigned slot = table.insert<kLocks>(j, is_new);
          auto claim = [&] { return kLocks ? table.settle(slot, j) : is_new; };
          accumulate_product<Semiring>(values + slot, claim, a, b, at_a, at_b, i, k, j);
        });
    group.sync();
    compact(group, table, values, taken + group.number);
    const unsigned n = taken[group.number];
    // A mask may have left nothing.
    if (n != 0) sort_pairs(group, keys, values, n);
    for (unsigned k = group.lane; k < n; k += group.lanes) {
      out.indices[start + k] = keys[k];
      if (out.rows != nullptr) out.rows[start + k] = i;
      static_cast<T*>(out.values)[start + k] = values[k];
    }
    if (group.lane == 0) rooms.tell(i, n);
    group.sync();
  }
}

// Writes the columns of a window in order and empties it; returns how many there were.
template <class T>
SEMIRA_INLINE unsigned flush_window(unsigned* words, T* sums, unsigned columns, unsigned base,
    T rest, Index i, long long start, const Written& out) {
  __shared__ unsigned of_warps[kWarp];
  const unsigned lane = threadIdx.x % kWarp;
  unsigned written = 0;
  for (unsigned first = 0; first < columns / kWarp; first += blockDim.x) {
    const unsigned mine = first + threadIdx.x;
    unsigned word = 0;
    if (mine < columns / kWarp) {
      word = words[mine];
      words[mine] = 0;
    }
    unsigned total;
    const unsigned before = before_in_block(__popc(word), of_warps, total);
    for (const int source : SetBits{__ballot_sync(kAllLanes, word != 0)}) {
      const unsigned bits = __shfl_sync(kAllLanes, word, source);
      const long long to = start + written + __shfl_sync(kAllLanes, before, source);
      if (bits >> lane & 1u) {
        const unsigned at = (mine - lane + source) * kWarp + lane;
        const long long place = to + __popc(bits & ((1u << lane) - 1));
        out.indices[place] = static_cast<Index>(base + at);
        if (out.rows != nullptr) out.rows[place] = i;
        static_cast<T*>(out.values)[place] = sums[at];
        sums[at] = rest;
      }
    }
    written += total;
  }
  return written;
}

// Rows of any size: sums of `columns` columns at a time, one block a row.
template <class Semiring, class A, class B>
__device__ void fill_by_window(const Entries<A>& a, const Entries<B>& b, const RowMask& mask,
    const RowList& list, const RowRooms& rooms, unsigned columns, const Cursors& cursors,
    const Written out) {
  using Add = typename Semiring::Add;
  using T = typename Add::T;
  const Group<0> group;
  T* const sums = reinterpret_cast<T*>(block_memory);
  unsigned* const words = reinterpret_cast<unsigned*>(block_memory + columns * sizeof(T));
  for (unsigned c = group.lane; c < columns; c += group.lanes) sums[c] = resting_value<Add>();
  for (unsigned w = group.lane; w < columns / kWarp; w += group.lanes) words[w] = 0;
  for (long long r = group.first; r < list.count; r += group.step) {
    const Index i = list[r];
    long long start = rooms.starts[i];
    const auto visit = [&](Offset at_a, Offset at_b, Index k, Index j, unsigned at) {
      auto is_new = [&] { return claim(words, at); };
      accumulate_product<Semiring>(sums + at, is_new, a, b, at_a, at_b, i, k, j);
    };
    for_each_window<kInOrder<Semiring>>(group, pattern_of(a), pattern_of(b), mask, i, rooms.work[i],
        columns, cursors, visit, [&](unsigned base) {
          start += flush_window(words, sums, columns, base, resting_value<Add>(), i, start, out);
        });
    if (group.lane == 0) rooms.tell(i, start - rooms.starts[i]);
  }
}
