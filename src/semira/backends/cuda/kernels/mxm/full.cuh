// Products with an operand that has every entry: its positions follow from row and column, and the
// result has every entry of the lines where the other operand has any.
#pragma once
#include "common/grid.cuh"
#include "matrix/merge.cuh"
#include "mxm/multiply.cuh"
#include "reduce/reduce.cuh"

// Where the walked operand's lines lead: `ncols` is the full operand's row length.
template <bool kSparseLeft, class Semiring, class A, class B>
struct FullProduct {
  using T = typename Semiring::Add::T;
  const Entries<A>& a;
  const Entries<B>& b;  // where A is the full one: B's columns
  long long ncols;

  __device__ __forceinline__ const Offset* line(Index i, Index j) const {
    return kSparseLeft ? a.indptr + i : b.indptr + j;
  }
  // The product of the walked operand's entry `at`.
  __device__ __forceinline__ T operator()(Offset at, Index i, Index j) const {
    if constexpr (kSparseLeft) {
      const Index k = a.indices[at];
      return multiply_entries<Semiring>(a, b, at, static_cast<Offset>(k * ncols + j), i, k, j);
    } else {
      const Index k = b.indices[at];
      return multiply_entries<Semiring>(a, b, static_cast<Offset>(i * ncols + k), at, i, k, j);
    }
  }
};

template <bool kExit, class Add>
__device__ __forceinline__ bool is_final(const typename Add::T& value) {
  if constexpr (kExit) return Add::kIsAny || (Add::kHasTerminal && Add::is_terminal(value));
  return false;
}

template <class T>
__device__ __forceinline__ void write_entry(const Written& out, long long at, Index i, Index j,
                                            const T& value) {
  out.rows[at] = i;
  out.indices[at] = j;
  static_cast<T*>(out.values)[at] = value;
}

// One thread an entry of the result. `lines` are the walked operand's lines that are not empty.
template <bool kExit, bool kSparseLeft, class Semiring, class A, class B>
__device__ void fill_full_items(const FullProduct<kSparseLeft, Semiring, A, B>& product,
                                const Index* lines, long long num_lines, long long num_rows,
                                long long num_columns, const Written out) {
  using Add = typename Semiring::Add;
  const long long across = kSparseLeft ? num_columns : num_lines;
  const long long total = kSparseLeft ? num_lines * num_columns : num_rows * num_lines;
  const Span span;
  for (long long item = span.first; item < total; item += span.step) {
    const long long r = item / across, c = item % across;
    const Index i = kSparseLeft ? lines[r] : static_cast<Index>(r);
    const Index j = kSparseLeft ? static_cast<Index>(c) : lines[c];
    const Offset* const line = product.line(i, j);
    const Offset end = line[1];
    Offset at = line[0];
    typename Add::T value = product(at, i, j);
    while (++at < end && !is_final<kExit, Add>(value)) value = Add::apply(value, product(at, i, j));
    write_entry(out, item, i, j, value);
  }
}

// Long rows of A times a full B: one warp a row and tile of columns. Where B has fewer columns than
// a warp has lanes, several lanes share a column.
template <bool kExit, class Semiring, class A, class B>
__device__ void fill_full_rows(const FullProduct<true, Semiring, A, B>& product, const Index* lines,
                               long long num_lines, long long num_columns, const Written out) {
  using Add = typename Semiring::Add;
  unsigned width = 1;
  while (width < kWarp && width < num_columns) width *= 2;
  const unsigned lane = threadIdx.x % kWarp, place = lane % width, parts = kWarp / width;
  const long long tiles = (num_columns + width - 1) / width;
  const Span span;
  for (long long w = span.first / kWarp; w < num_lines * tiles; w += span.step / kWarp) {
    const long long r = w / tiles, c = w % tiles * width + place;
    const Index i = lines[r], j = static_cast<Index>(c);
    const Offset* const line = product.line(i, j);
    const Offset length = line[1] - line[0];
    typename Add::T value{};
    bool has = false;
    for (Offset n = lane / width; n < length && c < num_columns; n += parts) {
      merge<Add>(value, has, product(line[0] + n, i, j), true);
      if (is_final<kExit, Add>(value)) break;
    }
    for (unsigned step = width; step < kWarp; step *= 2) {
      const int other = static_cast<int>(lane ^ step);
      const typename Add::T other_value = shuffle(value, other);
      const bool other_has = __shfl_sync(kAllLanes, has, other) != 0;
      merge<Add>(value, has, other_value, other_has);
    }
    if (lane < width && c < num_columns) write_entry(out, r * num_columns + c, i, j, value);
  }
}
