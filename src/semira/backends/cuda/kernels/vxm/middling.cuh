// Rows of middle length, none much longer than the others: a warp takes 32, multiplies their entries,
// whichever row they belong to, and leaves the products in shared memory, where each lane adds up
// its own row, from left to right.
#pragma once
#include "vxm/short.cuh"

// The longest row. A stripe's segmented scan (vxm/stripe.cuh) takes 400 instructions for 128 entries;
// here products take a hundred, and a lane two for each entry of the longest row of 32.
constexpr int kLongestMiddling = 64;
// Most warps of a block that have room for products, and the room of each.
constexpr unsigned kStagingWarps = 16;
constexpr int kStageBytes = 1024;

// Of every product of a program; they do not stage at the same time.
SEMIRA_INLINE unsigned char* stage_of_warp() {
  __shared__ __align__(16) unsigned char rooms[kStagingWarps * kStageBytes];
  return rooms + threadIdx.x / kWarp * kStageBytes;
}
SEMIRA_INLINE unsigned char* gaps_of_warp() {
  __shared__ unsigned char rooms[kStagingWarps * 2 * kWarp];
  return rooms + threadIdx.x / kWarp * 2 * kWarp;
}

template <class A> SEMIRA_INLINE bool is_middling(const Compressed<A>& matrix) {
  return matrix.longest <= kLongestMiddling && blockDim.x <= kStagingWarps * kWarp;
}

// The rows of a word and the room for products of some of their entries: of two stripes, or of one
// where values are large.
template <bool kOwners, class Semiring, class U, class A> struct MiddlingRows {
  using Add = typename Semiring::Add;
  using T = typename Add::T;
  static constexpr int kItems = kLaneItems<T>, kStripe = kItems * kWarp;
  static constexpr int kStripes = sizeof(T) <= 4 ? 2 : 1, kStage = kStripes * kStripe;
  static_assert(kStage * sizeof(T) <= kStageBytes);
  using Products = Pack<T, kItems>;

  const SharedGather<Semiring, U, A>& gather;
  const Rows& rows;
  bool strided;  // each entry has a value of its own
  T* stage;
  unsigned char* gaps;  // of each lane, stripe by stripe: which products there are

  // The stripes from `base` on, all of whose entries may be loaded, for a vector without gaps. Lanes
  // whose entries lie behind `stop` take the first ones, and nobody looks at their products.
  SEMIRA_INLINE void stage_all(int base, int stop) const {
    const Compressed<A>& matrix = gather.matrix;
    const Offset at = rows.origin + base;
    Pack<Index, kItems> column[kStripes];
    Pack<A, kItems> a[kStripes];
    SEMIRA_UNROLLED(h, kStripes) {
      const int mine = kItems * (h * kWarp + rows.lane);
      const Offset from = at + (base + mine < stop ? mine : 0);
      column[h] = load_once(reinterpret_cast<const Pack<Index, kItems>*>(matrix.indices + from));
      if constexpr (kReadsMatrix<Semiring>) {
        if (strided)
          a[h] = load_once(reinterpret_cast<const Pack<A, kItems>*>(matrix.values + from));
      }
    }
    if constexpr (kReadsMatrix<Semiring>) {
      if (!strided) {
        const A value = in_global(matrix.values)[0];
        SEMIRA_UNROLLED(h, kStripes) {
          SEMIRA_UNROLLED(k, kItems) a[h].items[k] = value;
        }
      }
    }
    U x[kStripes][kItems] = {};
    if constexpr (kReadsU<Semiring>) {
      SEMIRA_UNROLLED(h, kStripes) {
        SEMIRA_UNROLLED(k, kItems) x[h][k] = in_global(gather.u)[column[h].items[k]];
      }
    }
    SEMIRA_UNROLLED(h, kStripes) {
      Products z;
      SEMIRA_UNROLLED(k, kItems) {
        z.items[k] = multiply_values<Semiring>(x[h][k], a[h].items[k], column[h].items[k], 0);
      }
      reinterpret_cast<Products*>(stage)[h * kWarp + rows.lane] = z;
    }
  }

  // The same of any, low <= entry < stop.
  SEMIRA_INLINE void stage_some(int base, int low, int stop) const {
#pragma unroll 1
    for (int h = 0; h < kStripes; ++h) {
      Products z;
      gaps[h * kWarp + rows.lane] = static_cast<unsigned char>(
          multiply_stripe<kOwners, false>(gather, rows, base + h * kStripe, low, stop, z.items));
      reinterpret_cast<Products*>(stage)[h * kWarp + rows.lane] = z;
    }
  }

  // Sums the rows, whose entries are those from `from` to `upto`; each lane gets its row's.
  SEMIRA_INLINE Partial<Add> sum_word(int from, int upto) const {
    Partial<Add> sum{T{}, false};
    const bool is_full = !kOwners && gather.present == nullptr;
#pragma unroll 1
    for (int base = 0; base < upto; base += kStage) {
      const int low = base > from ? base : from;
      const int stop = base + kStage < upto ? base + kStage : upto;
      const bool all = is_full && base + kStage <= rows.whole;
      if (all) {
        stage_all(base, stop);
      } else {
        stage_some(base, low, stop);
      }
      __syncwarp();
      const int begin = (rows.begin > low ? rows.begin : low) - base;
      const int end = rows.live ? (rows.end < stop ? rows.end : stop) - base : 0;
      if (all) {
        if (begin < end) {
          int e = begin;
          if (!sum.has) sum = Partial<Add>{stage[e++], true};
          for (; e < end; ++e) sum.value = Add::apply(sum.value, stage[e]);
        }
      } else {
        for (int e = begin; e < end; ++e) {
          if (gaps[e / kItems] >> (e % kItems) & 1u) sum.add(stage[e]);
        }
      }
      __syncwarp();
    }
    return sum;
  }
};

