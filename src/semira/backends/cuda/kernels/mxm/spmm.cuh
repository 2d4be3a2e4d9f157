// Sparse A times full B (SpMM): the result has every column in each row where A has an entry.
//
// Results lie one after the other, `ncols` for each line: line r is row lines[r] of A, or row r where
// `lines` is null and no row is empty. A lane takes kAcross neighbouring columns where B and the
// result let it load and store them together.
//
// C. Yang, High-performance linear algebra-based graph framework on the GPU, 2019, chapter 6: row-split
// and merge-based; the carries as in D. Merrill and M. Garland, Merge-based sparse matrix-vector
// multiplication using the CSR storage format, 2016, with equal shares of entries alone.
#pragma once
#include "mxm/full.cuh"

// Columns that a lane takes: as many as one load of 16 bytes has, of the wider type.
template <class B, class T>
constexpr int kAcross = sizeof(B) > 8 || sizeof(T) > 8   ? 1
                        : sizeof(B) > 4 || sizeof(T) > 4 ? 2
                                                         : 4;

// Entries of A whose rows of B are asked for before the first one is used.
constexpr int kAhead = 4;

template <class Semiring, class A, class B> struct SparseTimesFull {
  using T = SumOf<Semiring>;
  const Entries<A>& a;
  Full<B> b;
  const Index* lines;
  long long num_lines, ncols;
  T* out;

  SEMIRA_INLINE Index row_of(long long line) const {
    return lines != nullptr ? lines[line] : static_cast<Index>(line);
  }
  // Whether `across` columns are next to each other in B and in the result, from aligned places on.
  SEMIRA_INLINE bool is_packed(int across) const {
    return b.step_j == 1 && ncols % across == 0 && b.step_i % across == 0 &&
           reinterpret_cast<unsigned long long>(b.values) % (across * sizeof(B)) == 0 &&
           reinterpret_cast<unsigned long long>(out) % (across * sizeof(T)) == 0;
  }
};

// Sums of a lane's columns j, j + 1, ...
template <int kColumns, bool kExit, class Semiring, class B> struct LaneSums {
  using Add = typename Semiring::Add;
  using T = typename Add::T;
  T values[kColumns] = {};
  bool has = false;

  static SEMIRA_INLINE Pack<B, kColumns> load(const Full<B>& b, Index k, long long j) {
    Pack<B, kColumns> pack{};
    if constexpr (Semiring::Multiply::kReadsB) {
      if constexpr (kColumns > 1) {
        pack = *reinterpret_cast<const Pack<B, kColumns>*>(b.values + k * b.step_i + j);
      } else {
        pack.items[0] = b.value(k, j);
      }
    }
    return pack;
  }
  template <class A>
  SEMIRA_INLINE void add(A x, const Pack<B, kColumns>& y, Index i, Index k, long long j) {
    SEMIRA_UNROLLED(c, kColumns) {
      const T z = multiply_values<Semiring>(x, y.items[c], i, k, static_cast<Index>(j + c));
      values[c] = has ? Add::apply(values[c], z) : z;
    }
    has = true;
  }
  SEMIRA_INLINE bool is_final() const {
    bool final = has;
    SEMIRA_UNROLLED(c, kColumns) final = final && ::is_final<kExit, Add>(values[c]);
    return final;
  }
  // Takes in the sums of lane `other`, which does the same, as all of `together` do.
  SEMIRA_INLINE void combine(int other, unsigned together = kAllLanes) {
    const bool other_has = __shfl_sync(together, has, other) != 0;
    T others[kColumns];
    SEMIRA_UNROLLED(c, kColumns) others[c] = shuffle(values[c], other, together);
    SEMIRA_UNROLLED(c, kColumns) {
      bool both = has;
      merge<Add>(values[c], both, others[c], other_has);
    }
    has = has || other_has;
  }
  SEMIRA_INLINE void store(T* place) const {
    if constexpr (kColumns > 1) {
      Pack<T, kColumns> pack;
      SEMIRA_UNROLLED(c, kColumns) pack.items[c] = values[c];
      *reinterpret_cast<Pack<T, kColumns>*>(place) = pack;
    } else {
      place[0] = values[0];
    }
  }
};

// Lanes of a warp side by side over packs of columns; the rest share out entries or rows.
SEMIRA_INLINE unsigned lanes_across(long long packs) {
  unsigned width = 1;
  while (width < kWarp && width < packs) width *= 2;
  return width;
}

// How lines and columns are shared out among threads.
struct Sharing {
  // Columns that all lines come for before the next ones: what B has in them stays in L2.
  long long band;
  // Neighbouring threads that take the entries of a line in turns: a power of two.
  long long lanes;
};

