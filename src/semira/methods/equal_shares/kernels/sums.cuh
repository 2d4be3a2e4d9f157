// Products in shares with their values; see shares.cuh.
#pragma once
#include "mxm/rowwise.cuh"
#include "semira.methods.equal_shares.kernels:shares.cuh"

// Positions of a share from which sums go on, beside the heads: no thread adds up more in a row.
constexpr int kRunLength = 32;

// Where the sums of long rows go.
struct LongSums {
  LongRows rows;
  const unsigned* ranks;
  unsigned* taken;  // a bit for every column that has got a sum; zero before

  // Adds `z` to entry (i, j) of a row that begins at `start`.
  template <class Add>
  __device__ __forceinline__ void add(typename Add::T* values, long long start, Index i, Index j,
                                      const typename Add::T& z) const {
    const unsigned at = static_cast<unsigned>(j);
    const long long word = rows.place(i) + at / kWarp;
    const unsigned below = rows.bits[word] & ((1u << at % kWarp) - 1);
    typename Add::T* const sum = values + start + ranks[word] + __popc(below);
    unsigned* const own = taken + rows.place(i);
    if constexpr (Add::kIsAny) {
      if (claim(own, at)) *sum = z;
    } else if constexpr (Add::kMethod == Method::kLock) {
      with_lock(sum, [&] { *sum = claim(own, at) ? z : Add::apply(*sum, z); });
    } else {
      atomic_accumulate<Add>(sum, z);
    }
  }
};

// Positions and resting values of the long rows.
template <class Add>
__device__ void open_long_rows(const LongSums& to, const long long* starts, const Written& out) {
  const Span span;
  const long long words = to.rows.words;
  for (long long w = span.first; w < to.rows.count * words; w += span.step) {
    const Index i = to.rows.listed[w / words];
    long long at = starts[i] + to.ranks[w];
    for (unsigned bits = to.rows.bits[w]; bits != 0; bits &= bits - 1, ++at) {
      out.indices[at] = static_cast<Index>(w % words * kWarp) + __ffs(static_cast<int>(bits)) - 1;
      out.rows[at] = i;
      static_cast<typename Add::T*>(out.values)[at] = resting_value<Add>();
    }
  }
}

// Adds up the products of every position of a share, in the order of k, to the place of the first.
template <class Add>
__device__ __forceinline__ void fold_share(const Share& share, typename Add::T* values) {
  const auto is_start = [&](int t) {
    return share.is_head(t) || (t % kRunLength == 0 && share.words[t] != kDropped);
  };
  for (int t = static_cast<int>(threadIdx.x); t < share.count; t += blockDim.x) {
    if (!is_start(t)) continue;
    typename Add::T sum = values[share.place(t)];
    for (int next = t + 1; share.continues(next) && next % kRunLength != 0; ++next) {
      sum = Add::apply(sum, values[share.place(next)]);
    }
    values[share.place(t)] = sum;
  }
  __syncthreads();
  for (int t = static_cast<int>(threadIdx.x); t < share.count; t += blockDim.x) {
    if (!share.is_head(t)) continue;
    const unsigned long long own = share.words[t] >> kPlaceBits;
    typename Add::T sum = values[share.place(t)];
    int next = (t / kRunLength + 1) * kRunLength;
    if (next >= share.count || share.words[next] >> kPlaceBits != own) continue;
    for (; next < share.count && share.words[next] >> kPlaceBits == own; next += kRunLength) {
      sum = Add::apply(sum, values[share.place(next)]);
    }
    values[share.place(t)] = sum;
  }
  __syncthreads();
}

// The shares of a round: short rows are written, what belongs to its long ones is added to them.
template <class Semiring, class A, class B>
__device__ void fill_by_share(const Entries<A>& a, const Entries<B>& b, const Products& products,
                              const RowMask& mask, long long shares, const LongSums& to,
                              const long long* starts, const Written& out) {
  using Add = typename Semiring::Add;
  using T = typename Add::T;
  __shared__ Index listed[kShareMost];
  __shared__ unsigned short before_row[kShareMost];
  __shared__ unsigned of_warps[kWarp];
  T* const values = reinterpret_cast<T*>(block_memory);
  auto* const words =
      reinterpret_cast<unsigned long long*>(block_memory + kShareMost * sizeof(T));
  const ShareRange range(products, to.rows, shares);
  for (long long number = range.begin + blockIdx.x; number < range.end; number += gridDim.x) {
    int count;
    const long long begin = find_share(products, number, count);
    if (count == 0) continue;
    const Share share{words, listed, begin, count};
    list_share(products, mask, share,
               [&](int place, Offset at_a, Offset at_b, Index i, Index k, Index j) {
                 values[place] = multiply_entries<Semiring>(a, b, at_a, at_b, i, k, j);
               });
    if constexpr (!Add::kIsAny) fold_share<Add>(share, values);
    // The heads of a row are neighbours: a head's number less that of the row's first one.
    const int each = (count + static_cast<int>(blockDim.x) - 1) / static_cast<int>(blockDim.x);
    const int first = static_cast<int>(threadIdx.x) * each;
    const int end = first + each < count ? first + each : count;
    unsigned heads = 0, total;
    for (int t = first; t < end; ++t) heads += share.is_head(t) ? 1 : 0;
    const unsigned before = before_in_block(heads, of_warps, total);
    unsigned rank = before;
    for (int t = first; t < end; ++t) {
      if (!share.is_head(t)) continue;
      if (t == 0 || share.row_place(t) != share.row_place(t - 1)) {
        before_row[share.row_place(t)] = static_cast<unsigned short>(rank);
      }
      ++rank;
    }
    __syncthreads();
    rank = before;
    for (int t = first; t < end; ++t) {
      if (!share.is_head(t)) continue;
      const int row = share.row_place(t);
      const Index i = listed[row], j = share.column(t);
      const T z = values[share.place(t)];
      if (products.is_long(i)) {
        if (to.rows.has(i)) to.add<Add>(static_cast<T*>(out.values), starts[i], i, j, z);
      } else {
        const long long at = starts[i] + rank - before_row[row];
        out.indices[at] = j;
        out.rows[at] = i;
        static_cast<T*>(out.values)[at] = z;
      }
      ++rank;
    }
  }
}
