// Rows that are short: two lanes a row, the first entries of 32 rows asked for at once. The few
// rows that have more are walked on.
#pragma once
#include "vxm/stripe.cuh"

// Entries of each of its rows that a lane has in flight, and rows of a lane: 32 a warp.
constexpr int kShortBatch = 4;
constexpr int kShortRows = 2;
// On an H200 (bench/notes/spmv.md) pairs of lanes do rows of 2, 4 and 8 entries in 15, 16 and 36 us
// where a stream takes 35, 41 and 56.
constexpr int kShortRow = 2 * kShortBatch;
// Longest row, and mean length, of matrices with a few longer rows that are taken this way too: a
// road network has junctions of nine roads, a triangulation has six neighbours on average. On a
// triangulation of 65,536 points it takes PageRank from 25 to 15 us an iteration.
constexpr int kLongestShort = 32, kMeanShort = 8;

template <class A>
__device__ __forceinline__ bool is_short(const Compressed<A>& matrix, Index rows) {
  if (matrix.longest <= kShortRow) return true;
  return matrix.longest <= kLongestShort &&
         matrix.nvals <= static_cast<long long>(kMeanShort) * rows;
}

// What a thread counts while rows are summed.
struct Tally {
  unsigned inserted, touched;
  Count edges;

  // All threads of the block.
  __device__ __forceinline__ void add_to(Counters* counters) const {
    const Count values[3] = {inserted, touched, edges};
    Count* const sums[3] = {&counters->inserted, &counters->touched, &counters->edges};
    add_over_block(values, sums);
  }
};

