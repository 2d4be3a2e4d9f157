// Values that are no numbers of C++: complex numbers, and records of any size.
#pragma once

// All functions are part of the kernels that call them.
#define SEMIRA_INLINE __device__ __forceinline__
// A loop over k = 0, 1, ... below a constant, written out by the compiler.
#define SEMIRA_UNROLLED(k, count) _Pragma("unroll") for (int k = 0; k < (count); ++k)

template <class P> struct alignas(2 * sizeof(P)) Complex {
  using Part = P;
  P real, imag;

  Complex() = default;
  __device__ constexpr Complex(P r, P i = 0) : real(r), imag(i) {}
  template <class Q>
  __device__ constexpr Complex(const Complex<Q>& z)
      : real(static_cast<P>(z.real)), imag(static_cast<P>(z.imag)) {}
};

template <class T> constexpr bool kIsComplex = false;
template <class P> constexpr bool kIsComplex<Complex<P>> = true;

template <int kBytes> struct WordOf {
  using Type = unsigned char;
};
template <> struct WordOf<2> {
  using Type = unsigned short;
};
template <> struct WordOf<4> {
  using Type = unsigned;
};
template <> struct WordOf<8> {
  using Type = unsigned long long;
};

// A record or sub-array: bytes that are moved and given to functions, nothing else. kAlign is the
// largest power of 2 up to 8 that divides the size, so that arrays of it have no gaps.
template <int kBytes, int kAlign> struct alignas(kAlign) Record {
  typename WordOf<kAlign>::Type words[kBytes / kAlign];
};

template <class T> constexpr bool kIsRecord = false;
template <int kBytes, int kAlign> constexpr bool kIsRecord<Record<kBytes, kAlign>> = true;

// Whether `count` numbers of type F, from byte kOffset of each record on, are equal.
template <class F, int kOffset, int kCount, class R>
SEMIRA_INLINE bool same_fields(const R& x, const R& y) {
  bool same = true;
  for (int k = 0; k < kCount; ++k) {
    F left, right;
    memcpy(&left, reinterpret_cast<const char*>(&x) + kOffset + k * sizeof(F), sizeof(F));
    memcpy(&right, reinterpret_cast<const char*>(&y) + kOffset + k * sizeof(F), sizeof(F));
    same = same && left == right;
  }
  return same;
}

// How Python functions are given records and return them and complex numbers.
template <class R> SEMIRA_INLINE unsigned char* bytes_of(R& record) {
  return reinterpret_cast<unsigned char*>(&record);
}
template <class R> SEMIRA_INLINE R record_at(const unsigned char* bytes) {
  R record;
  memcpy(&record, bytes, sizeof(R));
  return record;
}
template <class P> struct Parts {
  P real, imag;
};
template <class P> SEMIRA_INLINE Complex<P> from_parts(const Parts<P>& z) {
  return {z.real, z.imag};
}

// Operands of an operator whose two dtypes differ: a value is cast to each side it fits, and the
// operator takes its first operand from `first` and its second one from `second`.
template <class A, class B> struct Mixed {
  A first;
  B second;
};

template <class T> constexpr bool kIsMixed = false;
template <class A, class B> constexpr bool kIsMixed<Mixed<A, B>> = true;

// Sums and products round like those of the host: no fused multiply-add.
SEMIRA_INLINE float rounded_product(float x, float y) { return __fmul_rn(x, y); }
SEMIRA_INLINE double rounded_product(double x, double y) { return __dmul_rn(x, y); }

template <class P> SEMIRA_INLINE Complex<P> operator+(const Complex<P>& x, const Complex<P>& y) {
  return {x.real + y.real, x.imag + y.imag};
}
template <class P> SEMIRA_INLINE Complex<P> operator-(const Complex<P>& x, const Complex<P>& y) {
  return {x.real - y.real, x.imag - y.imag};
}
template <class P> SEMIRA_INLINE Complex<P> operator-(const Complex<P>& x) {
  return {-x.real, -x.imag};
}
template <class P> SEMIRA_INLINE Complex<P> operator*(const Complex<P>& x, const Complex<P>& y) {
  return {rounded_product(x.real, y.real) - rounded_product(x.imag, y.imag),
      rounded_product(x.real, y.imag) + rounded_product(x.imag, y.real)};
}
template <class P> SEMIRA_INLINE bool operator==(const Complex<P>& x, const Complex<P>& y) {
  return x.real == y.real && x.imag == y.imag;
}
template <class P> SEMIRA_INLINE bool operator!=(const Complex<P>& x, const Complex<P>& y) {
  return !(x == y);
}
