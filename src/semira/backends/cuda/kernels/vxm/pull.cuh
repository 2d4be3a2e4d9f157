// w = u (+).(*) A by rows: every output position that the mask lets through gathers.
//
// A warp takes some positions, at most 32. Where it takes 32, each lane walks the first edges of its
// own row: most rows that stop early stop there. The unfinished rows go on side by side, with as
// many lanes each as let all of them go on, and with twice as many from turn to turn: a row that
// has not stopped yet is likely to be read to its end, by lanes that lie together. With early exit a
// row stops at the monoid's terminal value, or at its first operand if any will do.
#pragma once
#include "reduce/reduce.cuh"
#include "vxm/product.cuh"

// Rows that a warp walks side by side: by default, and where each lane keeps to its own row.
constexpr int kSideBySide = 32;
constexpr int kAlone = 0x7fffffff;
// Independent edges a lane has in flight.
constexpr int kPullBatch = 4;
// Edges that a lane walks alone.
constexpr int kLaneEdges = 8;

// Place of bit n, counted from 0, of those that `word` has set.
SEMIRA_INLINE int nth_bit(unsigned word, unsigned n) {
  int place = 0;
#pragma unroll
  for (int half = kWarp / 2; half > 0; half /= 2) {
    const unsigned below = __popc(word >> place & ((1u << half) - 1));
    if (n < below) continue;
    n -= below;
    place += half;
  }
  return place;
}

// Everything the gather of one row needs. `present` is the presence of the operand, or of what
// may be read in its place; null means that every position is present. Held is how the matrix is
// kept: a copy lies in registers, a reference leaves it in shared memory.
template <class Semiring, class U, class A, class Held = Compressed<A>> struct Gather {
  using Add = typename Semiring::Add;
  const unsigned* present;
  const U* u;
  Held matrix;

  // The same in registers, where every position is known to have an entry.
  SEMIRA_INLINE Gather<Semiring, U, A> of_full() const { return {nullptr, u, matrix}; }

  // Walks edges first, first + step, ... below end, kPullBatch in flight; returns edges read.
  template <bool kExit>
  SEMIRA_INLINE unsigned walk(
      Partial<Add>& sum, Index to, Offset first, Offset end, int step) const {
    Index from[kPullBatch];
    unsigned word[kPullBatch];
    unsigned read = 0;
    SEMIRA_UNROLLED(b, kPullBatch) {
      const Offset at = first + b * step;
      from[b] = at < end ? matrix.indices[at] : -1;
    }
    SEMIRA_UNROLLED(b, kPullBatch) {
      word[b] = from[b] < 0 ? 0 : ~0u;
      if (present != nullptr && from[b] >= 0)
        word[b] = present[static_cast<unsigned>(from[b]) / kWarp];
    }
    SEMIRA_UNROLLED(b, kPullBatch) {
      read += from[b] >= 0 ? 1 : 0;
      const bool hit = word[b] >> (static_cast<unsigned>(from[b]) % kWarp) & 1u;
      if (hit && !sum.template settled<kExit>()) {
        sum.add(multiply<Semiring>(u, matrix, from[b], to, first + b * step));
      }
    }
    return read;
  }

  // Walks the rows of a word, of which this lane's goes from `at` to `end`, until none is
  // unfinished; at most kRows of them at a time.
  template <bool kExit, int kRows>
  SEMIRA_INLINE unsigned walk_rows(
      Partial<Add>& sum, Index first_row, Offset at, const Offset end, const unsigned lane) const {
    unsigned read = 0, patience = 1;
    unsigned unfinished = __ballot_sync(kAllLanes, at < end);
    while (unfinished != 0) {
      // 2^k rows of 32 / 2^k lanes each: no lane is idle.
      const int count = __popc(unfinished);
      unsigned rows = 1u << (kWarp - 1 - __clz(count < kRows ? count : kRows));
      const Offset left = unfinished >> lane & 1u ? end - at : 0;
      const unsigned most = __reduce_max_sync(
          kAllLanes, left < kAlone ? static_cast<unsigned>(left) : static_cast<unsigned>(kAlone));
      while (kWarp / rows < patience && kWarp / rows * kPullBatch < most) rows /= 2;
      if (patience < kWarp) patience *= 2;
      const unsigned lanes = kWarp / rows;
      const int source = nth_bit(unfinished, lane / lanes);
      const Offset begin = __shfl_sync(kAllLanes, at, source);
      const Offset row_end = __shfl_sync(kAllLanes, end, source);
      const bool had = __shfl_sync(kAllLanes, sum.has, source) != 0;
      Partial<Add> part{shuffle(sum.value, source), had && lane % lanes == 0};
      const Offset first = begin + static_cast<Offset>(lane % lanes);
      read += walk<kExit>(part, first_row + source, first, row_end, static_cast<int>(lanes));
      Offset walked = kPullBatch * static_cast<Offset>(lanes);
      // A row of all lanes goes on until it stops, without what sharing lanes out costs.
      while (rows == 1 && begin + walked < row_end &&
             !__any_sync(kAllLanes, part.template settled<kExit>())) {
        read += walk<kExit>(part, first_row + source, first + walked, row_end, kWarp);
        walked += kPullBatch * kWarp;
      }
      for (unsigned step = lanes / 2; step > 0; step /= 2) {
        part.add(part.of_lane(static_cast<int>(lane ^ step)));
      }
      // Back to the lanes whose rows these were.
      const unsigned rank = __popc(unfinished & ((1u << lane) - 1));
      const bool took_part = (unfinished >> lane & 1u) && rank < rows;
      part = part.of_lane(static_cast<int>(rank % rows * lanes));
      if (took_part) {
        sum = part;
        at += walked;
      }
      unfinished = __ballot_sync(kAllLanes, at < end && !sum.template settled<kExit>());
    }
    return read;
  }
};

