// Rows of products: the threads that share one, the walk over its partial products, its bin.
#pragma once
#include "common/grid.cuh"
#include "matrix/scan.cuh"

// Where the entries of a matrix are, without their values.
struct Pattern {
  const Offset* __restrict__ indptr;
  const Index* __restrict__ indices;
};

template <class A> SEMIRA_INLINE Pattern pattern_of(const Entries<A>& a) {
  return {a.indptr, a.indices};
}

// The columns of each row that a result may have: those of a mask's row, or all others. Positions alone:
// of a mask with values the caller uses what follows from positions.
struct RowMask {
  Pattern rows;
  bool complement;

  __device__ RowMask() : rows{nullptr, nullptr}, complement(true) {}
  __device__ RowMask(const Pattern& pattern, bool is_complement)
      : rows(pattern), complement(is_complement) {}
  SEMIRA_INLINE bool allows(Index i, Index j) const {
    if (rows.indptr == nullptr) return true;
    const Offset end = rows.indptr[i + 1], at = lower_bound(rows.indices, rows.indptr[i], end, j);
    return (at < end && rows.indices[at] == j) != complement;
  }
};

// Memory of the block, as much as the launch asks for.
extern __shared__ __align__(16) unsigned char block_memory[];

// Threads that share a row: kLanes of a warp, or the block where kLanes is 0.
template <int kLanes> struct Group {
  static constexpr unsigned kMost = 32;  // groups of a block
  unsigned lane, lanes;                  // rank and number of the threads
  unsigned number;                       // rank of the group in its block
  long long first, step;                 // rank and number of the groups of the launch
  unsigned mask;                         // the group's lanes in this warp

  __device__ Group() {
    if constexpr (kLanes == 0) {
      lane = threadIdx.x, lanes = blockDim.x, number = 0;
      first = blockIdx.x, step = gridDim.x, mask = kAllLanes;
    } else {
      const unsigned groups = blockDim.x / kLanes;
      lane = threadIdx.x % kLanes, lanes = kLanes, number = threadIdx.x / kLanes;
      first = blockIdx.x * static_cast<long long>(groups) + number;
      step = gridDim.x * static_cast<long long>(groups);
      mask = kLanes == kWarp ? kAllLanes
                             : ((1u << kLanes) - 1) << (threadIdx.x % kWarp / kLanes * kLanes);
    }
  }
  SEMIRA_INLINE void sync() const {
    if constexpr (kLanes == 0) {
      __syncthreads();
    } else {
      __syncwarp(mask);
    }
  }
};

// How a group spreads over several lists: `share` neighbouring lanes a list, `parts` at a time.
struct Spread {
  unsigned share, part, place, parts;

  // `mean` entries a list, `lists` of them. Where they are few, more lanes take each.
  __device__ Spread(
      unsigned lane, unsigned lanes, unsigned long long mean, unsigned long long lists) {
    const unsigned most = lanes < kWarp ? lanes : kWarp;
    share = 1;
    while (share < most && (share < mean || share * lists < lanes)) share *= 2;
    part = lane / share, place = lane % share, parts = lanes / share;
  }
  // One list at a time, by the first lanes of the group; the other ones have none.
  __device__ explicit Spread(unsigned lane, unsigned lanes)
      : share(lanes < kWarp ? lanes : kWarp), part(lane / share), place(lane % share), parts(1) {}
  // Lanes of this warp that take the same list.
  SEMIRA_INLINE unsigned mask() const {
    return share == kWarp ? kAllLanes
                          : ((1u << share) - 1) << (threadIdx.x % kWarp / share * share);
  }
};

// Calls `body(at_a, at_b, k, j)` for every pair A_ik, B_kj of a row that has `work` of them, where the
// mask lets the result be. With kOrdered those of one k come before those of the next.
template <bool kOrdered = false, class G, class Body>
SEMIRA_INLINE void for_each_product(const G& group, const Pattern& a, const Pattern& b,
    const RowMask& mask, Index i, long long work, Body body) {
  const Offset begin = a.indptr[i], lines = a.indptr[i + 1] - begin;
  const Spread spread = kOrdered ? Spread(group.lane, group.lanes)
                                 : Spread(group.lane, group.lanes, work / lines, lines);
  if (kOrdered && spread.part != 0) return;
  for (Offset line = spread.part; line < lines; line += spread.parts) {
    const Index k = a.indices[begin + line];
    const Offset start = b.indptr[k], length = b.indptr[k + 1] - start;
    for (Offset n = spread.place; n < length; n += spread.share) {
      const Index j = b.indices[start + n];
      if (mask.allows(i, j)) body(begin + line, start + n, k, j);
    }
    if (kOrdered) __syncwarp(spread.mask());
  }
}

