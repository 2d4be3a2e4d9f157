// Sparse A times full B by pieces: a thread, or a few lanes, a piece of a row, as long as is good for
// one, and a pack of columns. Rows of one piece are written where they belong; sums of the pieces of a
// longer row go to slots, one after the other, and are added up in that order.
#pragma once
#include "mxm/spmm.cuh"

// Where rows are cut (runtime/lines.py): piece p has entries begins[p] ... begins[p + 1] - 1. It
// is all of line owners[p], or, where that is ~slot, a part of a long one; its row is rows[p].
template <class T> struct LinePieces {
  const long long* begins;
  const int *owners, *rows;
  long long count;
  const int *lines, *starts;  // of long lines: the line, its first slot; one start more
  long long num_long;
  const int* many;  // long lines, as positions in `lines`, of more than kFewSlots pieces
  long long num_many;
  T* sums;  // `ncols` for each slot
};

template <int kColumns, bool kLanes, bool kExit, class Semiring, class A, class B>
SEMIRA_INLINE void multiply_by_piece(const SparseTimesFull<Semiring, A, B>& product,
    const LinePieces<SumOf<Semiring>>& pieces, const Sharing& sharing) {
  const Turns<kColumns> turns(sharing, pieces.count, product.ncols);
  turns.each([&](long long piece, long long j) {
    const int owner = pieces.owners[piece];
    const Offset begin = static_cast<Offset>(pieces.begins[piece]);
    const Offset end = static_cast<Offset>(pieces.begins[piece + 1]);
    sum_in_turns<kAhead, kLanes, kExit>(product, turns, pieces.rows[piece], begin, end, j,
        owner >= 0 ? product.out + owner * product.ncols + j
                   : pieces.sums + static_cast<long long>(~owner) * product.ncols + j);
  });
}

// Pieces of a long line that one warp adds up; those of a longer one are dealt out to a block.
constexpr int kFewSlots = 64, kSlotsAhead = 8;

// Warps of a block that share out a line: as many as shared memory has room for.
template <class T> constexpr int kPartWarps = sizeof(T) <= 16 ? 32 : sizeof(T) <= 128 ? 8 : 1;

// Sum of the slots from `first` to `last` of a column, in their order; there is at least one.
template <class Add>
SEMIRA_INLINE typename Add::T sum_of_slots(
    const typename Add::T* sums, long long ncols, long long first, long long last, long long j) {
  using T = typename Add::T;
  T total = sums[first * ncols + j];
  long long s = first + 1;
  for (; last - s >= kSlotsAhead; s += kSlotsAhead) {
    T next[kSlotsAhead];
    SEMIRA_UNROLLED(n, kSlotsAhead) next[n] = sums[(s + n) * ncols + j];
    SEMIRA_UNROLLED(n, kSlotsAhead) total = Add::apply(total, next[n]);
  }
  for (; s < last; ++s) total = Add::apply(total, sums[s * ncols + j]);
  return total;
}

template <class Add>
__device__ void add_pieces(
    const LinePieces<typename Add::T>& pieces, long long ncols, typename Add::T* out) {
  using T = typename Add::T;
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const long long tiles = (ncols + kWarp - 1) / kWarp;
  for (const long long w : items_below(pieces.num_long * tiles, kWarp)) {
    const long long q = w / tiles, j = w % tiles * kWarp + lane;
    const long long first = pieces.starts[q], last = pieces.starts[q + 1];
    if (last - first > kFewSlots || j >= ncols) continue;
    out[pieces.lines[q] * ncols + j] = sum_of_slots<Add>(pieces.sums, ncols, first, last, j);
  }
  // Shares of a line's slots, one a warp; the first warp adds their sums in order.
  __shared__ __align__(16) unsigned char memory[kPartWarps<T> * kWarp * sizeof(T)];
  T* const parts = reinterpret_cast<T*>(memory);
  const unsigned given = blockDim.x / kWarp;
  const unsigned warps = given < kPartWarps<T> ? given : kPartWarps<T>;
  for (long long b = block_number(); b < pieces.num_many * tiles; b += gridDim.x) {
    const long long q = pieces.many[b / tiles], j = b % tiles * kWarp + lane;
    const long long start = pieces.starts[q], slots = pieces.starts[q + 1] - start;
    const long long first = start + slots * warp / warps;
    const long long last = start + slots * (warp + 1) / warps;
    if (warp < warps && j < ncols) {
      parts[warp * kWarp + lane] = sum_of_slots<Add>(pieces.sums, ncols, first, last, j);
    }
    __syncthreads();
    if (warp == 0 && j < ncols) {
      T total = parts[lane];
      for (unsigned n = 1; n < warps; ++n) total = Add::apply(total, parts[n * kWarp + lane]);
      out[pieces.lines[q] * ncols + j] = total;
    }
    __syncthreads();
  }
}

template <bool kExit, class Semiring, class A, class B>
__device__ void spmm_by_piece(const SparseTimesFull<Semiring, A, B>& product,
    const LinePieces<SumOf<Semiring>>& pieces, const Sharing& sharing) {
  with_columns(product, [&](auto across) {
    constexpr int kColumns = decltype(across)::kCount;
    if (sharing.lanes > 1)
      return multiply_by_piece<kColumns, true, kExit>(product, pieces, sharing);
    multiply_by_piece<kColumns, false, kExit>(product, pieces, sharing);
  });
}
