// Matrices on the device: compressed rows, compressed columns or both.
#pragma once
#include "common/types.cuh"

struct CompressedDescriptor {
  void* indptr;
  void* indices;
  void* values;
  void* slices;  // null unless a program asks for them; the longest line follows them
  long long num_slices, slice_items;
  void* coded;  // null unless there are hot columns
  void* hot;
  long long num_hot, num_listed;
  void* diagonals;  // null unless rows are kept as bits
  long long num_diagonals;
};

struct MatrixDescriptor {
  CompressedDescriptor csr, csc;
  long long nrows, ncols;
  long long value_stride;  // 0 if all entries share one value
};

// One orientation. `major` is the row of a csr, the column of a csc.
//
// Slices cut the merge path of rows and entries into equal shares: share s begins at item
// s * slice_items, in row slices[s]. On the path an entry is one item; the end of a row, which comes
// behind its entries, is kRowItems (common/types.cuh).
//
// What follows are words of variants of a pull (semira/methods), null where a matrix has none.
//
// Hot columns are the most frequent ones, hot[0] first. `coded` are the indices with ~k in the
// place of hot[k]; the indices themselves where nothing is hot. Where more columns are listed than
// are hot, those that occur at all are: then `coded` has k for the others. Room for a value and a
// bit of presence for each listed column follows the list (methods/hot_columns).
//
// `diagonals` are distances between columns and their rows, in rising order; then the bits of each
// row, which of them it has (methods/diagonals).

template <class A> struct Compressed {
  const Offset* __restrict__ indptr;
  const Index* __restrict__ indices;
  const A* __restrict__ values;
  Offset value_stride;
  long long nvals;
  const Index* __restrict__ slices;
  Index num_slices;
  Index longest;  // line, by its entries; known where there are slices
  long long slice_items;
  const Index* __restrict__ coded;
  Index* hot;
  Index num_hot, num_listed;
  const Index* __restrict__ diagonals;
  Index num_diagonals;

  Compressed() = default;
  // `lines`: of a csr the rows, of a csc the columns.
  __device__ Compressed(const CompressedDescriptor& d, long long stride, long long lines)
      : indptr(static_cast<const Offset*>(d.indptr)), indices(static_cast<const Index*>(d.indices)),
        values(static_cast<const A*>(d.values)), value_stride(static_cast<Offset>(stride)),
        nvals(indptr[lines]), slices(static_cast<const Index*>(d.slices)),
        num_slices(static_cast<Index>(d.num_slices)),
        longest(slices != nullptr ? slices[d.num_slices + 1] : kHighest<Index>),
        slice_items(d.slice_items),
        coded(static_cast<const Index*>(d.coded != nullptr ? d.coded : d.indices)),
        hot(static_cast<Index*>(d.hot)), num_hot(static_cast<Index>(d.num_hot)),
        num_listed(static_cast<Index>(d.num_listed)),
        diagonals(static_cast<const Index*>(d.diagonals)),
        num_diagonals(static_cast<Index>(d.num_diagonals)) {}

  SEMIRA_INLINE Offset degree(Index major) const { return indptr[major + 1] - indptr[major]; }
  SEMIRA_INLINE A value(Offset at) const { return values[at * value_stride]; }

  // Items of the path over `lines` lines.
  SEMIRA_INLINE long long path(Index lines) const {
    return nvals + static_cast<long long>(kRowItems) * lines;
  }
  // The entry at which a share begins, given its first item and row. It may begin within the end of
  // the row before.
  SEMIRA_INLINE Offset entry_at(long long item, Index row) const {
    const long long at = item - static_cast<long long>(kRowItems) * row;
    const Offset begin = indptr[row];
    return at > begin ? static_cast<Offset>(at) : begin;
  }
};

// Number of entries: the last offset of whichever orientation is there.
SEMIRA_INLINE long long entries_in(const MatrixDescriptor& d) {
  return d.csr.indptr != nullptr ? static_cast<const Offset*>(d.csr.indptr)[d.nrows]
                                 : static_cast<const Offset*>(d.csc.indptr)[d.ncols];
}

// Degrees that nobody asks for.
struct NoDegrees {
  static constexpr bool kCounted = false;
  SEMIRA_INLINE Offset operator()(Index) const { return 0; }
};

// Entries that a vector's entry will drive in the next product.
struct DrivenDegrees {
  static constexpr bool kCounted = true;
  const Offset* __restrict__ indptr;
  SEMIRA_INLINE Offset operator()(Index i) const { return indptr[i + 1] - indptr[i]; }
};
