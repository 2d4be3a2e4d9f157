// w = u plus.pair A where u has all entries: each row's sum is its length, so that neither columns
// nor values are looked at, and no row is shared out.
#pragma once
#include "common/control.cuh"
#include "common/mask.cuh"
#include "common/matrix.cuh"
#include "vxm/tiles.cuh"

// Calls `begin` for every row, 32 together, and what that returns with each lane's length of a row.
template <class Add, class A, class MaskT, class Begin>
SEMIRA_PHASE void count_rows(const Team& team, const Compressed<A>& matrix, Index rows,
    const MaskT& mask, Begin begin, Tally& tally) {
  const Offset* const ends = in_global(matrix.indptr);
  const unsigned num_words = (static_cast<unsigned>(rows) + kWarp - 1) / kWarp;
#pragma unroll 2
  for (unsigned w = team.warp; w < num_words; w += team.warps) {
    const unsigned place = w * kWarp + team.lane;
    const Index row = static_cast<Index>(place);
    const bool live = place < static_cast<unsigned>(rows);
    const Offset from = live ? ends[row] : Offset{0}, upto = live ? ends[row + 1] : Offset{0};
    auto finish = begin(row, live);
    const bool has = upto > from && mask.allows(row);
    tally.inserted += has ? 1 : 0;
    tally.touched += has ? static_cast<unsigned>(upto - from) : 0;
    finish(Partial<Add>{static_cast<typename Add::T>(upto - from), has}, tally.edges);
  }
}

// `out` is empty before.
template <class Add, class A, class MaskT, class Degrees>
SEMIRA_PHASE void spmv_pull_lengths(const Team& team, const Compressed<A>& matrix, Index rows,
    const MaskT& mask, const Plane<typename Add::T>& out, const Degrees& degrees,
    Counters* counters) {
  Tally tally = {};
  const auto finish = store_rows(team, out, degrees);
  count_rows<Add>(team, matrix, rows, mask, begins_nothing(finish), tally);
  tally.add_to(counters);
}

// Calls `begin` for the rows as `sum_all_rows` does; where u has all entries they are only counted.
template <bool kOwners, class Semiring, class U, class A, class MaskT, class Begin>
SEMIRA_PHASE void count_all_rows(const Team& team, const SharedGather<Semiring, U, A>& gather,
    Index rows, const MaskT& mask, Begin begin, const Handed<SumOf<Semiring>> handed,
    Tally& tally) {
  if (gather.present == nullptr) {
    count_rows<typename Semiring::Add>(team, gather.matrix, rows, mask, begin, tally);
  } else {
    sum_all_rows<kOwners>(team, gather, rows, mask, begin, handed, tally);
  }
}

// The same where all rows are short.
template <int kLanes, class Semiring, class U, class A, class MaskT, class Begin>
SEMIRA_PHASE void count_short_rows(const Team& team, const SharedGather<Semiring, U, A>& gather,
    Index rows, const MaskT& mask, Begin begin, Tally& tally) {
  if (gather.present == nullptr) {
    count_rows<typename Semiring::Add>(team, gather.matrix, rows, mask, begin, tally);
  } else {
    sum_short_rows<kLanes>(team, gather, rows, mask, begin, tally);
  }
}