SEMIRA_INLINE long long quotient(long long a, long long b) {
  const bool is_narrow = ((a | b) >> kWarp) == 0;
  return is_narrow ? static_cast<unsigned>(a) / static_cast<unsigned>(b) : a / b;
}

// The turns that threads take by it, each a line and `kColumns` columns: a block takes neighbouring ones.
template <int kColumns> struct Turns {
  long long in_band, count;  // turns in one band, and in all
  unsigned packs, width;     // of all columns, and of a band
  int lanes, lane;
  unsigned together;

  SEMIRA_INLINE Turns(const Sharing& sharing, long long lines, long long ncols)
      : packs(static_cast<unsigned>(ncols / kColumns)),
        width(static_cast<unsigned>(sharing.band / kColumns)),
        lanes(static_cast<int>(sharing.lanes)) {
    if (width < 1 || width > packs) width = packs;
    in_band = lines * width;
    count = (packs + width - 1) / width * in_band * lanes;
    lane = static_cast<int>(threadIdx.x) & (lanes - 1);
    const unsigned first = threadIdx.x % kWarp - static_cast<unsigned>(lane);
    together = ((1u << (lanes - 1)) * 2 - 1) << first;
  }
  // Calls `take(line, j)` in this thread's turns; all lanes of a line have the same ones.
  template <class Take> SEMIRA_INLINE void each(const Take& take) const {
    const long long threads = gridDim.x * static_cast<long long>(blockDim.x);
    const long long own = (count + threads - 1) / threads * blockDim.x;
    const long long first = block_number() * own, end = first + own < count ? first + own : count;
    const int bits = 31 - __clz(lanes);
    for (long long item = first + threadIdx.x; item < end; item += blockDim.x) {
      const long long at = item >> bits;
      const long long band = packs > width ? quotient(at, in_band) : 0;
      const long long rest = at - band * in_band, line = quotient(rest, width);
      const long long pack = band * width + rest - line * width;
      if (pack < packs) take(line, pack * kColumns);
    }
  }
};

// Sums of a row of A from `at` to `end`, every `step`-th entry, for a pack of columns from j;
// `kTogether` entries of it, and their rows of B, are asked for at once. One H200, 64 columns of FP32:
// four at once take rows of 2,048 from 700 to 480 us, and rows of 4 from 200 to 280, because they cost
// warps in flight.
template <int kTogether, int kColumns, bool kExit, class Semiring, class A, class B>
SEMIRA_INLINE void add_entries(const SparseTimesFull<Semiring, A, B>& product, Index i, Offset at,
    Offset end, Offset step, long long j, LaneSums<kColumns, kExit, Semiring, B>& sums) {
  using Sums = LaneSums<kColumns, kExit, Semiring, B>;
  if constexpr (kTogether > 1) {
    for (; end - at > (kTogether - 1) * step && !sums.is_final(); at += kTogether * step) {
      Index k[kTogether];
      A x[kTogether];
      Pack<B, kColumns> y[kTogether];
      SEMIRA_UNROLLED(n, kTogether) {
        k[n] = product.a.indices[at + n * step];
        x[n] = A{};
        if constexpr (Semiring::Multiply::kReadsA) x[n] = product.a.value(at + n * step);
      }
      SEMIRA_UNROLLED(n, kTogether) y[n] = Sums::load(product.b, k[n], j);
      SEMIRA_UNROLLED(n, kTogether) sums.add(x[n], y[n], i, k[n], j);
    }
  }
  for (; at < end && !sums.is_final(); at += step) {
    const Index k = product.a.indices[at];
    A x{};
    if constexpr (Semiring::Multiply::kReadsA) x = product.a.value(at);
    sums.add(x, Sums::load(product.b, k, j), i, k, j);
  }
}

// The sums of entries `begin` to `end` of row i, which the lanes of a line share out, stored by the
// first of them.
template <int kTogether, bool kLanes, bool kExit, int kColumns, class Semiring, class A, class B>
SEMIRA_INLINE void sum_in_turns(const SparseTimesFull<Semiring, A, B>& product,
    const Turns<kColumns>& turns, Index i, Offset begin, Offset end, long long j,
    SumOf<Semiring>* place) {
  LaneSums<kColumns, kExit, Semiring, B> sums;
  if constexpr (!kLanes) {
    add_entries<kTogether>(product, i, begin, end, Offset{1}, j, sums);
    sums.store(place);
  } else {
    add_entries<kTogether>(product, i, begin + turns.lane, end, Offset{turns.lanes}, j, sums);
    const int own = static_cast<int>(threadIdx.x % kWarp);
    for (int step = 1; step < turns.lanes; step *= 2) sums.combine(own ^ step, turns.together);
    if (turns.lane == 0) sums.store(place);
  }
}

