// Parts that push and pull share: the multiplication and the degrees of a frontier.
#pragma once
#include "common/atomics.cuh"
#include "common/control.cuh"
#include "common/mask.cuh"
#include "common/matrix.cuh"

// What else happens to an entry of the result: nothing. By entry it is called by the thread that owns
// one; by row by all lanes of a warp, which have positions of one word side by side.
struct ByEntry {
  static constexpr bool kRows = false;
};
struct ByRow {
  static constexpr bool kRows = true;
};
struct NoEpilogue {
  template <class By, class T> SEMIRA_INLINE void operator()(By, Index, bool, const T&) const {}
};

// Which of a product's values the multiplication reads.
template <class Semiring>
constexpr bool kReadsU =
    Semiring::kVectorFirst ? Semiring::Multiply::kReadsA : Semiring::Multiply::kReadsB;
template <class Semiring>
constexpr bool kReadsMatrix =
    Semiring::kVectorFirst ? Semiring::Multiply::kReadsB : Semiring::Multiply::kReadsA;

// multiply(u_k, A_kj) for vxm, multiply(A_ik, u_k) for mxv. `from` is k, `to` the output position.
template <class Semiring, class U, class A>
SEMIRA_INLINE SumOf<Semiring> multiply_values(U u, A entry, Index from, Index to) {
  using Op = typename Semiring::Multiply;
  using T = typename Op::T;
  T x{}, a{};
  if constexpr (kReadsU<Semiring>) x = cast<T>(u);
  if constexpr (kReadsMatrix<Semiring>) a = cast<T>(entry);
  if constexpr (Semiring::kVectorFirst) {
    return cast<SumOf<Semiring>>(Op::apply(x, a, 0, from, to));
  } else {
    return cast<SumOf<Semiring>>(Op::apply(a, x, to, from, 0));
  }
}

// The same of values in memory; those that the operator ignores are not loaded.
template <class Semiring, class U, class A>
SEMIRA_INLINE SumOf<Semiring> multiply(
    const U* u, const Compressed<A>& matrix, Index from, Index to, Offset at) {
  U x{};
  A a{};
  if constexpr (kReadsU<Semiring>) x = u[from];
  if constexpr (kReadsMatrix<Semiring>) a = matrix.value(at);
  return multiply_values<Semiring>(x, a, from, to);
}

// Sum of the degrees of a vector's entries.
template <class U>
SEMIRA_PHASE void sum_degrees(
    const Team& team, const Vector<U>& u, DrivenDegrees degrees, Count* sum) {
  Count mine = 0;
  if (u.listed) {
    for (unsigned k = team.thread; k < static_cast<unsigned>(u.nvals); k += team.threads) {
      mine += static_cast<Count>(degrees(u.here.list[k]));
    }
  } else {
    for_each_word(team, u.here.words, u.num_words(), [&](unsigned w, unsigned word) {
      if (word >> team.lane & 1u) mine += static_cast<Count>(degrees(w * kWarp + team.lane));
    });
  }
  add_over_block<1>({mine}, {sum});
}

// Entries of a list, or words, that a block counts for itself rather than wait for the others: four
// loads of a thread, one after the other, take about as long as a barrier of the grid.
constexpr unsigned kCountedAlone = 2048;

template <class U> SEMIRA_INLINE bool is_counted_alone(const Vector<U>& u) {
  return (u.listed ? static_cast<unsigned>(u.nvals) : u.num_words()) <= kCountedAlone;
}

// The same sum, which every block makes for itself; all threads of the block get it.
template <class U> SEMIRA_INLINE Count count_degrees(const Vector<U>& u, DrivenDegrees degrees) {
  __shared__ Count partial[kWarp];
  __shared__ Count sum;
  Count mine = 0;
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp;
  if (u.listed) {
    for (unsigned k = threadIdx.x; k < static_cast<unsigned>(u.nvals); k += blockDim.x) {
      mine += static_cast<Count>(degrees(u.here.list[k]));
    }
  } else {
    for (unsigned w = warp; w < u.num_words(); w += warps) {
      if (u.here.words[w] >> lane & 1u) mine += static_cast<Count>(degrees(w * kWarp + lane));
    }
  }
  mine = add_over_warp(mine);
  if (lane == 0) partial[warp] = mine;
  __syncthreads();
  if (warp == 0) {
    const Count all = add_over_warp(lane < warps ? partial[lane] : 0);
    if (lane == 0) sum = all;
  }
  __syncthreads();
  return sum;
}
