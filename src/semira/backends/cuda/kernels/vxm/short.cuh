// Rows that are short: one or two lanes a row, the first entries of 32 rows asked for at once. The
// few rows that have more are walked on.
#pragma once
#include "vxm/stripe.cuh"

// Entries of each of its rows that a lane has in flight.
constexpr int kShortBatch = 4;
// On an H200 (bench/notes/spmv.md) pairs of lanes do rows of 2, 4 and 8 entries in 15, 16 and 36 us
// where a stream takes 35, 41 and 56.
constexpr int kShortRow = 2 * kShortBatch;
// Longest row, and mean length, of matrices with a few longer rows that are taken this way too: a
// road network has junctions of nine roads, a triangulation has six neighbours on average. On a
// triangulation of 65,536 points it takes PageRank from 25 to 15 us an iteration.
constexpr int kLongestShort = 32, kMeanShort = 8;

template <class A> SEMIRA_INLINE bool is_short(const Compressed<A>& matrix, Index rows) {
  if (matrix.longest <= kShortRow) return true;
  return matrix.longest <= kLongestShort &&
         matrix.nvals <= static_cast<long long>(kMeanShort) * rows;
}

// One lane is enough for a row, on average: half of the instructions, which bound large matrices.
template <class A> SEMIRA_INLINE bool is_for_one_lane(const Compressed<A>& matrix, Index rows) {
  return matrix.nvals <= static_cast<long long>(kShortBatch) * rows;
}

// What a thread counts while rows are summed.
struct Tally {
  unsigned inserted, touched;
  Count edges;

  // All threads of the block.
  SEMIRA_INLINE void add_to(Counters* counters) const {
    add_over_block<3>(
        {inserted, touched, edges}, {&counters->inserted, &counters->touched, &counters->edges});
  }
};

// What each thread asks for first in a walk over short rows, kept in shared memory from one walk over
// a matrix to the next: barriers of the grid empty the cache, and L2 answers twice before a value of the
// vector is asked for. On small graphs that is all of the rows.
struct KeptRows {
  static constexpr int kThreads = 512, kColumns = 2 * kShortBatch;
  Offset begin[kThreads], end[kThreads];
  Index columns[kColumns][kThreads];
};

