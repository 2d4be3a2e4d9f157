// w = u (+).(*) A by rows that have a place for every position, one behind the other. Neighbouring
// lanes read neighbouring positions: a warp a row, or a few lanes where rows are short.
#pragma once
#include "vxm/pull.cuh"

struct DenseDescriptor {
  void* values;   // of all positions, row by row
  void* present;  // a bit for each, every row in whole words; null: all have entries
  long long width;
  long long value_stride;
  long long positions;
};

// `matrix` has the positions in place of its entries, and neither offsets nor indices.
template <class A>
struct Dense {
  const unsigned* __restrict__ present;
  unsigned width;
  Compressed<A> matrix;

  Dense() = default;
  __device__ explicit Dense(const DenseDescriptor& d)
      : present(static_cast<const unsigned*>(d.present)),
        width(static_cast<unsigned>(d.width)),
        matrix{} {
    matrix.values = static_cast<const A*>(d.values);
    matrix.value_stride = static_cast<Offset>(d.value_stride);
    matrix.nvals = d.positions;
  }

  // Lanes that share a row: each has kPullBatch positions of it, and more in a row of all lanes. It
  // follows from the width alone, and so does the order of a sum.
  __device__ __forceinline__ unsigned lanes() const {
    unsigned count = 1;
    while (count < kWarp && count * kPullBatch < width) count *= 2;
    return count;
  }

  // Walks positions first, first + step, ... of a row, kPullBatch in flight; returns entries read.
  template <bool kExit, class Semiring, class U>
  __device__ __forceinline__ unsigned walk(const Gather<Semiring, U, A>& gather,
                                           Partial<typename Semiring::Add>& sum, Index row,
                                           unsigned first, unsigned step) const {
    const size_t words = (width + kWarp - 1) / kWarp;
    const unsigned* here = present == nullptr ? nullptr : present + row * words;
    const Offset begin = row * static_cast<Offset>(width);
    unsigned entry[kPullBatch], word[kPullBatch];
    typename Semiring::Add::T product[kPullBatch];
    unsigned read = 0;
#pragma unroll
    for (int b = 0; b < kPullBatch; ++b) {
      const unsigned k = first + b * step;
      entry[b] = word[b] = k < width ? ~0u : 0;
      if (here != nullptr && k < width) entry[b] = here[k / kWarp];
      if (gather.present != nullptr && k < width) word[b] = gather.present[k / kWarp];
    }
#pragma unroll
    for (int b = 0; b < kPullBatch; ++b) {
      const unsigned k = first + b * step;
      entry[b] = entry[b] >> (k % kWarp) & 1u;
      read += entry[b];
      word[b] = word[b] >> (k % kWarp) & entry[b];
      if (word[b] == 0) continue;
      product[b] = multiply<Semiring>(gather.u, matrix, static_cast<Index>(k), row,
                                      begin + static_cast<Offset>(k));
    }
#pragma unroll
    for (int b = 0; b < kPullBatch; ++b) {
      if (word[b] != 0 && !sum.template settled<kExit>()) sum.add(product[b]);
    }
    return read;
  }
};

// `out` is empty before.
template <bool kExit, class Semiring, class U, class A, class MaskT, class Degrees>
SEMIRA_PHASE void spmv_pull_dense(const Team& team, const Gather<Semiring, U, A> gather,
                                  const Dense<A>& rows_of, Index rows, const MaskT mask,
                                  const Plane<typename Semiring::Add::T> out,
                                  const Degrees degrees, Counters* counters) {
  using Add = typename Semiring::Add;
  Count inserted = 0, touched = 0, edges = 0;
  const unsigned num_rows = static_cast<unsigned>(rows), width = rows_of.width;
  const unsigned lanes = rows_of.lanes(), turn = kWarp / lanes, part = team.lane % lanes;
  const unsigned mates = (kAllLanes >> (kWarp - lanes)) << (team.lane - part);
  for (unsigned first = team.warp * turn; first < num_rows; first += team.warps * turn) {
    const unsigned place = first + team.lane / lanes;
    const Index row = static_cast<Index>(place);
    bool goes_on = place < num_rows && mask.allows(row);
    if (!__any_sync(kAllLanes, goes_on)) continue;
    Partial<Add> sum{typename Add::T{}, false};
    for (unsigned k = 0; k < width; k += kPullBatch * lanes) {
      if (goes_on) touched += rows_of.template walk<kExit>(gather, sum, row, k + part, lanes);
      if constexpr (kExit) {
        const unsigned settled = __ballot_sync(kAllLanes, sum.template settled<kExit>());
        goes_on = goes_on && (settled & mates) == 0;
        if (!__any_sync(kAllLanes, goes_on)) break;
      }
    }
    for (unsigned step = lanes / 2; step > 0; step /= 2) {
      const int other = static_cast<int>(team.lane ^ step);
      const bool has = __shfl_sync(kAllLanes, sum.has, other) != 0;
      const typename Add::T value = shuffle(sum.value, other);
      if (has) sum.add(value);
    }
    const bool is_found = part == 0 && sum.has;
    const unsigned word = __reduce_or_sync(kAllLanes, is_found ? 1u << (place % kWarp) : 0u);
    if (word == 0) continue;
    if (team.lane == 0) {
      unsigned& there = out.words[first / kWarp];
      if (turn == kWarp) {
        there = word;
      } else {
        atomicOr(&there, word);
      }
    }
    if (is_found) {
      out.values[row] = sum.value;
      ++inserted;
      if constexpr (Degrees::kCounted) edges += static_cast<Count>(degrees(row));
    }
  }
  const Count values[3] = {inserted, touched, edges};
  Count* const sums[3] = {&counters->inserted, &counters->touched, &counters->edges};
  add_over_block(values, sums);
}