// Positions that a warp takes at once: a word of them, or fewer where that leaves warps without.
// Sums that are made in the order of the walk must not depend on the number of warps.
template <bool kExit> SEMIRA_INLINE unsigned rows_of_turn(unsigned rows, unsigned warps) {
  unsigned count = kWarp;
  if (kExit) {
    while (count > 1 && rows / count < warps) count /= 2;
  }
  return count;
}

template <bool kExit, int kRows> SEMIRA_INLINE unsigned turn_of_pull(Index rows, unsigned warps) {
  return rows_of_turn < kExit && kRows != kAlone > (static_cast<unsigned>(rows), warps);
}

// Whether each word of the result is one warp's.
template <bool kExit, int kRows> SEMIRA_INLINE bool pulls_words(const Team& team, Index rows) {
  return turn_of_pull<kExit, kRows>(rows, team.warps) == kWarp;
}

// `out` is empty before, or `stale`: then every word of it is one warp's, and written. `epilogue` is
// called for all positions of a word that has new entries.
template <bool kExit, int kRows, class Semiring, class U, class A, class MaskT, class Degrees,
    class Epilogue = NoEpilogue>
SEMIRA_PHASE void spmv_pull_masked(const Team& team, const Gather<Semiring, U, A> gather,
    Index rows, const MaskT mask, const Plane<SumOf<Semiring>> out, const Degrees degrees,
    Counters* counters, const Epilogue epilogue = {}, const bool stale = false) {
  using Add = typename Semiring::Add;
  Count inserted = 0, touched = 0, edges = 0;
  const unsigned num_rows = static_cast<unsigned>(rows);
  const unsigned turn = turn_of_pull<kExit, kRows>(rows, team.warps);
  for (unsigned first = team.warp * turn; first < num_rows; first += team.warps * turn) {
    const unsigned place = first + team.lane;
    const Index row = static_cast<Index>(place);
    const bool open = team.lane < turn && place < num_rows && mask.allows(row);
    if (!__any_sync(kAllLanes, open)) {
      if (stale && team.lane == 0) out.words[first / kWarp] = 0;
      continue;
    }
    Offset at = open ? gather.matrix.indptr[row] : 0;
    const Offset end = open ? gather.matrix.indptr[row + 1] : 0;
    Partial<Add> sum{typename Add::T{}, false};
    if constexpr (kRows == kAlone) {
      while (at < end && !sum.template settled<kExit>()) {
        touched += gather.template walk<kExit>(sum, row, at, end, 1);
        at += kPullBatch;
      }
    } else {
      if (kExit && turn == kWarp) {
        const Offset alone = end - at < kLaneEdges ? end : at + kLaneEdges;
        while (at < alone && !sum.template settled<kExit>()) {
          touched += gather.template walk<kExit>(sum, row, at, alone, 1);
          at += kPullBatch;
        }
        if (sum.template settled<kExit>()) at = end;
      }
      touched += gather.template walk_rows<kExit, kRows>(
          sum, static_cast<Index>(first), at, end, team.lane);
    }
    // One store of presence a warp.
    const unsigned word = __ballot_sync(kAllLanes, sum.has);
    if (word == 0 && !stale) continue;
    if (team.lane == 0) {
      unsigned& there = out.words[first / kWarp];
      if (turn == kWarp) {
        there = word;
      } else {
        atomicOr(&there, word << (first % kWarp));
      }
    }
    if (sum.has) {
      out.values[row] = sum.value;
      ++inserted;
      if constexpr (Degrees::kCounted) edges += static_cast<Count>(degrees(row));
    }
    epilogue(ByRow{}, row, sum.has, sum.value);
  }
  add_over_block<3>(
      {inserted, touched, edges}, {&counters->inserted, &counters->touched, &counters->edges});
}

// Each row by a whole block. `out` is empty before.
template <bool kExit, class Semiring, class U, class A, class MaskT, class Degrees>
SEMIRA_PHASE void spmv_pull_block(const Team& team, const Gather<Semiring, U, A> gather, Index rows,
    const MaskT mask, const Plane<SumOf<Semiring>> out, const Degrees degrees, Counters* counters) {
  using Add = typename Semiring::Add;
  Count inserted = 0, touched = 0, edges = 0;
  const int threads = static_cast<int>(blockDim.x);
  for (Index row = static_cast<Index>(team.block); row < rows;
      row += static_cast<Index>(team.blocks)) {
    if (!mask.allows(row)) continue;
    const Offset end = gather.matrix.indptr[row + 1];
    Partial<Add> sum{typename Add::T{}, false};
    for (Offset at = gather.matrix.indptr[row]; at < end; at += kPullBatch * threads) {
      touched += gather.template walk<kExit>(
          sum, row, at + static_cast<Offset>(threadIdx.x), end, threads);
      if (kExit && __syncthreads_or(sum.template settled<kExit>())) break;
    }
    reduce_block<Add>(sum.value, sum.has);
    if (threadIdx.x != 0 || !sum.has) continue;
    out.put(row, sum.value);
    ++inserted;
    if constexpr (Degrees::kCounted) edges += static_cast<Count>(degrees(row));
  }
  add_over_block<3>(
      {inserted, touched, edges}, {&counters->inserted, &counters->touched, &counters->edges});
}