// The rows of a word of presence, kLanes lanes a row and kLanes rows a lane. With kHot the kernel has
// pulls with a table of hot columns: what saves instructions here took registers of theirs.
template <int kLanes, bool kHot, class Semiring, class U, class A, class Held> struct ShortRows {
  using Add = typename Semiring::Add;
  using T = typename Add::T;
  static_assert(kLanes == 1 || kLanes == 2);
  static constexpr int kRows = kLanes, kApart = kWarp / kRows;

  const Gather<Semiring, U, A, Held>& gather;
  int lane;
  Offset begin;  // of this lane's row
  int length;

  SEMIRA_INLINE bool has(Index from) const {
    const unsigned place = static_cast<unsigned>(from);
    return in_global(gather.present)[place / kWarp] >> (place % kWarp) & 1u;
  }

  // Of the row that lane `source` looked up.
  SEMIRA_INLINE Offset begin_of(int source) const {
    return kLanes == 1 ? begin : __shfl_sync(kAllLanes, begin, source);
  }
  SEMIRA_INLINE int length_of(int source) const {
    return kLanes == 1 ? length : __shfl_sync(kAllLanes, length, source);
  }

  // Sums the rows; lane k gets the sum of row k. Their columns are taken from `kept` if they
  // are there, and left there if there is such a place.
  SEMIRA_INLINE Partial<Add> sum_word(
      Index first_row, KeptRows* kept = nullptr, bool is_kept = false) const {
    const Compressed<A>& matrix = gather.matrix;
    const int rank = lane % kLanes;
    Index column[kRows][kShortBatch];
    A a[kRows][kShortBatch];
    bool hit[kRows][kShortBatch];
    SEMIRA_UNROLLED(h, kRows) {
      const int source = h * kApart + lane / kLanes;
      const Offset row_begin = begin_of(source);
      const int row_length = length_of(source);
      SEMIRA_UNROLLED(b, kShortBatch) {
        const int e = kLanes * b + rank;
        const Offset at = row_begin + e;
        hit[h][b] = e < row_length;
        if (is_kept) {
          column[h][b] = kept->columns[h * kShortBatch + b][threadIdx.x];
        } else {
          column[h][b] = hit[h][b] ? in_global(matrix.indices)[at] : 0;
          if (kept != nullptr) kept->columns[h * kShortBatch + b][threadIdx.x] = column[h][b];
        }
        if constexpr (kReadsMatrix<Semiring>) {
          a[h][b] = hit[h][b] ? in_global(matrix.values)[at * matrix.value_stride] : A{};
        }
      }
    }
    if (gather.present != nullptr) {
      SEMIRA_UNROLLED(h, kRows) {
        SEMIRA_UNROLLED(b, kShortBatch) hit[h][b] = hit[h][b] && has(column[h][b]);
      }
    }
    U x[kRows][kShortBatch];
    if constexpr (kReadsU<Semiring>) {
      // Where nothing was hit any value will do. The first is there even if `u` has no positions
      // (`plane_sizes`), so that this needs no branch.
      const U* const u = in_global(gather.u);
      SEMIRA_UNROLLED(h, kRows) {
        SEMIRA_UNROLLED(b, kShortBatch) x[h][b] = u[hit[h][b] ? column[h][b] : 0];
      }
    }
    Partial<Add> sum{T{}, false};
    SEMIRA_UNROLLED(h, kRows) {
      const int source = h * kApart + lane / kLanes;
      const Index to = first_row + source;
      Partial<Add> part{T{}, false};
      SEMIRA_UNROLLED(b, kShortBatch) {
        if (!hit[h][b]) continue;
        const T z = multiply_values<Semiring>(x[h][b], a[h][b], column[h][b], to);
        if (!kHot && b > 0 && gather.present == nullptr) {
          // A lane that has this entry has the one before.
          part.value = Add::apply(part.value, z);
        } else {
          part.add(z);
        }
      }
      walk_on(source, to, part);
      if constexpr (kLanes == 1) {
        sum = part;
      } else {
        const Partial<Add> both = over_lanes(part);
        if (lane / kApart == h) sum = both;
      }
    }
    return sum;
  }

  // The entries of a row behind those that were asked for at once.
  SEMIRA_INLINE void walk_on(int source, Index to, Partial<Add>& part) const {
    const Compressed<A>& matrix = gather.matrix;
    const int row_length = length_of(source);
    const Offset row_begin = begin_of(source);
    int e = kLanes * kShortBatch + lane % kLanes;
    for (; __any_sync(kAllLanes, e < row_length); e += kLanes) {
      if (e >= row_length) continue;
      const Offset at = row_begin + e;
      const Index from = in_global(matrix.indices)[at];
      if (gather.present != nullptr && !has(from)) continue;
      part.add(multiply<Semiring>(gather.u, matrix, from, to, at));
    }
  }

  // Adds up what the two lanes of a row have; lane k gets what the row of lane 2 k came to.
  SEMIRA_INLINE Partial<Add> over_lanes(Partial<Add> part) const {
    part.add(part.of_lane(lane ^ 1));
    return part.of_lane(kLanes * (lane % kApart));
  }
};

// Calls `begin` for every row, 32 together, from the word `from` on; and what that returns when the
// rows are summed: with what each lane's row came to, and a Count to which it may add the edges that
// the row will drive. With kFilled only for the rows of words that have 32. Sums of floats depend on
// the lanes of a row.
template <int kLanes, bool kFilled = false, bool kHot = false, class Semiring, class U, class A,
    class Held, class MaskT, class Begin>
