// Which entries rows keep that are cut to their largest ones.
//
// Values are compared as unsigned numbers of their width that rise with them. The least of those
// that stay is found bit by bit from the highest on, by a pass over the row for each bit, until a
// pass counts as many as stay. Of equal values the first ones stay, and NaN is the least.
#pragma once
#include "matrix/entries.cuh"

// What values are compared by.
struct Ranks {
  const void* values;
  long long size;  // bytes of a value
  long long kind;  // 0: bool, 1: unsigned, 2: signed, 3: float

  SEMIRA_INLINE unsigned long long sign() const { return 1ull << (8 * size - 1); }

  SEMIRA_INLINE unsigned long long bits_at(long long at) const {
    if (size == 8) return static_cast<const unsigned long long*>(values)[at];
    if (size == 4) return static_cast<const unsigned*>(values)[at];
    if (size == 2) return static_cast<const unsigned short*>(values)[at];
    return static_cast<const unsigned char*>(values)[at];
  }
  SEMIRA_INLINE unsigned long long operator[](long long at) const {
    const unsigned long long bits = bits_at(at), sign = this->sign();
    if (kind == 2) return bits ^ sign;
    if (kind != 3) return bits;
    const unsigned long long infinity = size == 8 ? 0x7ff0000000000000ull : 0x7f800000ull;
    const unsigned long long magnitude = bits & (sign - 1);
    if (magnitude > infinity) return 0;
    // Both zeros are one number.
    return (bits & sign) == 0 || magnitude == 0 ? magnitude | sign : ~bits & (sign - 1);
  }
};

// Threads that share a row; `sum` is told to all of them.
struct WarpOfRow {
  static constexpr int kThreads = kWarp;
  SEMIRA_INLINE int thread() const { return threadIdx.x % kWarp; }
  SEMIRA_INLINE unsigned sum(unsigned mine) const { return __reduce_add_sync(kAllLanes, mine); }
};
struct BlockOfRow {
  static constexpr int kThreads = 256;
  unsigned* board;  // one for each warp
  SEMIRA_INLINE int thread() const { return threadIdx.x; }
  SEMIRA_INLINE unsigned sum(unsigned mine) const {
    mine = __reduce_add_sync(kAllLanes, mine);
    if (threadIdx.x % kWarp == 0) board[threadIdx.x / kWarp] = mine;
    __syncthreads();
    unsigned all = 0;
    for (int w = 0; w < kThreads / kWarp; ++w) all += board[w];
    __syncthreads();
    return all;
  }
};

// The least rank of the `most` largest of a row that has more entries.
template <class Group>
__device__ unsigned long long least_kept(
    const Ranks& ranks, long long begin, long long end, unsigned most, const Group& group) {
  unsigned long long least = 0;
  for (unsigned long long bit = ranks.sign(); bit != 0; bit /= 2) {
    const unsigned long long tried = least | bit;
    unsigned mine = 0;
    for (long long p = begin + group.thread(); p < end; p += Group::kThreads) {
      mine += ranks[p] >= tried ? 1 : 0;
    }
    const unsigned found = group.sum(mine);
    if (found >= most) least = tried;
    if (found == most) break;
  }
  return least;
}

// Where the entries of a row go that stay.
struct KeptPlaces {
  long long* places;
  Index* rows;

  SEMIRA_INLINE void put(long long to, long long p, long long row) const {
    places[to] = p;
    rows[to] = static_cast<Index>(row);
  }
};

SEMIRA_INLINE unsigned lanes_below() { return (1u << (threadIdx.x % kWarp)) - 1; }

