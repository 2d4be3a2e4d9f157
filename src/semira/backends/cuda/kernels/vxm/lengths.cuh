// w = u plus.pair A where u has all entries: each row's sum is its length, so that neither columns
// nor values are looked at, and no row is shared out.
#pragma once
#include "common/control.cuh"
#include "common/mask.cuh"
#include "common/matrix.cuh"
#include "vxm/product.cuh"

// `out` is empty before.
template <class A, class MaskT, class T, class Degrees>
SEMIRA_PHASE void spmv_pull_lengths(const Team& team, const Compressed<A>& matrix, Index rows,
                                    const MaskT& mask, const Plane<T>& out,
                                    const Degrees& degrees, Counters* counters) {
  Count inserted = 0, touched = 0, edges = 0;
  const Offset* const ends = in_global(matrix.indptr);
  const unsigned num_words = (static_cast<unsigned>(rows) + kWarp - 1) / kWarp;
#pragma unroll 2
  for (unsigned w = team.warp; w < num_words; w += team.warps) {
    const unsigned place = w * kWarp + team.lane;
    const Index row = static_cast<Index>(place);
    const bool live = place < static_cast<unsigned>(rows);
    const Offset length = live ? ends[row + 1] - ends[row] : Offset{0};
    const bool has = length > 0 && mask.allows(row);
    const unsigned word = __ballot_sync(kAllLanes, has);
    if (team.lane == 0 && word != 0) out.words[w] = word;
    if (has) {
      out.values[row] = static_cast<T>(length);
      ++inserted;
      touched += static_cast<Count>(length);
      if constexpr (Degrees::kCounted) edges += static_cast<Count>(degrees(row));
    }
  }
  const Count values[3] = {inserted, touched, edges};
  Count* const sums[3] = {&counters->inserted, &counters->touched, &counters->edges};
  add_over_block(values, sums);
}