SEMIRA_PHASE void sum_short_rows(const Team& team, const Gather<Semiring, U, A, Held>& gather,
    Index rows, const MaskT& mask, Begin begin, Tally& tally, unsigned from = 0,
    KeptRows* kept = nullptr, bool is_kept = false) {
  const Compressed<A>& matrix = gather.matrix;
  const unsigned size = static_cast<unsigned>(rows);
  const unsigned num_words = (kFilled ? size : size + kWarp - 1) / kWarp;
  // Where the row of this lane begins and ends; 0 behind the last one.
  auto bound_of = [&](unsigned w, int which) {
    const unsigned row = w * kWarp + team.lane;
    return w < num_words && (kFilled || row < size) ? in_global(matrix.indptr)[row + which]
                                                    : Offset{0};
  };
  Offset next_begin, next_end;
  if (is_kept) {
    next_begin = kept->begin[threadIdx.x];
    next_end = kept->end[threadIdx.x];
  } else {
    next_begin = bound_of(from + team.warp, 0);
    next_end = bound_of(from + team.warp, 1);
    if (kept != nullptr) {
      kept->begin[threadIdx.x] = next_begin;
      kept->end[threadIdx.x] = next_end;
    }
  }
  for (unsigned w = from + team.warp; w < num_words; w += team.warps) {
    const Index row = static_cast<Index>(w * kWarp + team.lane);
    const bool live = next_end > next_begin && mask.allows(row);
    const int length = live ? static_cast<int>(next_end - next_begin) : 0;
    const ShortRows<kLanes, kHot, Semiring, U, A, Held> walk{
        gather, static_cast<int>(team.lane), next_begin, length};
    tally.touched += static_cast<unsigned>(length);
    // On their way while these rows are summed.
    next_begin = bound_of(w + team.warps, 0);
    next_end = bound_of(w + team.warps, 1);
    auto sum_up = [&](auto finish) {
      const auto sum = walk.sum_word(static_cast<Index>(w * kWarp), kept, is_kept);
      // Only for the first rows of a warp.
      kept = nullptr;
      is_kept = false;
      tally.inserted += sum.has ? 1 : 0;
      finish(sum, tally.edges);
    };
    if constexpr (kFilled) {
      sum_up(begin(row, Always{}));
    } else {
      sum_up(begin(row, static_cast<unsigned>(row) < size));
    }
  }
}

// Of what does nothing before a row is summed.
template <class Finish> SEMIRA_INLINE auto begins_nothing(const Finish& finish) {
  return [&](const Index row, bool live) {
    return [&, row, live](const auto& sum, Count& edges) { finish(row, live, sum, edges); };
  };
}

// What walks over rows do with every 32 of them: store the sums in `out`, which is empty before.
template <class T, class Degrees>
SEMIRA_INLINE auto store_rows(const Team& team, const Plane<T>& out, const Degrees& degrees) {
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

// `out` is empty before.
template <int kLanes, bool kHot = false, class Semiring, class U, class A, class MaskT,
    class Degrees>
SEMIRA_PHASE void spmv_pull_short(const Team& team, const SharedGather<Semiring, U, A>& gather,
    Index rows, const MaskT& mask, const Plane<SumOf<Semiring>>& out, const Degrees& degrees,
    Counters* counters) {
  Tally tally = {};
  const Plane<SumOf<Semiring>> plane = out;
  const auto finish = store_rows(team, plane, degrees);
  const auto begin = begins_nothing(finish);
  unsigned done = 0;
  if constexpr (!kHot && Same<MaskT, NoMask>::value) {
    // A copy for a vector without gaps: presence folds away, and the matrix lies in registers.
    if (gather.present == nullptr) {
      sum_short_rows<kLanes, true>(team, gather.of_full(), rows, mask, begin, tally);
      done = static_cast<unsigned>(rows) / kWarp;
    }
  }
  sum_short_rows<kLanes, false, kHot>(team, gather, rows, mask, begin, tally, done);
  tally.add_to(counters);
}
