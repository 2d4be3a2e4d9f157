// The entries of a matrix in row order, and what one entry per thread needs to find its way.
#pragma once
#include "common/types.cuh"

// Unlike MatrixDescriptor: one orientation, with the row of every entry. How many entries there are
// is the last of the offsets; `most` have room.
struct EntriesDescriptor {
  void* indptr;
  void* indices;
  void* values;
  void* rows;  // of each entry; null where no kernel asks for it
  long long nrows, most, value_stride;
};

// All threads of a launch, one after the other over `n` items.
struct Span {
  long long first, step;
  __device__ Span()
      : first(block_number() * static_cast<long long>(blockDim.x) + threadIdx.x),
        step(gridDim.x * static_cast<long long>(blockDim.x)) {}
};

// Those of a thread, or of `lanes` neighbours: for (const long long k : items_below(n)).
struct Items {
  struct Place {
    long long at, step;
    SEMIRA_INLINE long long operator*() const { return at; }
    SEMIRA_INLINE void operator++() { at += step; }
    SEMIRA_INLINE bool operator!=(long long end) const { return at < end; }
  };
  Place first;
  long long n;
  SEMIRA_INLINE Place begin() const { return first; }
  SEMIRA_INLINE long long end() const { return n; }
};
SEMIRA_INLINE Items items_below(long long n, long long lanes = 1) {
  const Span span;
  return {{span.first / lanes, span.step / lanes}, n};
}

// Words of 32 rows.
SEMIRA_INLINE long long words_of(long long rows) { return (rows + kWarp - 1) / kWarp; }

// First position in sorted `list[low, high)` that holds at least `x`.
template <class T, class P> SEMIRA_INLINE P lower_bound(const T* list, P low, P high, T x) {
  return first_where(low, high, [&](P at) { return !(list[at] < x); });
}

// Last position of a rising list of `n + 1` offsets that holds at most `x`: the owner of item x.
template <class P> SEMIRA_INLINE long long owner_in(const P* offsets, long long n, P x) {
  return lower_bound<P, long long>(offsets, 0, n + 1, x + 1) - 1;
}

// Adds every lane's number to `total`.
SEMIRA_INLINE void add_to(Count* total, Count mine) {
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) mine += __shfl_xor_sync(kAllLanes, mine, step);
  if (threadIdx.x % kWarp == 0 && mine != 0) atomicAdd(total, mine);
}

template <class A> struct Entries {
  using Value = A;
  const Offset* __restrict__ indptr;
  const Index* __restrict__ indices;
  const A* __restrict__ values;
  const Index* __restrict__ rows;
  Offset nvals, most, value_stride;

  __device__ explicit Entries(const EntriesDescriptor& d)
      : indptr(static_cast<const Offset*>(d.indptr)),
        indices(static_cast<const Index*>(d.indices)),
        values(static_cast<const A*>(d.values)),
        rows(static_cast<const Index*>(d.rows)),
        nvals(indptr[d.nrows]),
        most(static_cast<Offset>(d.most)),
        value_stride(static_cast<Offset>(d.value_stride)) {}

  SEMIRA_INLINE A value(Offset at) const { return values[at * value_stride]; }

  // First entry of row i that lies in column j or after it.
  SEMIRA_INLINE Offset place(Index i, Index j) const {
    return lower_bound(indices, indptr[i], indptr[i + 1], j);
  }
  SEMIRA_INLINE bool find(Index i, Index j, Offset& at) const {
    at = place(i, j);
    return at < indptr[i + 1] && indices[at] == j;
  }
};

struct EveryPosition {
  SEMIRA_INLINE bool allows(Index, Index) const { return true; }
};

template <class M, bool kStructural, bool kComplement> struct EntryMask {
  Entries<M> mask;
  __device__ explicit EntryMask(const Entries<M>& m) : mask(m) {}
  SEMIRA_INLINE bool allows(Index i, Index j) const {
    Offset at;
    bool set = mask.find(i, j, at);
    if constexpr (!kStructural) set = set && cast<bool>(mask.value(at));
    return set != kComplement;
  }
};
