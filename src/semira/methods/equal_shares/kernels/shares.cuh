// Products of two sparse matrices in shares: as many for every block, whatever rows they are of.
//
// Products are numbered in the order of A's entries, so that those of a row are neighbours. A block
// brings its share in order by (row, column, k) and adds neighbours up. Rows of up to kShare products
// lie in one share; of longer ones the columns go to a bitmap, and the sums to the places that the
// bitmap gives them. After S. Dalton, L. Olson, N. Bell, Optimizing sparse matrix-matrix
// multiplication for the GPU, 2015 (expansion, sorting, compression), with shares in place of bins.
#pragma once
#include "mxm/counts.cuh"

// Products from one border to the next, before borders move to the start of a short row; a share
// then has up to twice as many.
constexpr int kShare = 1024;
constexpr int kShareMost = 2 * kShare;
constexpr int kPlaceBits = 11, kRowBits = kPlaceBits + 31;
// A product that the mask forbids; it comes after all others.
constexpr unsigned long long kDropped = ~0ull;

// All products of A B.
struct Products {
  Pattern a, b;
  const Index* rows;        // of A's entries
  const long long* before;  // how many products come before those of each entry of A
  long long entries, total;  // A has room for `entries`

  __device__ __forceinline__ long long start_of(Index i) const { return before[a.indptr[i]]; }
  __device__ __forceinline__ bool is_long(Index i) const {
    return start_of(i + 1) - start_of(i) > kShare;
  }
  // The entry of A that product `p` is of.
  __device__ __forceinline__ long long entry_of(long long p) const {
    return owner_in(before, entries, p);
  }
  // First product of a share; a short row begins with it or is in another.
  __device__ __forceinline__ long long border(long long share) const {
    const long long p = share * kShare;
    if (p == 0 || p >= total) return p < total ? p : total;
    const Index i = rows[entry_of(p)];
    return is_long(i) ? p : start_of(i);
  }
};

// The long rows of a round: their columns as bits.
struct LongRows {
  const int* numbers;   // how many long rows come before each row
  const Index* listed;  // those of the round
  long long first, count;
  unsigned* bits;
  long long words;  // of a row

  __device__ __forceinline__ bool has(Index i) const {
    return numbers[i] >= first && numbers[i] < first + count;
  }
  // Where a row begins that the round has.
  __device__ __forceinline__ long long place(Index i) const { return (numbers[i] - first) * words; }
};

// Shares of a round. The first round has all of them, and with them the short rows; a later one those
// that its own rows have products in.
struct ShareRange {
  long long begin, end;

  __device__ __forceinline__ ShareRange(const Products& products, const LongRows& rows,
                                        long long shares)
      : begin(0), end(shares) {
    if (rows.first == 0) return;
    begin = products.start_of(rows.listed[0]) / kShare;
    // A border may have moved to the start of the row behind the last one.
    const long long last = products.start_of(rows.listed[rows.count - 1] + 1) / kShare + 2;
    end = last < shares ? last : shares;
  }
};

// How many products each entry of A has; none behind the last one.
__device__ __forceinline__ void count_entry_products(const Pattern& a, const Pattern& b,
                                                     long long nrows, long long most,
                                                     long long* counts) {
  const Span span;
  const long long nvals = a.indptr[nrows];
  for (long long e = span.first; e < most; e += span.step) {
    const Index k = e < nvals ? a.indices[e] : 0;
    counts[e] = e < nvals ? b.indptr[k + 1] - b.indptr[k] : 0;
  }
}

// What a block knows of the share it works on. A row goes by the place of its first product here.
struct Share {
  unsigned long long* words;  // place of the row, column, place: in order once they are sorted
  Index* rows;                // row at the place of its first product
  long long begin;
  int count;

  __device__ __forceinline__ bool is_head(int t) const {
    if (words[t] == kDropped) return false;
    return t == 0 || words[t] >> kPlaceBits != words[t - 1] >> kPlaceBits;
  }
  __device__ __forceinline__ bool continues(int t) const {
    return t < count && words[t] >> kPlaceBits == words[t - 1] >> kPlaceBits;
  }
  __device__ __forceinline__ int row_place(int t) const {
    return static_cast<int>(words[t] >> kRowBits);
  }
  __device__ __forceinline__ int place(int t) const {
    return static_cast<int>(words[t] & (kShareMost - 1));
  }
  __device__ __forceinline__ Index column(int t) const {
    return static_cast<Index>(words[t] >> kPlaceBits & 0x7fffffffu);
  }
};

// Bitonic sort by the block; `padded` is a power of two.
__device__ __forceinline__ void sort_words(unsigned long long* words, unsigned padded) {
  for (unsigned size = 2; size <= padded; size *= 2) {
    for (unsigned stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      for (unsigned k = threadIdx.x; k < padded / 2; k += blockDim.x) {
        const unsigned low = 2 * k - (k & (stride - 1)), high = low + stride;
        const unsigned long long x = words[low], y = words[high];
        if ((x > y) != ((low & size) == 0)) continue;
        words[low] = y, words[high] = x;
      }
    }
  }
  __syncthreads();
}