// A thread, or a few lanes, a row and pack of columns.
template <int kColumns, bool kLanes, bool kExit, class Semiring, class A, class B>
SEMIRA_INLINE void multiply_by_thread(
    const SparseTimesFull<Semiring, A, B>& product, const Sharing& sharing) {
  const Turns<kColumns> turns(sharing, product.num_lines, product.ncols);
  turns.each([&](long long line, long long j) {
    const Index i = product.row_of(line);
    sum_in_turns<1, kLanes, kExit>(product, turns, i, product.a.indptr[i], product.a.indptr[i + 1],
        j, product.out + line * product.ncols + j);
  });
}

// Row-split: a warp a row and tile of columns. 32 entries of the row are loaded together and handed
// round; where a tile has fewer packs than the warp lanes, groups of lanes share out the entries.
template <int kColumns, bool kExit, class Semiring, class A, class B>
SEMIRA_INLINE void multiply_by_row(const SparseTimesFull<Semiring, A, B>& product) {
  using Sums = LaneSums<kColumns, kExit, Semiring, B>;
  const Entries<A>& a = product.a;
  const long long packs = product.ncols / kColumns;
  const unsigned width = lanes_across(packs), parts = kWarp / width;
  const unsigned lane = threadIdx.x % kWarp, part = lane / width;
  const long long tiles = (packs + width - 1) / width;
  for (const long long w : items_below(product.num_lines * tiles, kWarp)) {
    const long long line = w / tiles, pack = w % tiles * width + lane % width;
    const long long j = pack * kColumns;
    const bool is_inside = pack < packs;
    const Index i = product.row_of(line);
    const Offset end = a.indptr[i + 1];
    Sums sums;
    for (Offset base = a.indptr[i]; base < end; base += kWarp) {
      const Offset at = base + static_cast<Offset>(lane);
      Index column = 0;
      A value{};
      if (at < end) {
        column = a.indices[at];
        if constexpr (Semiring::Multiply::kReadsA) value = a.value(at);
      }
      const unsigned count = end - base < kWarp ? static_cast<unsigned>(end - base) : kWarp;
      for (unsigned first = 0; first < count; first += parts * kAhead) {
        Index k[kAhead];
        A x[kAhead];
        Pack<B, kColumns> y[kAhead];
        bool is_there[kAhead];
        SEMIRA_UNROLLED(n, kAhead) {
          const unsigned s = first + n * parts + part;
          is_there[n] = s < count && is_inside;
          k[n] = __shfl_sync(kAllLanes, column, s % kWarp);
          x[n] = A{};
          if constexpr (Semiring::Multiply::kReadsA) x[n] = shuffle(value, s % kWarp);
          if (is_there[n]) y[n] = Sums::load(product.b, k[n], j);
        }
        SEMIRA_UNROLLED(n, kAhead) {
          if (is_there[n]) sums.add(x[n], y[n], i, k[n], j);
        }
      }
      if constexpr (kExit) {
        if (__all_sync(kAllLanes, !is_inside || sums.is_final())) break;
      }
    }
    for (unsigned step = width; step < kWarp; step *= 2) {
      sums.combine(static_cast<int>(lane ^ step));
    }
    if (part == 0 && is_inside) sums.store(product.out + line * product.ncols + j);
  }
}

// Where the parts of rows go that began in an earlier share.
template <class T> struct Carries {
  const int* line_of;  // line of each row of A; null where a row is its own line
  long long shares, per_share;
  long long* lines;  // of each share's carry; below 0: it has none
  T* values;         // `ncols` for each share
};

