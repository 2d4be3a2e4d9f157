// C = A (x) B, entry by entry: row i nb + k of C is row i of A with row k of B for each of its entries.
//
// Where an entry goes follows from the offsets of both: nothing is counted or sorted.
#pragma once
#include "common/helpers.cuh"
#include "matrix/merge.cuh"

// Offset of row `r` of C, which has `n` entries.
template <class A, class B>
SEMIRA_INLINE Offset kronecker_offset(
    const Entries<A>& a, const Entries<B>& b, long long rows_of_b, long long r) {
  const long long i = r / rows_of_b, k = r % rows_of_b;
  return a.indptr[i] * b.nvals + (a.indptr[i + 1] - a.indptr[i]) * b.indptr[k];
}

// Neither operand is empty. With kFirstColumn the operator asks for the column of A's entry as k,
// else for the row of B's.
template <class Op, bool kFirstColumn, class A, class B>
__device__ void kronecker(const Entries<A>& a, const Entries<B>& b, long long rows_of_a,
    long long rows_of_b, long long columns_of_b, const Written& out) {
  using T = typename Op::T;
  using R = typename Op::R;
  const long long n = static_cast<long long>(a.nvals) * b.nvals;
  for (const long long t : items_below(n)) {
    const Offset at = static_cast<Offset>(t);
    const Index i = a.rows[at / b.nvals];
    const Offset begin = a.indptr[i], length = a.indptr[i + 1] - begin;
    const Offset in_row = at - begin * b.nvals;
    const Index k = b.rows[in_row / length];
    const Offset begin_b = b.indptr[k], length_b = b.indptr[k + 1] - begin_b;
    const Offset pair = in_row - begin_b * length;
    const Offset at_a = begin + pair / length_b, at_b = begin_b + pair % length_b;
    const Index j = a.indices[at_a], m = b.indices[at_b];
    out.rows[t] = static_cast<Index>(i * rows_of_b + k);
    out.indices[t] = static_cast<Index>(j * columns_of_b + m);
    T x{}, y{};
    if constexpr (Op::kReadsA) x = cast<T>(a.value(at_a));
    if constexpr (Op::kReadsB) y = cast<T>(b.value(at_b));
    static_cast<R*>(out.values)[t] = Op::apply(x, y, i, kFirstColumn ? j : k, m);
  }
  const long long rows = rows_of_a * rows_of_b;
  for (const long long r : items_below(rows + 1)) {
    out.indptr[r] = r < rows ? kronecker_offset(a, b, rows_of_b, r) : static_cast<Offset>(n);
  }
}