// Lists the products of a share in order; calls `body(place, at_a, at_b, i, k, j)` for each that the
// mask lets be. A thread takes neighbouring ones, and asks for an entry of A once.
template <class Body>
__device__ __forceinline__ void list_share(const Products& products, const RowMask& mask,
                                           const Share& share, Body body) {
  const int each = (share.count + static_cast<int>(blockDim.x) - 1) / static_cast<int>(blockDim.x);
  const int first = static_cast<int>(threadIdx.x) * each;
  const int end = first + each < share.count ? first + each : share.count;
  long long e = first < end ? products.entry_of(share.begin + first) : 0;
  for (int place = first; place < end; ++place) {
    const long long p = share.begin + place;
    if (p >= products.before[e + 1]) e = products.entry_of(p);
    const Index i = products.rows[e], k = products.a.indices[e];
    const Offset at_b = products.b.indptr[k] + static_cast<Offset>(p - products.before[e]);
    const Index j = products.b.indices[at_b];
    const long long start = products.start_of(i) - share.begin;
    const unsigned long long row = start > 0 ? static_cast<unsigned long long>(start) : 0;
    if (row == static_cast<unsigned long long>(place)) share.rows[place] = i;
    const bool is_open = mask.allows(i, j);
    share.words[place] = is_open ? row << kRowBits | static_cast<unsigned long long>(j) << kPlaceBits |
                                       static_cast<unsigned long long>(place)
                                 : kDropped;
    if (is_open) body(place, static_cast<Offset>(e), at_b, i, k, j);
  }
  const int padded = 1 << bits_for(static_cast<unsigned>(share.count));
  for (int k = share.count + static_cast<int>(threadIdx.x); k < padded; k += blockDim.x) {
    share.words[k] = kDropped;
  }
  sort_words(share.words, static_cast<unsigned>(padded));
}

// The borders of a share; all threads of the block call it.
__device__ __forceinline__ long long find_share(const Products& products, long long number,
                                                int& count) {
  __shared__ long long borders[2];
  __syncthreads();
  if (threadIdx.x < 2) borders[threadIdx.x] = products.border(number + threadIdx.x);
  __syncthreads();
  count = static_cast<int>(borders[1] - borders[0]);
  return borders[0];
}

// Entries of the short rows, and the columns of the round's long ones. `sizes` are zero before; null:
// they are known.
__device__ __forceinline__ void count_by_share(const Products& products, const RowMask& mask,
                                               const LongRows& rows, long long shares,
                                               long long* sizes) {
  __shared__ unsigned long long words[kShareMost];
  __shared__ Index listed[kShareMost];
  __shared__ unsigned found[kShareMost];
  const ShareRange range(products, rows, shares);
  for (long long number = range.begin + blockIdx.x; number < range.end; number += gridDim.x) {
    int count;
    const long long begin = find_share(products, number, count);
    if (count == 0) continue;
    const Share share{words, listed, begin, count};
    for (int place = static_cast<int>(threadIdx.x); place < count; place += blockDim.x) {
      found[place] = 0;
    }
    list_share(products, mask, share, [](int, Offset, Offset, Index, Index, Index) {});
    for (int t = static_cast<int>(threadIdx.x); t < count; t += blockDim.x) {
      if (!share.is_head(t)) continue;
      const Index i = listed[share.row_place(t)];
      if (products.is_long(i)) {
        if (!rows.has(i)) continue;
        claim(rows.bits + rows.place(i), static_cast<unsigned>(share.column(t)));
      } else {
        atomicAdd(found + share.row_place(t), 1u);
      }
    }
    __syncthreads();
    if (sizes == nullptr) continue;
    for (int place = static_cast<int>(threadIdx.x); place < count; place += blockDim.x) {
      if (found[place] != 0) sizes[listed[place]] = found[place];
    }
  }
}

// How many columns of a long row come before each word of its bits; their number, unless `sizes` is
// null. One block a row.
__device__ __forceinline__ void rank_long_rows(const LongRows& rows, unsigned* ranks,
                                               long long* sizes) {
  __shared__ unsigned of_warps[kWarp];
  for (long long r = blockIdx.x; r < rows.count; r += gridDim.x) {
    unsigned so_far = 0;
    for (long long base = 0; base < rows.words; base += blockDim.x) {
      const long long w = base + threadIdx.x;
      const unsigned bits = w < rows.words ? rows.bits[r * rows.words + w] : 0;
      unsigned total;
      const unsigned before = before_in_block(__popc(bits), of_warps, total);
      if (w < rows.words) ranks[r * rows.words + w] = so_far + before;
      so_far += total;
    }
    if (threadIdx.x == 0 && sizes != nullptr) sizes[rows.listed[r]] = so_far;
  }
}

// Which rows are long.
__device__ __forceinline__ void flag_long_rows(const Products& products, long long nrows,
                                               int* flags) {
  const Span span;
  for (long long i = span.first; i < nrows; i += span.step) {
    flags[i] = products.is_long(static_cast<Index>(i)) ? 1 : 0;
  }
}
