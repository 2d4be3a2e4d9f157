// Full A times full B: tiles of both pass through shared memory, for any semiring.
#pragma once
#include "mxm/full.cuh"

// A block makes kTile x kTile entries of the result, a thread kMine x kMine of them: one read from shared
// memory serves kMine multiplications. kDepth columns of A and rows of B are there at a time.
constexpr int kTile = 64, kDepth = 16, kMine = 4;

// Copies entries (first_i + i, first_j + j) of a full matrix, i below kRows and j below kColumns, to
// tile[i * step_i + j * step_j]; what lies outside of it gets the last entry inside. Neighbouring
// threads read neighbouring entries.
template <int kRows, int kColumns, class V>
SEMIRA_INLINE void load_tile(const Full<V>& full, long long first_i, long long first_j,
    long long last_i, long long last_j, V* tile, int step_i, int step_j) {
  const bool by_rows = full.step_i != 1;
  for (int item = static_cast<int>(threadIdx.x); item < kRows * kColumns;
      item += static_cast<int>(blockDim.x)) {
    const int i = by_rows ? item / kColumns : item % kRows;
    const int j = by_rows ? item % kColumns : item / kRows;
    const long long from_i = first_i + i < last_i ? first_i + i : last_i;
    const long long from_j = first_j + j < last_j ? first_j + j : last_j;
    tile[i * step_i + j * step_j] = full.value(from_i, from_j);
  }
}

// The result has `nrows` x `ncols` entries, sums are over `inner` products.
template <class Semiring, class A, class B>
__device__ void multiply_dense(const Full<A>& a, const Full<B>& b, long long nrows, long long inner,
    long long ncols, SumOf<Semiring>* out) {
  using Add = typename Semiring::Add;
  using Op = typename Semiring::Multiply;
  __shared__ __align__(16) unsigned char left_memory[kDepth * kTile * sizeof(A)];
  __shared__ __align__(16) unsigned char right_memory[kDepth * kTile * sizeof(B)];
  A* const left = reinterpret_cast<A*>(left_memory);
  B* const right = reinterpret_cast<B*>(right_memory);
  const int row = static_cast<int>(threadIdx.x) / (kTile / kMine);
  const int column = static_cast<int>(threadIdx.x) % (kTile / kMine);
  const long long across = (ncols + kTile - 1) / kTile;
  const long long tiles = (nrows + kTile - 1) / kTile * across;
  for (long long tile = block_number(); tile < tiles; tile += gridDim.x) {
    const long long first_i = tile / across * kTile, first_j = tile % across * kTile;
    typename Add::T sums[kMine][kMine] = {};
    for (long long base = 0; base < inner; base += kDepth) {
      __syncthreads();
      if constexpr (Op::kReadsA) {
        load_tile<kTile, kDepth>(a, first_i, base, nrows - 1, inner - 1, left, 1, kTile);
      }
      if constexpr (Op::kReadsB) {
        load_tile<kDepth, kTile>(b, base, first_j, inner - 1, ncols - 1, right, kTile, 1);
      }
      __syncthreads();
      const int depth = inner - base < kDepth ? static_cast<int>(inner - base) : kDepth;
      for (int d = 0; d < depth; ++d) {
        A x[kMine] = {};
        B y[kMine] = {};
        SEMIRA_UNROLLED(n, kMine) {
          // Neighbours are apart: lanes of a warp then read different banks.
          if constexpr (Op::kReadsA) x[n] = left[d * kTile + row + n * (kTile / kMine)];
          if constexpr (Op::kReadsB) y[n] = right[d * kTile + column + n * (kTile / kMine)];
        }
        const bool is_first = base + d == 0;
        const Index k = static_cast<Index>(base + d);
        SEMIRA_UNROLLED(r, kMine) {
          SEMIRA_UNROLLED(c, kMine) {
            const Index i = static_cast<Index>(first_i + row + r * (kTile / kMine));
            const Index j = static_cast<Index>(first_j + column + c * (kTile / kMine));
            const typename Add::T z = multiply_values<Semiring>(x[r], y[c], i, k, j);
            sums[r][c] = is_first ? z : Add::apply(sums[r][c], z);
          }
        }
      }
    }
    SEMIRA_UNROLLED(r, kMine) {
      SEMIRA_UNROLLED(c, kMine) {
        const long long i = first_i + row + r * (kTile / kMine);
        const long long j = first_j + column + c * (kTile / kMine);
        if (i < nrows && j < ncols) out[i * ncols + j] = sums[r][c];
      }
    }
  }
}