// No column is left.
constexpr unsigned kNoColumn = 0xffffffffu;

// How far the rows of B were read that the row of A in work names: a number for each entry of A, or
// for each that a row may have, once for every block, where `room` says how many that is.
struct Cursors {
  Offset* places;
  long long room;  // 0: for each entry of A

  SEMIRA_INLINE Offset* of_row(Offset begin) const {
    return places + (room == 0 ? static_cast<long long>(begin) : blockIdx.x * room);
  }
};

// The same for columns below `limit` and, from call to call, above the earlier limit: `cursors`
// keeps how far each row of B was read. Returns the lowest column left that this thread saw. All
// threads of the block call it.
template <bool kOrdered = false, class Body>
SEMIRA_INLINE unsigned for_each_product_below(const Group<0>& group, const Pattern& a,
    const Pattern& b, const RowMask& mask, Index i, long long work, unsigned limit, bool is_first,
    const Cursors& cursors, Body body) {
  const Offset begin = a.indptr[i], lines = a.indptr[i + 1] - begin;
  Offset* const reached_before = cursors.of_row(begin);
  const Spread spread = kOrdered ? Spread(group.lane, group.lanes)
                                 : Spread(group.lane, group.lanes, work / lines, lines);
  unsigned next = kNoColumn;
  if (kOrdered && spread.part != 0) return next;
  for (Offset base = 0; base < lines; base += spread.parts) {
    const Offset line = base + spread.part;
    const bool is_line = line < lines;
    Index k = 0;
    Offset start = 0, length = 0;
    if (is_line) {
      k = a.indices[begin + line];
      start = is_first ? b.indptr[k] : reached_before[line];
      length = b.indptr[k + 1] - start;
    }
    Offset n = spread.place;
    for (; n < length; n += spread.share) {
      const Index j = b.indices[start + n];
      if (static_cast<unsigned>(j) >= limit) {
        next = min(next, static_cast<unsigned>(j));
        break;
      }
      if (mask.allows(i, j)) body(begin + line, start + n, k, j);
    }
    Offset reached = n < length ? n : length;
    for (unsigned step = spread.share / 2; step > 0; step /= 2) {
      const Offset other = __shfl_xor_sync(kAllLanes, reached, step);
      reached = other < reached ? other : reached;
    }
    if (is_line && spread.place == 0) reached_before[line] = start + reached;
    if (kOrdered) __syncwarp();
  }
  return next;
}

// Bins of rows by size: those above the last limit are in the bin behind it, empty rows in none. The
// last bin has rows that a lane makes by itself (mxm/few.cuh), whatever their size.
constexpr int kLimits = 5;
constexpr int kFewBin = kLimits + 1;
constexpr int kBins = kFewBin + 1;

struct Limits {
  long long at[kLimits];
  // -1 for an empty row.
  SEMIRA_INLINE int bin_of(long long size) const {
    if (size == 0) return -1;
    int bin = 0;
    SEMIRA_UNROLLED(k, kLimits) bin += size > at[k] ? 1 : 0;
    return bin;
  }
};

// Rows of B that such a row names, and its partial products.
constexpr int kFewLines = 8;
constexpr long long kFewProducts = 128;

struct FewRows {
  const Offset* indptr;       // of A; null: none is
  const long long* products;  // null: sizes are products

  SEMIRA_INLINE bool has(long long i, long long size) const {
    if (indptr == nullptr || size == 0) return false;
    const long long made = products != nullptr ? products[i] : size;
    return made <= kFewProducts && indptr[i + 1] - indptr[i] <= kFewLines;
  }
};

// Words, zero before `bin_rows`: sum of the sizes, sum of the sizes cut at `most`, rows of each bin,
// places given to rows so far, rows of all bins there is room for.
constexpr int kPlaced = 2 + kBins, kRowsListed = kPlaced + 1;

