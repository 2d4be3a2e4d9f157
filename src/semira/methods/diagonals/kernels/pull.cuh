// Short rows whose entries lie on few diagonals of their matrix: a lane reads its row as bits, one
// for each distance between a column and its row (`Compressed::diagonals`), in place of columns and
// offsets. Lanes that have the same diagonal read neighbouring values of the vector.
//
// Bits rise as columns do, so entries come in the order of the other walk (vxm/short.cuh). Where
// two lanes share a row there, one has its first, third, ... entry and the other the rest: here a
// lane adds these up apart, and then both. So sums are the same to the last bit.
#pragma once
#include "semira.methods.diagonals.kernels:bits.cuh"
#include "vxm/short.cuh"

// The rows of a word of presence, a lane a row, as if kLanes lanes had summed each.
template <int kLanes, class Semiring, class U, class A, class Held>
struct DiagonalRows {
  using Add = typename Semiring::Add;
  using T = typename Add::T;
  using Op = typename Semiring::Multiply;
  static_assert(kLanes == 1 || kLanes == 2);
  static constexpr bool kReadsU = Semiring::kVectorFirst ? Op::kReadsA : Op::kReadsB;
  // Diagonals whose values are under way at once: of most rows all entries.
  static constexpr int kBatch = kShortBatch;

  const Gather<Semiring, U, A, Held>& gather;
  const A value;  // that all entries share, if it is read
  Index row;
  Partial<Add> part[kLanes];
  unsigned rank;  // entries so far, whether the vector has something there or not

  // Adds the entries on kBatch diagonals, of which the row has those in the low bits of `bits`.
  __device__ __forceinline__ void add(const Index (&distance)[kBatch], unsigned bits) {
    Index from[kBatch];
    bool hit[kBatch];
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      // Without its bit it may be no position at all.
      from[b] = static_cast<Index>(static_cast<unsigned>(row) + static_cast<unsigned>(distance[b]));
      hit[b] = bits >> b & 1u;
    }
    if (gather.present != nullptr) {
#pragma unroll
      for (int b = 0; b < kBatch; ++b) hit[b] = hit[b] && has(from[b]);
    }
    U x[kBatch];
    if constexpr (kReadsU) {
      // As in `ShortRows`: any value will do where nothing was hit, so that this needs no branch.
      const U* const u = in_global(gather.u);
#pragma unroll
      for (int b = 0; b < kBatch; ++b) x[b] = u[hit[b] ? from[b] : 0];
    }
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      if (hit[b]) {
        const T z = multiply_values<Semiring>(x[b], value, from[b], row);
        if (kLanes == 2 && rank % 2 != 0) {
          part[kLanes - 1].add(z);
        } else {
          part[0].add(z);
        }
      }
      if constexpr (kLanes == 2) rank += bits >> b & 1u;
    }
  }

  __device__ __forceinline__ bool has(Index from) const {
    const unsigned place = static_cast<unsigned>(from);
    return in_global(gather.present)[place / kWarp] >> (place % kWarp) & 1u;
  }

  __device__ __forceinline__ Partial<Add> sum() const {
    Partial<Add> both = part[0];
    if constexpr (kLanes == 2) {
      if (part[1].has) both.add(part[1].value);
    }
    return both;
  }
};

// As `sum_short_rows`, of a matrix with `diagonals` whose values are not read, or all one.
template <int kLanes, bool kFilled = false, class Semiring, class U, class A, class Held, class MaskT,
          class Begin>
