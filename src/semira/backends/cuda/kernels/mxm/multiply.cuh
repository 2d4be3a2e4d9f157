// The multiplication of two entries; values that the operator ignores are not loaded.
#pragma once
#include "matrix/entries.cuh"

// A semiring whose sums are added up in the order of k, the same in every run.
template <class Semiring> struct InOrder : Semiring {};
template <class Semiring> constexpr bool kInOrder = false;
template <class Semiring> constexpr bool kInOrder<InOrder<Semiring>> = true;

// multiply(x, y), x of A_ik and y of B_kj, both loaded where they are read.
template <class Semiring, class A, class B>
SEMIRA_INLINE SumOf<Semiring> multiply_values(A a, B b, Index i, Index k, Index j) {
  using Op = typename Semiring::Multiply;
  using T = typename Op::T;
  T x{}, y{};
  if constexpr (Op::kReadsA) x = cast<T>(a);
  if constexpr (Op::kReadsB) y = cast<T>(b);
  return cast<SumOf<Semiring>>(Op::apply(x, y, i, k, j));
}

// multiply(A_ik, B_kj).
template <class Semiring, class A, class B>
SEMIRA_INLINE SumOf<Semiring> multiply_entries(
    const Entries<A>& a, const Entries<B>& b, Offset at_a, Offset at_b, Index i, Index k, Index j) {
  A x{};
  B y{};
  if constexpr (Semiring::Multiply::kReadsA) x = a.value(at_a);
  if constexpr (Semiring::Multiply::kReadsB) y = b.value(at_b);
  return multiply_values<Semiring>(x, y, i, k, j);
}