struct Ledger {
  Count* words;
  SEMIRA_INLINE Count* rows_in(int bin) const { return words + 2 + bin; }
};

SEMIRA_INLINE long long clipped(long long size, long long most) {
  return size < most ? size : most;
}

// Where row `rank` of a bin is listed. Two bins share room for all rows: one begins at each end.
SEMIRA_INLINE long long place_in_bin(int bin, long long rank, long long n) {
  return bin % 2 == 0 ? bin / 2 * n + rank : (bin / 2 + 1) * n - 1 - rank;
}

// The rows of one bin.
struct RowList {
  const Index* rows;
  long long count, step;
  __device__ RowList(const Index* lists, const Ledger& ledger, long long bin)
      : rows(lists + place_in_bin(static_cast<int>(bin), 0,
                         static_cast<long long>(ledger.words[kRowsListed]))),
        count(static_cast<long long>(*ledger.rows_in(static_cast<int>(bin)))),
        step(bin % 2 == 0 ? 1 : -1) {}
  SEMIRA_INLINE Index operator[](long long rank) const { return rows[rank * step]; }
};

// Where the entries of each row go.
struct RowRooms {
  const long long* work;    // partial products
  const long long* starts;  // where a row begins
  long long* sizes;  // null: rows have as many entries as lie between starts; else how many is told
  long long ncols;

  // Entries that a row has at most.
  SEMIRA_INLINE long long room(Index i) const {
    return sizes != nullptr ? clipped(work[i], ncols) : starts[i + 1] - starts[i];
  }
  SEMIRA_INLINE void tell(Index i, long long size) const {
    if (sizes != nullptr) sizes[i] = size;
  }
};

// Lists the rows of each bin, in no order, and adds up their sizes. A warp takes `per_warp` rows at a
// time, and all of its lanes call `size_of(i)`; those without a row with i = n. With `places` every row
// gets room for its cut size somewhere.
template <class SizeOf>
SEMIRA_INLINE void bin_rows(SizeOf size_of, long long n, long long per_warp, long long most,
    const Limits& limits, const FewRows& few, const Ledger& ledger, Index* lists,
    long long* places) {
  __shared__ unsigned count[kBins];
  __shared__ Count start[kBins], place;
  const long long tile = blockDim.x / kWarp * per_warp, step = gridDim.x * tile;
  const long long lane = threadIdx.x % kWarp, offset = threadIdx.x / kWarp * per_warp + lane;
  Count sums[2] = {};
  if (blockIdx.x == 0 && threadIdx.x == 0) ledger.words[kRowsListed] = static_cast<Count>(n);
  for (long long base = blockIdx.x * tile; base < n; base += step) {
    if (threadIdx.x < kBins) count[threadIdx.x] = 0;
    const long long i = lane < per_warp && base + offset < n ? base + offset : n;
    const long long whole = size_of(i), size = clipped(whole, most);
    sums[0] += static_cast<Count>(whole);
    sums[1] += static_cast<Count>(size);
    __syncthreads();
    const int bin = i < n && few.has(i, whole) ? kFewBin : limits.bin_of(size);
    const unsigned rank = bin >= 0 ? atomicAdd(count + bin, 1u) : 0;
    long long before = 0, all = 0;
    if (places != nullptr) before = scan_block(size, all);
    __syncthreads();
    if (threadIdx.x < kBins && count[threadIdx.x] != 0) {
      const int k = static_cast<int>(threadIdx.x);
      start[k] = atomicAdd(ledger.rows_in(k), static_cast<Count>(count[k]));
    }
    if (places != nullptr && threadIdx.x == kWarp) {
      place = atomicAdd(ledger.words + kPlaced, static_cast<Count>(all));
    }
    __syncthreads();
    if (bin >= 0) {
      lists[place_in_bin(bin, static_cast<long long>(start[bin]) + rank, n)] =
          static_cast<Index>(i);
    }
    if (places != nullptr && i < n) places[i] = static_cast<long long>(place) + before;
    __syncthreads();
  }
  Count* const words[2] = {ledger.words, ledger.words + 1};
  add_over_block<2>(sums, words);
}