SEMIRA_PHASE void sum_diagonals(const Team& team, const Gather<Semiring, U, A, Held>& gather,
                                Index rows, const MaskT& mask, Begin begin, Tally& tally,
                                unsigned from = 0) {
  using Walk = DiagonalRows<kLanes, Semiring, U, A, Held>;
  using Op = typename Semiring::Multiply;
  constexpr bool kReadsMatrix = Semiring::kVectorFirst ? Op::kReadsB : Op::kReadsA;
  constexpr int kBatch = Walk::kBatch;
  constexpr bool kPaired = kLanes == 1;
  const Index* const distances = in_global(gather.matrix.diagonals);
  const Index count = gather.matrix.num_diagonals;
  const void* const rest = distances + kMostDiagonals;
  const bool is_narrow = count <= kNarrowDiagonals;
  const unsigned size = static_cast<unsigned>(rows);
  const unsigned num_words = (kFilled ? size : size + kWarp - 1) / kWarp;
  auto bits_of = [&](unsigned w) -> unsigned {
    // There are bits, all 0, behind the last row.
    const unsigned row = w * kWarp + team.lane;
    if (w >= num_words) return 0;
    return is_narrow ? in_global(static_cast<const unsigned char*>(rest))[row]
                     : in_global(static_cast<const unsigned*>(rest))[row];
  };
  A value{};
  if constexpr (kReadsMatrix) value = *in_global(gather.matrix.values);
  Index near[kBatch];
#pragma unroll
  for (int b = 0; b < kBatch; ++b) near[b] = distances[b];
  auto row_of = [&](unsigned w) { return static_cast<Index>(w * kWarp + team.lane); };
  auto allowed = [&](Index row, unsigned bits) -> unsigned {
    const unsigned left = bits != 0 && mask.allows(row) ? bits : 0;
    tally.touched += static_cast<unsigned>(__popc(left));
    return left;
  };
  auto sum_of = [&](Index row, unsigned bits) {
    Walk walk{gather, value, row, {}, 0};
    walk.add(near, bits);
    for (int k = kBatch; k < count; k += kBatch) {
      if (!__any_sync(kAllLanes, bits >> k != 0)) break;
      Index far[kBatch];
#pragma unroll
      for (int b = 0; b < kBatch; ++b) far[b] = distances[k + b];
      walk.add(far, bits >> k);
    }
    const Partial<typename Semiring::Add> sum = walk.sum();
    tally.inserted += sum.has ? 1 : 0;
    return sum;
  };
  unsigned w = from + team.warp;
  unsigned next = bits_of(w);
  if constexpr (kFilled && kPaired) {
    // Two words at a time: their values are under way together.
    unsigned second = bits_of(w + team.warps);
    for (; w + team.warps < num_words; w += 2 * team.warps) {
      const Index row = row_of(w), other = row_of(w + team.warps);
      const unsigned bits = allowed(row, next), others = allowed(other, second);
      next = bits_of(w + 2 * team.warps);
      second = bits_of(w + 3 * team.warps);
      auto finish = begin(row, Always{});
      auto finish_other = begin(other, Always{});
      const auto sum = sum_of(row, bits);
      const auto other_sum = sum_of(other, others);
      finish(sum, tally.edges);
      finish_other(other_sum, tally.edges);
    }
  }
  for (; w < num_words; w += team.warps) {
    const Index row = row_of(w);
    const unsigned bits = allowed(row, next);
    // On their way while these rows are summed.
    next = bits_of(w + team.warps);
    if constexpr (kFilled) {
      auto finish = begin(row, Always{});
      finish(sum_of(row, bits), tally.edges);
    } else {
      auto finish = begin(row, static_cast<unsigned>(row) < size);
      finish(sum_of(row, bits), tally.edges);
    }
  }
}

// `out` is empty before.
template <int kLanes, class Semiring, class U, class A, class MaskT, class Degrees>
SEMIRA_PHASE void spmv_pull_diagonals(const Team& team, const SharedGather<Semiring, U, A>& gather,
                                      Index rows, const MaskT& mask,
                                      const Plane<typename Semiring::Add::T>& out,
                                      const Degrees& degrees, Counters* counters) {
  Tally tally = {};
  const Plane<typename Semiring::Add::T> plane = out;
  const auto finish = store_rows(team, plane, degrees);
  const auto begin = begins_nothing(finish);
  unsigned done = 0;
  if constexpr (Same<MaskT, NoMask>::value) {
    // A copy for a vector without gaps, as in `spmv_pull_short`.
    if (gather.present == nullptr) {
      sum_diagonals<kLanes, true>(team, gather.of_full(), rows, mask, begin, tally);
      done = static_cast<unsigned>(rows) / kWarp;
    }
  }
  sum_diagonals<kLanes>(team, gather, rows, mask, begin, tally, done);
  tally.add_to(counters);
}