// A warp lists the `most` entries of a row whose rank is at least `least`, from `to` on.
__device__ void list_kept(const Ranks& ranks, long long begin, long long end, unsigned most,
    unsigned long long least, long long row, long long to, const KeptPlaces& out) {
  const int lane = threadIdx.x % kWarp;
  unsigned above = 0;
  for (long long p = begin + lane; p < end; p += kWarp) above += ranks[p] > least ? 1 : 0;
  unsigned ties = most - __reduce_add_sync(kAllLanes, above);
  for (long long base = begin; base < end; base += kWarp) {
    const long long p = base + lane;
    const unsigned long long rank = p < end ? ranks[p] : 0;
    const unsigned tied = __ballot_sync(kAllLanes, p < end && rank == least);
    const bool is_kept =
        p < end &&
        (rank > least || (rank == least && __popc(tied & lanes_below()) < static_cast<int>(ties)));
    const unsigned kept = __ballot_sync(kAllLanes, is_kept);
    if (is_kept) out.put(to + __popc(kept & lanes_below()), p, row);
    to += __popc(kept);
    const unsigned used = __popc(tied);
    ties = ties > used ? ties - used : 0;
  }
}

// A warp does the same for a row of up to 32 entries: every one is compared with all others.
__device__ void list_kept_of_few(const Ranks& ranks, long long begin, int length, unsigned most,
    long long row, long long to, const KeptPlaces& out) {
  const int lane = threadIdx.x % kWarp;
  const unsigned long long mine = lane < length ? ranks[begin + lane] : 0;
  unsigned better = 0;
  for (int other = 0; other < length; ++other) {
    const unsigned long long rank = __shfl_sync(kAllLanes, mine, other);
    better += rank > mine || (rank == mine && other < lane) ? 1 : 0;
  }
  const bool is_kept = lane < length && better < most;
  const unsigned kept = __ballot_sync(kAllLanes, is_kept);
  if (is_kept) out.put(to + __popc(kept & lanes_below()), begin + lane, row);
}

// `starts` are the running sums of the entries that rows keep: all, or as many as others. A warp
// takes a row, a block one of more than kLongRow entries.
extern "C" __global__ void semira_largest_places(const Offset* indptr, const void* values,
    long long size, long long kind, long long nrows, const Offset* starts, long long* places,
    Index* rows) {
  const Ranks ranks{values, size, kind};
  const KeptPlaces out{places, rows};
  constexpr long long kLongRow = 4096;
  const long long threads = gridDim.x * static_cast<long long>(blockDim.x);
  const long long thread = block_number() * static_cast<long long>(blockDim.x) + threadIdx.x;
  const WarpOfRow warp;
  for (long long i = thread / kWarp; i < nrows; i += threads / kWarp) {
    const long long begin = indptr[i], end = indptr[i + 1], to = starts[i];
    const unsigned most = static_cast<unsigned>(starts[i + 1] - to);
    if (end - begin == most) {
      for (long long p = begin + warp.thread(); p < end; p += kWarp) {
        out.put(to + (p - begin), p, i);
      }
    } else if (end - begin <= kWarp) {
      list_kept_of_few(ranks, begin, static_cast<int>(end - begin), most, i, to, out);
    } else if (most != 0 && end - begin <= kLongRow) {
      const unsigned long long least = least_kept(ranks, begin, end, most, warp);
      list_kept(ranks, begin, end, most, least, i, to, out);
    }
  }
  __shared__ unsigned board[BlockOfRow::kThreads / kWarp];
  const BlockOfRow block{board};
  for (long long base = thread - threadIdx.x; base < nrows; base += threads) {
    const long long mine = base + threadIdx.x;
    const bool is_long = mine < nrows && indptr[mine + 1] - indptr[mine] > kLongRow;
    if (!__syncthreads_or(is_long)) continue;
    for (long long i = base; i < nrows && i < base + blockDim.x; ++i) {
      const long long begin = indptr[i], end = indptr[i + 1], to = starts[i];
      const unsigned most = static_cast<unsigned>(starts[i + 1] - to);
      if (end - begin <= kLongRow || most == 0 || end - begin == most) continue;
      const unsigned long long least = least_kept(ranks, begin, end, most, block);
      if (threadIdx.x < kWarp) list_kept(ranks, begin, end, most, least, i, to, out);
    }
  }
}
