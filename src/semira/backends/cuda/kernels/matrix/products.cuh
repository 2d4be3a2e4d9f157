// Products of two matrices: masked dot products, and expansion into sorted partial products.
#pragma once
#include "matrix/policies.cuh"
#include "reduce/reduce.cuh"

// multiply(A_ik, B_kj).
template <class Semiring, class A, class B>
__device__ __forceinline__ typename Semiring::Add::T multiply_entries(const Entries<A>& a,
                                                                      const Entries<B>& b,
                                                                      Offset at_a, Offset at_b,
                                                                      Index i, Index k, Index j) {
  using Op = typename Semiring::Multiply;
  using T = typename Op::T;
  T x{}, y{};
  if constexpr (Op::kReadsA) x = cast<T>(a.value(at_a));
  if constexpr (Op::kReadsB) y = cast<T>(b.value(at_b));
  return cast<typename Semiring::Add::T>(Op::apply(x, y, i, k, j));
}

// C<M> = A (+).(*) B by intersecting rows of A with columns of B (rows of `bt`), kGroup lanes an
// entry of the mask. The lanes walk the shorter list and search the longer one.
template <bool kExit, int kGroup, class Semiring, bool kStructural, class A, class B, class M>
__device__ void dot_masked(const Entries<A>& a, const Entries<B>& bt, const Entries<M>& mask,
                           typename Semiring::Add::T* found, Offset* flags) {
  using Add = typename Semiring::Add;
  using T = typename Add::T;
  const Span span;
  const unsigned lane = threadIdx.x % kGroup;
  const unsigned group_mask = kGroup == kWarp ? kAllLanes
                                              : ((1u << kGroup) - 1)
                                                    << (threadIdx.x % kWarp / kGroup * kGroup);
  for (long long e = span.first / kGroup; e < mask.nvals; e += span.step / kGroup) {
    const Index i = mask.rows[e], j = mask.indices[e];
    Offset a_at = a.indptr[i], b_at = bt.indptr[j];
    const Offset a_end = a.indptr[i + 1], b_end = bt.indptr[j + 1];
    bool open = true;
    if constexpr (!kStructural) open = cast<bool>(mask.value(static_cast<Offset>(e)));
    T value{};
    bool has = false;
    if (open) {
      const bool by_a = a_end - a_at <= b_end - b_at;
      const Index* walked = by_a ? a.indices : bt.indices;
      const Index* searched = by_a ? bt.indices : a.indices;
      Offset at = by_a ? a_at : b_at, low = by_a ? b_at : a_at;
      const Offset end = by_a ? a_end : b_end, high = by_a ? b_end : a_end;
      for (at += lane; at < end && low < high; at += kGroup) {
        const Index k = walked[at];
        low = lower_bound(searched, low, high, k);
        if (low == high || searched[low] != k) continue;
        const T z = multiply_entries<Semiring>(a, bt, by_a ? at : low, by_a ? low : at, i, k, j);
        value = has ? Add::apply(value, z) : z;
        has = true;
        if constexpr (kExit) {
          if (Add::kIsAny || (Add::kHasTerminal && Add::is_terminal(value))) break;
        }
      }
    }
#pragma unroll
    for (int step = kGroup / 2; step > 0; step /= 2) {
      const int other = static_cast<int>(threadIdx.x % kWarp) ^ step;
      const T other_value = shuffle(value, other, group_mask);
      const bool other_has = __shfl_sync(group_mask, has, other) != 0;
      merge<Add>(value, has, other_value, other_has);
    }
    if (lane == 0) {
      flags[e] = has ? 1 : 0;
      if (has) found[e] = value;
    }
  }
}

// Partial products of every entry of A: as many as its row of B is long.
template <class A, class B>
__device__ void count_products(const Entries<A>& a, const Entries<B>& b, Offset first, Offset count,
                               long long* counts) {
  const Span span;
  for (long long e = span.first; e < count; e += span.step) {
    const Index k = a.indices[first + e];
    counts[e] = b.indptr[k + 1] - b.indptr[k];
  }
}

// Every partial product with its key ``row * ncols + column``. `starts` are running sums.
template <class Semiring, class A, class B>
__device__ void expand_products(const Entries<A>& a, const Entries<B>& b, Offset first,
                                Offset count, const long long* starts, long long ncols,
                                unsigned long long* keys, typename Semiring::Add::T* values) {
  const Span span;
  const long long total = starts[count];
  for (long long w = span.first; w < total; w += span.step) {
    const long long e = owner_in(starts, static_cast<long long>(count), w);
    const Offset at_a = first + static_cast<Offset>(e);
    const Index i = a.rows[at_a], k = a.indices[at_a];
    const Offset at_b = b.indptr[k] + static_cast<Offset>(w - starts[e]);
    const Index j = b.indices[at_b];
    keys[w] = static_cast<unsigned long long>(i) * static_cast<unsigned long long>(ncols) +
              static_cast<unsigned long long>(j);
    values[w] = multiply_entries<Semiring>(a, b, at_a, at_b, i, k, j);
  }
}

// 1 where a sorted list of keys has a new one.
__device__ __forceinline__ void flag_heads(const unsigned long long* keys, long long n,
                                           long long* flags) {
  const Span span;
  for (long long w = span.first; w < n; w += span.step) {
    flags[w] = w == 0 || keys[w] != keys[w - 1] ? 1 : 0;
  }
}

// Adds up the values of equal keys, in the order they had before the sort.
template <class Add>
__device__ void fold_keys(const unsigned long long* keys, const long long* order,
                          const typename Add::T* values, long long n, const long long* scan,
                          unsigned long long* out_keys, typename Add::T* out_values) {
  using T = typename Add::T;
  const Span span;
  for (long long w = span.first; w < n; w += span.step) {
    const long long to = scan[w];
    if (scan[w + 1] == to) continue;
    T sum = values[order[w]];
    if constexpr (!Add::kIsAny) {
      for (long long next = w + 1; next < n && keys[next] == keys[w]; ++next) {
        sum = Add::apply(sum, values[order[next]]);
      }
    }
    out_keys[to] = keys[w];
    out_values[to] = sum;
  }
}