// Merge-based: a group of lanes an equal share of A's entries and a tile of columns. Rows that begin
// in the share are written, the rest of a row that began before is carried.
template <int kColumns, class Semiring, class A, class B>
SEMIRA_INLINE void multiply_by_share(
    const SparseTimesFull<Semiring, A, B>& product, const Carries<SumOf<Semiring>>& carries) {
  using Sums = LaneSums<kColumns, false, Semiring, B>;
  const Entries<A>& a = product.a;
  const long long packs = product.ncols / kColumns;
  const int width = static_cast<int>(lanes_across(packs));
  const int lane = static_cast<int>(threadIdx.x % kWarp), start = lane / width * width;
  const unsigned together = (width == kWarp ? kAllLanes : (1u << width) - 1u) << start;
  const long long tiles = (packs + width - 1) / width;
  for (const long long g : items_below(carries.shares * tiles, width)) {
    const long long share = g / tiles, pack = g % tiles * width + (lane - start);
    const long long j = pack * kColumns;
    const bool is_inside = pack < packs;
    const Offset begin = static_cast<Offset>(share * carries.per_share);
    const Offset end = a.nvals - begin < carries.per_share
                           ? a.nvals
                           : static_cast<Offset>(begin + carries.per_share);
    if (begin >= end) {
      if (lane == start && g % tiles == 0) carries.lines[share] = -1;
      continue;
    }
    Index row = a.rows[begin];
    bool is_carried = begin > 0 && a.rows[begin - 1] == row;
    const auto line_of = [&](Index i) {
      return carries.line_of != nullptr ? carries.line_of[i] : static_cast<long long>(i);
    };
    if (lane == start && g % tiles == 0) carries.lines[share] = is_carried ? line_of(row) : -1;
    Sums sums;
    const auto write = [&] {
      if (is_inside) {
        sums.store(is_carried ? carries.values + share * product.ncols + j
                              : product.out + line_of(row) * product.ncols + j);
      }
      is_carried = false;
      sums = Sums();
    };
    for (Offset base = begin; base < end; base += width) {
      const Offset at = base + static_cast<Offset>(lane - start);
      Index column = 0, own = 0;
      A value{};
      if (at < end) {
        column = a.indices[at];
        own = a.rows[at];
        if constexpr (Semiring::Multiply::kReadsA) value = a.value(at);
      }
      const int count = end - base < width ? static_cast<int>(end - base) : width;
      for (int first = 0; first < count; first += kAhead) {
        Index k[kAhead], i[kAhead];
        A x[kAhead];
        Pack<B, kColumns> y[kAhead];
        SEMIRA_UNROLLED(n, kAhead) {
          const int s = start + (first + n) % width;
          k[n] = __shfl_sync(together, column, s);
          i[n] = __shfl_sync(together, own, s);
          x[n] = A{};
          if constexpr (Semiring::Multiply::kReadsA) x[n] = shuffle(value, s, together);
          if (first + n < count && is_inside) y[n] = Sums::load(product.b, k[n], j);
        }
        SEMIRA_UNROLLED(n, kAhead) {
          if (first + n >= count) break;
          if (i[n] != row) {
            write();
            row = i[n];
          }
          if (is_inside) sums.add(x[n], y[n], row, k[n], j);
        }
      }
    }
    write();
  }
}

// Adds the carries of each line to it, in the order of the shares.
template <class Add>
__device__ void add_carries(
    const Carries<typename Add::T>& carries, long long ncols, typename Add::T* out) {
  for (const long long item : items_below(carries.shares * ncols)) {
    const long long first = item / ncols, j = item % ncols, line = carries.lines[first];
    if (line < 0 || (first > 0 && carries.lines[first - 1] == line)) continue;
    typename Add::T value = out[line * ncols + j];
    for (long long s = first; s < carries.shares && carries.lines[s] == line; ++s) {
      value = Add::apply(value, carries.values[s * ncols + j]);
    }
    out[line * ncols + j] = value;
  }
}

// Calls `run` with the number of columns that a lane takes: as many as lie together.
template <int kColumns> struct Across {
  static constexpr int kCount = kColumns;
};
template <class Semiring, class A, class B, class Run>
SEMIRA_INLINE void with_columns(const SparseTimesFull<Semiring, A, B>& product, const Run& run) {
  constexpr int kMost = kAcross<B, SumOf<Semiring>>;
  if constexpr (kMost > 1) {
    if (product.is_packed(kMost)) return run(Across<kMost>{});
  }
  if constexpr (kMost > 2) {
    if (product.is_packed(2)) return run(Across<2>{});
  }
  run(Across<1>{});
}

// The kernels' bodies.
template <bool kExit, class Semiring, class A, class B>
__device__ void spmm_by_thread(
    const SparseTimesFull<Semiring, A, B>& product, const Sharing& sharing) {
  with_columns(product, [&](auto across) {
    constexpr int kColumns = decltype(across)::kCount;
    if (sharing.lanes > 1) return multiply_by_thread<kColumns, true, kExit>(product, sharing);
    multiply_by_thread<kColumns, false, kExit>(product, sharing);
  });
}
template <bool kExit, class Semiring, class A, class B>
__device__ void spmm_by_row(const SparseTimesFull<Semiring, A, B>& product) {
  with_columns(
      product, [&](auto across) { multiply_by_row<decltype(across)::kCount, kExit>(product); });
}
template <class Semiring, class A, class B>
__device__ void spmm_by_share(
    const SparseTimesFull<Semiring, A, B>& product, const Carries<SumOf<Semiring>>& carries) {
  with_columns(
      product, [&](auto across) { multiply_by_share<decltype(across)::kCount>(product, carries); });
}
