// w = u (+).(*) A by padded rows: a thread a row. Entry t of a slice's r-th row lies at
// t * height + r, so that the lanes of a warp, which take neighbouring rows, read neighbouring words.
#pragma once
#include "vxm/pull.cuh"

struct EllDescriptor {
  void* starts;   // of each slice: its first slot, in 64 bits
  void* indices;  // -1: padding, which stands behind the entries of its row
  void* values;
  void* lengths;  // entries of each row; null: told by padding
  long long height;
  long long value_stride;
  long long nvals;
};

// `matrix` has the slots in place of its entries, and no offsets.
template <class A>
struct Ell {
  const long long* __restrict__ starts;
  const Index* __restrict__ lengths;
  Index height;
  Compressed<A> matrix;

  Ell() = default;
  __device__ explicit Ell(const EllDescriptor& d)
      : starts(static_cast<const long long*>(d.starts)),
        lengths(static_cast<const Index*>(d.lengths)),
        height(static_cast<Index>(d.height)),
        matrix{} {
    matrix.indices = static_cast<const Index*>(d.indices);
    matrix.values = static_cast<const A*>(d.values);
    matrix.value_stride = static_cast<Offset>(d.value_stride);
    matrix.nvals = d.nvals;
  }

  // First slot of a row, and one behind the last that may hold an entry.
  __device__ __forceinline__ void row(Index i, Offset& at, Offset& end) const {
    const Index slice = i / height;
    at = static_cast<Offset>(starts[slice] + i % height);
    // Every slot of the slice lies before the next one's first.
    end = lengths != nullptr ? at + lengths[i] * static_cast<Offset>(height)
                             : static_cast<Offset>(starts[slice + 1]);
  }
};

// `out` is empty before.
template <bool kExit, class Semiring, class U, class A, class MaskT, class Degrees>
SEMIRA_PHASE void spmv_pull_padded(const Team& team, const Gather<Semiring, U, A> gather,
                                   const Ell<A>& rows_of, Index rows, const MaskT mask,
                                   const Plane<typename Semiring::Add::T> out,
                                   const Degrees degrees, Counters* counters) {
  using Add = typename Semiring::Add;
  Count inserted = 0, touched = 0, edges = 0;
  const int height = static_cast<int>(rows_of.height);
  const unsigned num_words = (static_cast<unsigned>(rows) + kWarp - 1) / kWarp;
  for (unsigned w = team.warp; w < num_words; w += team.warps) {
    const unsigned place = w * kWarp + team.lane;
    const Index row = static_cast<Index>(place);
    Partial<Add> sum{typename Add::T{}, false};
    if (place < static_cast<unsigned>(rows) && mask.allows(row)) {
      Offset at, end;
      rows_of.row(row, at, end);
      while (at < end && !sum.template settled<kExit>()) {
        const unsigned read = gather.template walk<kExit>(sum, row, at, end, height);
        touched += read;
        if (read < kPullBatch) break;
        at += kPullBatch * static_cast<Offset>(height);
      }
    }
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