// Calls `finish` for every row, 32 together: with what each lane's row came to, and a Count to which
// it may add the edges that the row will drive.
template <class Semiring, class U, class A, class MaskT, class Finish>
SEMIRA_PHASE void sum_short_rows(const Team& team, const SharedGather<Semiring, U, A>& gather,
                                 Index rows, const MaskT& mask, Finish finish, Tally& tally) {
  using Add = typename Semiring::Add;
  using T = typename Add::T;
  using Op = typename Semiring::Multiply;
  constexpr bool kReadsU = Semiring::kVectorFirst ? Op::kReadsA : Op::kReadsB;
  constexpr bool kReadsMatrix = Semiring::kVectorFirst ? Op::kReadsB : Op::kReadsA;
  const Compressed<A>& matrix = gather.matrix;
  const int lane = static_cast<int>(team.lane), rank = lane % 2;
  const unsigned num_words = (static_cast<unsigned>(rows) + kWarp - 1) / kWarp;
  // Where the row of this lane begins and ends; 0 behind the last one.
  auto bound_of = [&](unsigned w, int which) {
    const unsigned row = w * kWarp + team.lane;
    return w < num_words && row < static_cast<unsigned>(rows)
               ? in_global(matrix.indptr)[row + which]
               : Offset{0};
  };
  Offset next_begin = bound_of(team.warp, 0), next_end = bound_of(team.warp, 1);
  for (unsigned w = team.warp; w < num_words; w += team.warps) {
    const Index row = static_cast<Index>(w * kWarp + team.lane);
    const Offset own_begin = next_begin;
    const bool live = next_end > own_begin && mask.allows(row);
    const int own_length = live ? static_cast<int>(next_end - own_begin) : 0;
    tally.touched += static_cast<unsigned>(own_length);
    // On their way while these rows are summed.
    next_begin = bound_of(w + team.warps, 0);
    next_end = bound_of(w + team.warps, 1);
    Index column[kShortRows][kShortBatch];
    A a[kShortRows][kShortBatch];
    bool hit[kShortRows][kShortBatch];
#pragma unroll
    for (int h = 0; h < kShortRows; ++h) {
      const int source = h * (kWarp / kShortRows) + lane / 2;
      const Offset begin = __shfl_sync(kAllLanes, own_begin, source);
      const int length = __shfl_sync(kAllLanes, own_length, source);
#pragma unroll
      for (int b = 0; b < kShortBatch; ++b) {
        const int e = 2 * b + rank;
        hit[h][b] = e < length;
        column[h][b] = hit[h][b] ? in_global(matrix.indices)[begin + e] : 0;
        if constexpr (kReadsMatrix) {
          a[h][b] = hit[h][b] ? in_global(matrix.values)[(begin + e) * matrix.value_stride] : A{};
        }
      }
    }
    if (gather.present != nullptr) {
      const unsigned* const present = in_global(gather.present);
#pragma unroll
      for (int h = 0; h < kShortRows; ++h) {
#pragma unroll
        for (int b = 0; b < kShortBatch; ++b) {
          const unsigned place = static_cast<unsigned>(column[h][b]);
          hit[h][b] = hit[h][b] && (present[place / kWarp] >> (place % kWarp) & 1u);
        }
      }
    }
    U x[kShortRows][kShortBatch];
    if constexpr (kReadsU) {
      const U* const u = in_global(gather.u);
#pragma unroll
      for (int h = 0; h < kShortRows; ++h) {
#pragma unroll
        for (int b = 0; b < kShortBatch; ++b) x[h][b] = u[hit[h][b] ? column[h][b] : 0];
      }
    }
    // Lane `lane` gets the sum of row `lane`: from the first of the two that had it.
    Partial<Add> sum{T{}, false};
#pragma unroll
    for (int h = 0; h < kShortRows; ++h) {
      const Index to = static_cast<Index>(w * kWarp) + h * (kWarp / kShortRows) + lane / 2;
      Partial<Add> part{T{}, false};
#pragma unroll
      for (int b = 0; b < kShortBatch; ++b) {
        if (hit[h][b]) part.add(multiply_values<Semiring>(x[h][b], a[h][b], column[h][b], to));
      }
      const int source_row = h * (kWarp / kShortRows) + lane / 2;
      const int length = __shfl_sync(kAllLanes, own_length, source_row);
      const Offset begin = __shfl_sync(kAllLanes, own_begin, source_row);
      for (int e = kShortRow + rank; __any_sync(kAllLanes, e < length); e += 2) {
        if (e >= length) continue;
        const Offset at = begin + e;
        const Index from = in_global(matrix.indices)[at];
        const bool there = gather.present == nullptr ||
                           (gather.present[static_cast<unsigned>(from) / kWarp] >>
                                (static_cast<unsigned>(from) % kWarp) &
                            1u);
        if (there) part.add(multiply<Semiring>(gather.u, matrix, from, to, at));
      }
      const bool other_has = __shfl_sync(kAllLanes, part.has, lane ^ 1) != 0;
      const T other = shuffle(part.value, lane ^ 1);
      if (other_has) part.add(other);
      const int source = 2 * (lane % (kWarp / kShortRows));
      const bool has = __shfl_sync(kAllLanes, part.has, source) != 0;
      const T value = shuffle(part.value, source);
      if (lane / (kWarp / kShortRows) == h) sum = Partial<Add>{value, has};
    }
    tally.inserted += sum.has ? 1 : 0;
    finish(row, static_cast<unsigned>(row) < static_cast<unsigned>(rows), sum, tally.edges);
  }
}

// What walks over rows do with every 32 of them: store the sums in `out`, which is empty before.
template <class T, class Degrees>
__device__ __forceinline__ auto store_rows(const Team& team, const Plane<T>& out,
                                           const Degrees& degrees) {
  return [&](const Index row, bool, const auto& sum, Count& edges) {
    const unsigned word = __ballot_sync(kAllLanes, sum.has);
    if (word == 0) return;
    if (team.lane == 0) out.words[static_cast<unsigned>(row) / kWarp] = word;
    if (sum.has) {
      out.values[row] = sum.value;
      if constexpr (Degrees::kCounted) edges += static_cast<Count>(degrees(row));
    }
  };
}
