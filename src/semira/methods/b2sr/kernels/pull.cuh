// w = u (+).(*) A by tiles of bits: a thread a row, so that the lanes of a tile's rows read
// neighbouring bits, or a warp a row of a long line of tiles. Either way sums are made in the order
// of positions. A tile is read only where u has an entry that meets it.
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
  void* long_lines;  // lines of more tiles than `longest`
  long long num_long;
  long long longest;
};

// `matrix` has the value of every entry, and no offsets.
template <class A>
struct BitTiles : TileLines {
  unsigned tile_lines;
  const int* __restrict__ long_lines;
  int num_long, longest;
  Compressed<A> matrix;

  BitTiles() = default;
  __device__ explicit BitTiles(const TilesDescriptor& d)
      : TileLines{static_cast<const int*>(d.indptr), d.tiles, static_cast<const unsigned*>(d.words),
                  static_cast<unsigned>(d.shift), d.narrow != 0},
        tile_lines(static_cast<unsigned>(d.tile_lines)),
        long_lines(static_cast<const int*>(d.long_lines)),
        num_long(static_cast<int>(d.num_long)),
        longest(static_cast<int>(d.longest)),
        matrix{} {
    matrix.values = static_cast<const A*>(d.values);
    matrix.value_stride = 0;
    matrix.nvals = d.nvals;
  }
};

// Tiles of which a lane reads words and first operands at once.
constexpr int kTilesAtOnce = 4;

// What a row gathers: a sum, or how many entries meet.
template <class Add>
struct TileSum {
  Partial<Add> sum;
  long long count;
  Count touched;
};

// Reads tiles first, first + step, ... below end: where they begin, and the bits of a row that meet
// entries of the operand. Returns how many tiles may.
template <int kMany, class Semiring, class U, class A>
__device__ __forceinline__ unsigned read_tiles(const Gather<Semiring, U, A>& gather,
                                               const BitTiles<A>& held, Index row, int first,
                                               int end, int step, unsigned (&from)[kMany],
                                               unsigned (&met)[kMany]) {
  const unsigned inside = static_cast<unsigned>(row) & ((1u << held.shift) - 1);
  unsigned touched = 0;
#pragma unroll
  for (int b = 0; b < kMany; ++b) {
    const int at = first + b * step;
    from[b] = at < end ? held.position(at) << held.shift : 0;
    met[b] = at < end ? held.mask() : 0;
  }
  if (gather.present != nullptr) {
#pragma unroll
    for (int b = 0; b < kMany; ++b) {
      if (met[b] != 0) met[b] &= gather.present[from[b] / kWarp] >> from[b] % kWarp;
    }
  }
#pragma unroll
  for (int b = 0; b < kMany; ++b) {
    touched += met[b] != 0 ? 1 : 0;
    if (met[b] != 0) met[b] &= held.bits(first + b * step, inside);
  }
  return touched;
}

// Walks tiles first, first + step, ... below end for one row, in this order.
template <bool kExit, Pairs kPairs, class Semiring, class U, class A>
__device__ __forceinline__ void walk_tiles(TileSum<typename Semiring::Add>& found,
                                           const Gather<Semiring, U, A>& gather,
                                           const BitTiles<A>& held, Index row, int first, int end,
                                           int step) {
  unsigned from[kTilesAtOnce], met[kTilesAtOnce];
  found.touched += read_tiles(gather, held, row, first, end, step, from, met);
  if constexpr (kPairs != Pairs::kNone) {
#pragma unroll
    for (int b = 0; b < kTilesAtOnce; ++b) found.count += __popc(met[b]);
  } else {
    using T = typename Semiring::Add::T;
    T product[kTilesAtOnce];
#pragma unroll
    for (int b = 0; b < kTilesAtOnce; ++b) {
      if (met[b] == 0) continue;
      const Index k = static_cast<Index>(from[b]) + __ffs(static_cast<int>(met[b])) - 1;
      product[b] = multiply<Semiring>(gather.u, gather.matrix, k, row, Offset{0});
    }
#pragma unroll
    for (int b = 0; b < kTilesAtOnce; ++b) {
      if (met[b] == 0 || found.sum.template settled<kExit>()) continue;
      found.sum.add(product[b]);
      for (unsigned rest = met[b] & (met[b] - 1);
           rest != 0 && !found.sum.template settled<kExit>();) {
        // Two at once: the second is read while the first is.
        const unsigned second = rest & (rest - 1);
        const Index start = static_cast<Index>(from[b]) - 1;
        const T one = multiply<Semiring>(gather.u, gather.matrix,
                                         start + __ffs(static_cast<int>(rest)), row, Offset{0});
        T other = one;
        if (second != 0) {
          other = multiply<Semiring>(gather.u, gather.matrix,
                                     start + __ffs(static_cast<int>(second)), row, Offset{0});
        }
        found.sum.add(one);
        if (second != 0 && !found.sum.template settled<kExit>()) found.sum.add(other);
        rest = second & (second - 1);
      }
    }
  }
}