// `out` is empty before.
template <bool kOwners, class Semiring, class U, class A, class MaskT, class Degrees>
SEMIRA_PHASE void spmv_pull_middling(const Team& team, const SharedGather<Semiring, U, A>& gather,
    Index rows, const MaskT& mask, const Plane<SumOf<Semiring>>& out, const Degrees& degrees,
    Counters* counters) {
  using T = SumOf<Semiring>;
  using Walk = MiddlingRows<kOwners, Semiring, U, A>;
  const Compressed<A>& matrix = gather.matrix;
  const unsigned size = static_cast<unsigned>(rows);
  const unsigned num_words = (size + kWarp - 1) / kWarp;
  const bool packed = is_packed<Walk::kItems>(matrix.indices) &&
                      (matrix.value_stride == 0 || is_packed<Walk::kItems>(matrix.values));
  Tally tally = {};
  const auto finish = store_rows(team, out, degrees);
  auto bound_of = [&](unsigned w, int which) {
    const unsigned row = w * kWarp + team.lane;
    return w < num_words && row < size ? in_global(matrix.indptr)[row + which] : Offset{0};
  };
  Offset next_begin = bound_of(team.warp, 0), next_end = bound_of(team.warp, 1);
  for (unsigned w = team.warp; w < num_words; w += team.warps) {
    const Index row = static_cast<Index>(w * kWarp + team.lane);
    const Offset begin = next_begin, end = next_end;
    // On their way while these rows are summed.
    next_begin = bound_of(w + team.warps, 0);
    next_end = bound_of(w + team.warps, 1);
    Rows window;
    window.lane = static_cast<int>(team.lane);
    const Offset first = __shfl_sync(kAllLanes, begin, 0);
    window.origin = first - first % Walk::kItems;
    const long long whole = packed ? matrix.nvals - window.origin : 0;
    window.whole = static_cast<int>(whole < kAlone ? whole : kAlone);
    window.first = static_cast<Index>(w * kWarp);
    // Behind the last row there is nothing.
    const bool is_row = static_cast<unsigned>(row) < size;
    window.begin = is_row ? static_cast<int>(begin - window.origin) : 0;
    window.end = is_row ? static_cast<int>(end - window.origin) : 0;
    window.live = window.end > window.begin && mask.allows(row);
    if (window.live) tally.touched += static_cast<unsigned>(window.end - window.begin);
    const int upto = __reduce_max_sync(kAllLanes, window.live ? window.end : 0);
    if constexpr (kOwners) {
      const int last = __reduce_max_sync(kAllLanes, window.end);
      if (!is_row) window.end = last;
    }
    const Walk walk{gather, window, matrix.value_stride != 0, reinterpret_cast<T*>(stage_of_warp()),
        gaps_of_warp()};
    const auto sum = walk.sum_word(static_cast<int>(first - window.origin), upto);
    tally.inserted += sum.has ? 1 : 0;
    finish(row, is_row, sum, tally.edges);
  }
  tally.add_to(counters);
}
