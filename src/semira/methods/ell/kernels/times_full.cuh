// Padded rows of A times full B. A warp takes a few neighbouring rows and a tile of columns: entry t of
// neighbouring rows lies in neighbouring words, so that it reads them together, and hands the entries
// round for its lanes to read B's rows along their columns.
#pragma once
#include "mxm/spmm.cuh"

// Rows that a warp takes together, their sums in registers. Entries of four rows are half a sector of
// A, beside rows of B that are many times longer; more rows would leave small matrices with fewer warps
// than the device has room for.
template <class T>
constexpr int kRowsTogether = sizeof(T) <= 16 ? 4 : 1;

// Rows in slices of `height`; entry t of a slice's r-th row is slot t * height + r of it.
template <class A>
struct PaddedRows {
  const long long* __restrict__ starts;  // of each slice: its first slot
  const Index* __restrict__ slots;       // columns; -1: padding, behind the entries of its row
  const A* __restrict__ values;
  const Index* __restrict__ lengths;  // entries of each row; null: told by padding
  long long height, value_stride, nrows;

  // First slot of a row, and one behind the last that may hold an entry.
  __device__ __forceinline__ void row(long long i, long long& at, long long& end) const {
    const long long slice = i / height;
    at = starts[slice] + i % height;
    end = lengths != nullptr ? at + lengths[i] * height : starts[slice + 1];
  }
};

template <int kColumns, bool kExit, class Semiring, class A, class B>
__device__ __forceinline__ void multiply_padded(const SparseTimesFull<Semiring, A, B>& product,
                                                const PaddedRows<A>& rows, const int* line_of) {
  using Sums = LaneSums<kColumns, kExit, Semiring, B>;
  constexpr int kRows = kRowsTogether<typename Semiring::Add::T>, kTurns = kWarp / kRows;
  const long long packs = product.ncols / kColumns;
  const int width = static_cast<int>(lanes_across(packs)), parts = kWarp / width;
  const int lane = static_cast<int>(threadIdx.x % kWarp), part = lane / width;
  const long long tiles = (packs + width - 1) / width;
  const long long groups = (rows.nrows + kRows - 1) / kRows;
  const Span span;
  for (long long w = span.first / kWarp; w < groups * tiles; w += span.step / kWarp) {
    const long long row0 = w / tiles * kRows, pack = w % tiles * width + lane % width;
    const long long j = pack * kColumns, own = row0 + lane % kRows;
    const bool is_inside = pack < packs;
    // This lane reads every kTurns-th entry of one row.
    long long at = 0, end = 0;
    if (own < rows.nrows) rows.row(own, at, end);
    at += lane / kRows * rows.height;
    Sums sums[kRows];
    while (true) {
      Index column = -1;
      A value{};
      if (at < end) {
        column = rows.slots[at];
        if constexpr (Semiring::Multiply::kReadsA) {
          if (column >= 0) value = rows.values[at * rows.value_stride];
        }
      }
      at += kTurns * rows.height;
      if (!__any_sync(kAllLanes, column >= 0)) break;
      // Groups of lanes share out the turns where a tile has fewer packs than the warp lanes.
      for (int first = 0; first < kTurns; first += parts) {
        const int turn = first + part;
        Index k[kRows];
        A x[kRows];
        Pack<B, kColumns> y[kRows];
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          const int s = turn % kTurns * kRows + r;
          k[r] = __shfl_sync(kAllLanes, column, s);
          x[r] = A{};
          if constexpr (Semiring::Multiply::kReadsA) x[r] = shuffle(value, s);
          if (turn >= kTurns || !is_inside) k[r] = -1;
          if (k[r] >= 0) y[r] = Sums::load(product.b, k[r], j);
        }
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          if (k[r] >= 0) sums[r].add(x[r], y[r], static_cast<Index>(row0 + r), k[r], j);
        }
      }
      if constexpr (kExit) {
        bool is_done = true;
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          is_done = is_done && (row0 + r >= rows.nrows || sums[r].is_final());
        }
        if (__all_sync(kAllLanes, !is_inside || is_done)) break;
      }
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      for (int step = width; step < kWarp; step *= 2) sums[r].combine(lane ^ step);
    }
    if (part != 0 || !is_inside) continue;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      // B has every entry, so only a row without entries has no sum.
      if (!sums[r].has) continue;
      const long long line = line_of != nullptr ? line_of[row0 + r] : row0 + r;
      sums[r].store(product.out + line * product.ncols + j);
    }
  }
}

template <bool kExit, class Semiring, class A, class B>
__device__ void spmm_padded(const SparseTimesFull<Semiring, A, B>& product,
                            const PaddedRows<A>& rows, const int* line_of) {
  with_columns(product, [&](auto across) {
    multiply_padded<decltype(across)::kCount, kExit>(product, rows, line_of);
  });
}
