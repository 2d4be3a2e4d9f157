// Products with an operand that has every entry: its values are read by position.
#pragma once
#include "common/grid.cuh"
#include "common/pack.cuh"
#include "matrix/merge.cuh"
#include "mxm/multiply.cuh"
#include "reduce/reduce.cuh"

// A full matrix: entry (i, j) is values[i * step_i + j * step_j]. Steps are 0 where all entries share
// one value.
template <class B> struct Full {
  const B* __restrict__ values;
  long long step_i, step_j;

  __device__ Full(const Entries<B>& entries, long long along_i, long long along_j)
      : values(entries.values), step_i(along_i * entries.value_stride),
        step_j(along_j * entries.value_stride) {}
  SEMIRA_INLINE B value(long long i, long long j) const { return values[i * step_i + j * step_j]; }
};

template <bool kExit, class Add> SEMIRA_INLINE bool is_final(const typename Add::T& value) {
  if constexpr (kExit) return Add::kIsAny || (Add::kHasTerminal && Add::is_terminal(value));
  return false;
}

// Full A times sparse B, of which these are the columns: a thread an entry of the result. `lines` are
// the columns that are not empty, null if none is.
template <bool kExit, class Semiring, class A, class B>
__device__ void full_times_sparse(const Full<A>& a, const Entries<B>& bt, const Index* lines,
    long long num_lines, long long num_rows, Index* rows, Index* indices, SumOf<Semiring>* values) {
  using Add = typename Semiring::Add;
  const auto product = [&](Offset at, Index i, Index j) {
    const Index k = bt.indices[at];
    A x{};
    B y{};
    if constexpr (Semiring::Multiply::kReadsA) x = a.value(i, k);
    if constexpr (Semiring::Multiply::kReadsB) y = bt.value(at);
    return multiply_values<Semiring>(x, y, i, k, j);
  };
  for (const long long item : items_below(num_rows * num_lines)) {
    const Index i = static_cast<Index>(item / num_lines), c = static_cast<Index>(item % num_lines);
    const Index j = lines != nullptr ? lines[c] : c;
    Offset at = bt.indptr[j];
    const Offset end = bt.indptr[j + 1];
    typename Add::T value = product(at, i, j);
    while (++at < end && !is_final<kExit, Add>(value)) value = Add::apply(value, product(at, i, j));
    values[item] = value;
    // A result without empty columns is whole: nobody asks where its entries stand.
    if (rows != nullptr) {
      rows[item] = i;
      indices[item] = j;
    }
  }
}
