// w = u (+).(*) A by rows: every output position that the mask lets through gathers.
//
// A warp takes 32 positions. Each lane walks the first kLane edges of its own row; rows that are
// not done then are finished by the whole warp (kLane 0: every row is). With early exit a row stops
// at the monoid's terminal value, or at its first operand if any will do.
#pragma once
#include "reduce/reduce.cuh"
#include "vxm/product.cuh"

// Edges a lane walks alone before the warp helps: by default, and where it never helps.
constexpr int kLaneEdges = 8;
constexpr int kAlone = 0x7fffffff;
// Independent edges a lane has in flight.
constexpr int kPullBatch = 4;

// Everything the gather of one row needs. `present` is the presence of the operand, or of what
// may be read in its place; null means that every position is present. Held is how the matrix is
// kept: a copy lies in registers, a reference leaves it in shared memory.
template <class Semiring, class U, class A, class Held = Compressed<A>>
struct Gather {
  using Add = typename Semiring::Add;
  const unsigned* present;
  const U* u;
  Held matrix;

  // Walks edges first, first + step, ... below end, kPullBatch in flight; returns edges read.
  template <bool kExit>
  __device__ __forceinline__ unsigned walk(Partial<Add>& sum, Index to, Offset first, Offset end,
                                           int step) const {
    Index from[kPullBatch];
    unsigned word[kPullBatch];
    unsigned read = 0;
#pragma unroll
    for (int b = 0; b < kPullBatch; ++b) {
      const Offset at = first + b * step;
      from[b] = at < end ? matrix.indices[at] : -1;
    }
#pragma unroll
    for (int b = 0; b < kPullBatch; ++b) {
      word[b] = from[b] < 0 ? 0 : ~0u;
      if (present != nullptr && from[b] >= 0)
        word[b] = present[static_cast<unsigned>(from[b]) / kWarp];
    }
#pragma unroll
    for (int b = 0; b < kPullBatch; ++b) {
      read += from[b] >= 0 ? 1 : 0;
      const bool hit = word[b] >> (static_cast<unsigned>(from[b]) % kWarp) & 1u;
      if (hit && !sum.template settled<kExit>()) {
        sum.add(multiply<Semiring>(u, matrix, from[b], to, first + b * step));
      }
    }
    return read;
  }

  // Finishes one row with all lanes; every lane gets the result.
  template <bool kExit>
  __device__ __forceinline__ unsigned finish_row(Partial<Add>& sum, Index to, Offset begin,
                                                 Offset end, unsigned lane) const {
    unsigned read = 0;
    Partial<Add> mine{sum.value, sum.has && lane == 0};
    for (Offset first = begin; first < end; first += kPullBatch * kWarp) {
      read += walk<kExit>(mine, to, first + static_cast<Offset>(lane), end, kWarp);
      if (kExit && __any_sync(kAllLanes, mine.template settled<kExit>())) break;
    }
#pragma unroll
    for (int step = kWarp / 2; step > 0; step /= 2) {
      const int other = static_cast<int>(lane) ^ step;
      const bool has = __shfl_sync(kAllLanes, mine.has, other);
      const typename Add::T value = shuffle(mine.value, other);
      if (has) mine.add(value);
    }
    sum = mine;
    return read;
  }
};

// `out` is empty before.
template <bool kExit, int kLane, class Semiring, class U, class A, class MaskT, class Degrees>
SEMIRA_PHASE void spmv_pull_masked(const Team& team, const Gather<Semiring, U, A> gather,
                                   Index rows, const MaskT mask,
                                   const Plane<typename Semiring::Add::T> out,
                                   const Degrees degrees, Counters* counters) {
  using Add = typename Semiring::Add;
  Count inserted = 0, touched = 0, edges = 0;
  const unsigned num_words = (static_cast<unsigned>(rows) + kWarp - 1) / kWarp;
  for (unsigned w = team.warp; w < num_words; w += team.warps) {
    const unsigned place = w * kWarp + team.lane;
    const Index row = static_cast<Index>(place);
    const bool open = place < static_cast<unsigned>(rows) && mask.allows(row);
    if (!__any_sync(kAllLanes, open)) continue;
    Offset at = open ? gather.matrix.indptr[row] : 0;
    const Offset end = open ? gather.matrix.indptr[row + 1] : 0;

    // Each lane alone.
    Partial<Add> sum{typename Add::T{}, false};
    const Offset lane_end = end - at < kLane ? end : at + kLane;
    while (at < lane_end && !sum.template settled<kExit>()) {
      touched += gather.template walk<kExit>(sum, row, at, lane_end, 1);
      at += kPullBatch;
    }

    // The warp together, one unfinished row after the other.
    unsigned unfinished = __ballot_sync(kAllLanes, at < end && !sum.template settled<kExit>());
    while (unfinished != 0) {
      const int source = __ffs(unfinished) - 1;
      unfinished &= unfinished - 1;
      Partial<Add> shared{shuffle(sum.value, source), __shfl_sync(kAllLanes, sum.has, source) != 0};
      touched += gather.template finish_row<kExit>(shared, w * kWarp + source,
                                                   __shfl_sync(kAllLanes, at, source),
                                                   __shfl_sync(kAllLanes, end, source), team.lane);
      if (static_cast<int>(team.lane) == source) sum = shared;
    }

    // One store of presence a warp.
    const unsigned word = __ballot_sync(kAllLanes, sum.has);
    if (word == 0) continue;
    if (team.lane == 0) out.words[w] = word;
    if (sum.has) {
      out.values[row] = sum.value;
      ++inserted;
      if constexpr (Degrees::kCounted) edges += static_cast<Count>(degrees(row));
    }
  }
  const Count values[3] = {inserted, touched, edges};
  Count* const sums[3] = {&counters->inserted, &counters->touched, &counters->edges};
  add_over_block(values, sums);
}

// Each row by a whole block. `out` is empty before.
template <bool kExit, class Semiring, class U, class A, class MaskT, class Degrees>
SEMIRA_PHASE void spmv_pull_block(const Team& team, const Gather<Semiring, U, A> gather,
                                  Index rows, const MaskT mask,
                                  const Plane<typename Semiring::Add::T> out,
                                  const Degrees degrees, Counters* counters) {
  using Add = typename Semiring::Add;
  Count inserted = 0, touched = 0, edges = 0;
  const int threads = static_cast<int>(blockDim.x);
  for (Index row = static_cast<Index>(team.block); row < rows;
       row += static_cast<Index>(team.blocks)) {
    if (!mask.allows(row)) continue;
    const Offset end = gather.matrix.indptr[row + 1];
    Partial<Add> sum{typename Add::T{}, false};
    for (Offset at = gather.matrix.indptr[row]; at < end; at += kPullBatch * threads) {
      touched += gather.template walk<kExit>(sum, row, at + static_cast<Offset>(threadIdx.x), end,
                                             threads);
      if (kExit && __syncthreads_or(sum.template settled<kExit>())) break;
    }
    reduce_block<Add>(sum.value, sum.has);
    if (threadIdx.x != 0 || !sum.has) continue;
    out.values[row] = sum.value;
    atomicOr(&out.words[static_cast<unsigned>(row) / kWarp],
             1u << (static_cast<unsigned>(row) % kWarp));
    ++inserted;
    if constexpr (Degrees::kCounted) edges += static_cast<Count>(degrees(row));
  }
  const Count values[3] = {inserted, touched, edges};
  Count* const sums[3] = {&counters->inserted, &counters->touched, &counters->edges};
  add_over_block(values, sums);
}