// Tiles that the lanes of a warp read for one row, and what meets in them, by position.
struct MetTiles {
  unsigned from, met;
  int last, total;  // operands up to this lane's tile, and of all

  __device__ __forceinline__ MetTiles(unsigned from, unsigned met, unsigned lane)
      : from(from), met(met), last(__popc(met)) {
    for (int step = 1; step < kWarp; step *= 2) {
      const int other = __shfl_up_sync(kAllLanes, last, step);
      if (static_cast<int>(lane) >= step) last += other;
    }
    total = __shfl_sync(kAllLanes, last, kWarp - 1);
  }

  // The product of operand number `mine`, a different one in each lane.
  template <class Semiring, class U, class A>
  __device__ __forceinline__ typename Semiring::Add::T product(
      const Gather<Semiring, U, A>& gather, Index row, int mine) const {
    // The first lane with more up to its tile.
    int owner = 0;
    for (int step = kWarp / 2; step > 0; step /= 2) {
      if (__shfl_sync(kAllLanes, last, owner + step - 1) <= mine) owner += step;
    }
    const unsigned bits = __shfl_sync(kAllLanes, met, owner);
    const unsigned start = __shfl_sync(kAllLanes, from, owner);
    const int before = __shfl_sync(kAllLanes, last - __popc(met), owner);
    if (mine >= total) return typename Semiring::Add::T{};
    const int place = nth_bit(bits, static_cast<unsigned>(mine - before));
    return multiply<Semiring>(gather.u, gather.matrix, static_cast<Index>(start) + place, row,
                              Offset{0});
  }
};

// Adds the first `count` lanes' products in their order; every lane gets the sum.
template <bool kExit, class Add>
__device__ __forceinline__ void add_in_order(Partial<Add>& sum, typename Add::T product,
                                             int count) {
  // Shuffles do not wait for sums.
  constexpr int kAhead = 8;
  for (int first = 0; first < count; first += kAhead) {
    typename Add::T ahead[kAhead];
#pragma unroll
    for (int i = 0; i < kAhead; ++i) ahead[i] = shuffle(product, first + i);
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      if (first + i < count && !sum.template settled<kExit>()) sum.add(ahead[i]);
    }
  }
}

// Walks a line of tiles for one row; the lanes of a warp read what meets side by side, and all of
// them add it up in the order of positions, so that sums of floats are those of a thread alone.
template <bool kExit, class Semiring, class U, class A>
__device__ __noinline__ TileSum<typename Semiring::Add> walk_in_order(
    const Gather<Semiring, U, A> gather, const BitTiles<A>& held, Index row, int begin, int end) {
  const unsigned lane = threadIdx.x % kWarp;
  TileSum<typename Semiring::Add> found{{typename Semiring::Add::T{}, false}, 0, 0};
  using T = typename Semiring::Add::T;
  const int own = static_cast<int>(lane);
  unsigned from[1], met[1];
  found.touched += read_tiles(gather, held, row, begin + own, end, kWarp, from, met);
  for (int base = begin; base < end; base += kWarp) {
    const MetTiles tiles(from[0], met[0], lane);
    // What follows is read while these are added.
    if (base + kWarp < end) {
      found.touched += read_tiles(gather, held, row, base + kWarp + own, end, kWarp, from, met);
    }
    T product{};
    for (int first = 0; first < tiles.total + kWarp; first += kWarp) {
      T next{};
      if (first < tiles.total) next = tiles.product(gather, row, first + own);
      const int count = min(tiles.total - first + kWarp, kWarp);
      if (first > 0) add_in_order<kExit>(found.sum, product, count);
      if (found.sum.template settled<kExit>()) return found;
      product = next;
    }
  }
  return found;
}

