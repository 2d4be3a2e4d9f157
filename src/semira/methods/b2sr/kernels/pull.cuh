// w = u (+).(*) A by tiles of bits: a thread a row, so that the lanes of a tile's rows read neighbouring
// bits, and nothing is added atomically. A tile is read only where u has an entry that meets it; a
// warp leaves its rows when all that are open have ended.
#pragma once
#include "semira.methods.b2sr.kernels:tiles.cuh"
#include "vxm/pull.cuh"

struct TilesDescriptor {
  void* indptr;  // of each line of tiles, in 32 bits
  void* tiles;   // their positions, in 16 or in 32 bits
  void* words;
  void* values;  // the one value of all entries, or what is not read
  long long shift;  // binary logarithm of a tile's side
  long long tile_lines;
  long long narrow;  // whether positions have 16 bits
  long long nvals;
};

// `matrix` has the value of every entry, and no offsets.
template <class A>
struct BitTiles : TileLines {
  unsigned tile_lines;
  Compressed<A> matrix;

  BitTiles() = default;
  __device__ explicit BitTiles(const TilesDescriptor& d)
      : TileLines{static_cast<const int*>(d.indptr), d.tiles, static_cast<const unsigned*>(d.words),
                  static_cast<unsigned>(d.shift), d.narrow != 0},
        tile_lines(static_cast<unsigned>(d.tile_lines)),
        matrix{} {
    matrix.values = static_cast<const A*>(d.values);
    matrix.value_stride = 0;
    matrix.nvals = d.nvals;
  }
};

// `out` is empty before. kCounts: the sum is the number of entries that meet.
template <bool kExit, bool kCounts, class Semiring, class U, class A, class MaskT, class Degrees>
SEMIRA_PHASE void spmv_pull_tiles(const Team& team, const Gather<Semiring, U, A> gather,
                                  const BitTiles<A>& held, Index rows, const MaskT mask,
                                  const Plane<typename Semiring::Add::T> out,
                                  const Degrees degrees, Counters* counters) {
  using Add = typename Semiring::Add;
  using T = typename Add::T;
  Count inserted = 0, touched = 0, edges = 0;
  const unsigned inside = (1u << held.shift) - 1, all = held.mask();
  const unsigned num_words = (static_cast<unsigned>(rows) + kWarp - 1) / kWarp;
  for (unsigned w = team.warp; w < num_words; w += team.warps) {
    const unsigned place = w * kWarp + team.lane, line = place >> held.shift;
    const Index row = static_cast<Index>(place);
    const bool is_open = place < static_cast<unsigned>(rows) && mask.allows(row);
    Partial<Add> sum{T{}, false};
    long long count = 0;
    int at = is_open && line < held.tile_lines ? held.indptr[line] : 0;
    const int end = is_open && line < held.tile_lines ? held.indptr[line + 1] : 0;
    for (; __any_sync(kAllLanes, at < end); ++at) {
      if (at >= end) continue;
      const unsigned from = held.position(at) << held.shift;
      unsigned here = all;
      if (gather.present != nullptr) here &= gather.present[from / kWarp] >> from % kWarp;
      if (here == 0) continue;
      ++touched;
      unsigned met = held.bits(at, place & inside) & here;
      if constexpr (kCounts) {
        count += __popc(met);
      } else {
        while (met != 0 && !sum.template settled<kExit>()) {
          const Index k = static_cast<Index>(from) + __ffs(static_cast<int>(met)) - 1;
          met &= met - 1;
          sum.add(multiply<Semiring>(gather.u, gather.matrix, k, row, Offset{0}));
        }
        // Others of the warp may go on.
        if (sum.template settled<kExit>()) at = end - 1;
      }
    }
    if constexpr (kCounts) sum = Partial<Add>{static_cast<T>(count), count != 0};
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