// `out` is empty before. Rows of long lines of tiles have a warp each, whose lanes read tiles that lie
// together. Where one entry that meets decides, a row is left behind it.
template <bool kExit, Pairs kPairs, class Semiring, class U, class A, class MaskT, class Degrees>
SEMIRA_PHASE void spmv_pull_tiles(const Team& team, const Gather<Semiring, U, A> gather,
                                  const BitTiles<A>& held, Index rows, const MaskT mask,
                                  const Plane<typename Semiring::Add::T> out,
                                  const Degrees degrees, Counters* counters) {
  using Add = typename Semiring::Add;
  using T = typename Add::T;
  Count inserted = 0, touched = 0, edges = 0;
  const unsigned num_words = (static_cast<unsigned>(rows) + kWarp - 1) / kWarp;
  const unsigned long_rows = static_cast<unsigned>(held.num_long) << held.shift;
  const unsigned turns = long_rows + num_words;
  for (unsigned turn = team.warp; turn < turns; turn += team.warps) {
    const bool is_long = turn < long_rows;
    unsigned place = (turn - long_rows) * kWarp + team.lane;
    if (is_long) {
      place = (static_cast<unsigned>(held.long_lines[turn >> held.shift]) << held.shift) +
              (turn & ((1u << held.shift) - 1));
    }
    const unsigned line = place >> held.shift;
    const Index row = static_cast<Index>(place);
    const bool is_open = place < static_cast<unsigned>(rows) && line < held.tile_lines &&
                         mask.allows(row);
    const int begin = is_open ? held.indptr[line] : 0, end = is_open ? held.indptr[line + 1] : 0;
    TileSum<Add> found{{T{}, false}, 0, 0};
    if (!is_long) {
      // Others walk it if it is long.
      int at = end - begin > held.longest ? end : begin;
      const auto is_open = [&] {
        if constexpr (kPairs == Pairs::kOne) return found.count == 0;
        return kPairs != Pairs::kNone || !found.sum.template settled<kExit>();
      };
      while (at < end && is_open()) {
        walk_tiles<kExit, kPairs>(found, gather, held, row, at, end, 1);
        at += kTilesAtOnce;
      }
    } else if constexpr (kPairs != Pairs::kNone) {
      for (int at = begin + static_cast<int>(team.lane); at < end; at += kTilesAtOnce * kWarp) {
        walk_tiles<kExit, kPairs>(found, gather, held, row, at, end, kWarp);
        if (kPairs == Pairs::kOne && found.count != 0) break;
      }
      for (int half = kWarp / 2; half > 0; half /= 2) {
        found.count += __shfl_xor_sync(kAllLanes, found.count, half);
      }
    } else {
      found = walk_in_order<kExit>(gather, held, row, begin, end);
    }
    __syncwarp();
    touched += found.touched;
    if constexpr (kPairs != Pairs::kNone) {
      found.sum = Partial<Add>{sum_of_ones<kPairs, Add>(found.count), found.count != 0};
    }
    const bool has = found.sum.has && (!is_long || team.lane == 0);
    const unsigned word = __ballot_sync(kAllLanes, has);
    if (word == 0) continue;
    if (team.lane == 0) {
      unsigned& there = out.words[place / kWarp];
      if (held.num_long == 0) {
        there = word;
      } else {
        atomicOr(&there, is_long ? 1u << place % kWarp : word);
      }
    }
    if (has) {
      out.values[row] = found.sum.value;
      ++inserted;
      if constexpr (Degrees::kCounted) edges += static_cast<Count>(degrees(row));
    }
  }
  const Count values[3] = {inserted, touched, edges};
  Count* const sums[3] = {&counters->inserted, &counters->touched, &counters->edges};
  add_over_block(values, sums);
}
