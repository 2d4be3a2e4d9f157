// CUDA C++ as the kernels use it, for a compiler of the host.
//
// A block is a thread of the operating system, a thread of the block is a fibre of it: fibres change
// places only where they wait for one another, so that code between two such places runs undisturbed
// by its block, and other blocks run at the same time. What is wrong there and this can see: lanes
// that meet at different calls, threads that wait for ever, reliance on lanes of a warp going in step.
#pragma once
// Bessel functions and their like, which no kernel calls: a third of the header, compiled.
#define _GLIBCXX_BITS_SPECFUN_H 1
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <type_traits>
#include <utility>

struct uint3 {
  unsigned x, y, z;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(16) int4 {
  int x, y, z, w;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(8) int2 {
  int x, y;
};
struct alignas(16) double2 {
  double x, y;
};

namespace emulated {

// Where a fibre is; alike for all of a block but for `thread`.
struct Here {
  uint3 thread, block, threads, blocks;
  unsigned char* dynamic;
  unsigned dynamic_bytes;
};
extern __thread Here* here __attribute__((tls_model("initial-exec")));

// What lane `source` of those in `mask` gives, which meet here; or `mine`, for a lane that keeps its
// `own`.
uint64_t shuffle(unsigned mask, uint64_t mine, int source, bool own);

}  // namespace emulated

#define __device__
#define __host__
#define __global__
#define __forceinline__ inline
#define __noinline__ inline
#define __constant__
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __shared__ static thread_local
#define __builtin_assume(x)

#define threadIdx (emulated::here->thread)
#define blockIdx (emulated::here->block)
#define blockDim (emulated::here->threads)
#define gridDim (emulated::here->blocks)
constexpr int warpSize = 32;

// What no kernel has to compile: gpu.cpp defines these words, and has the templates that are named
// by EMULATED for these types.
#ifdef EMULATED_HERE
#define EMULATED template
#else
#define EMULATED extern template
#endif
#define EMULATED_WORDS(each) \
  each(int) each(unsigned) each(long long) each(unsigned long long)

unsigned emulated_lane();

// warps -------------------------------------------------------------------------------------------
template <class T>
inline uint64_t emulated_bits(T x) {
  static_assert(sizeof(T) <= 8, "a register");
  uint64_t bits = 0;
  memcpy(&bits, &x, sizeof(T));
  return bits;
}
template <class T>
inline T emulated_value(uint64_t bits) {
  T x;
  memcpy(&x, &bits, sizeof(T));
  return x;
}
template <class T>
inline T emulated_shuffle(unsigned mask, T x, int source, bool own) {
  return emulated_value<T>(emulated::shuffle(mask, emulated_bits(x), source, own));
}
template <class T>
inline T __shfl_sync(unsigned mask, T x, int source, int width = 32) {
  const int first = static_cast<int>(emulated_lane()) / width * width;
  return emulated_shuffle(mask, x, first + (source & (width - 1)), false);
}
template <class T>
inline T __shfl_up_sync(unsigned mask, T x, unsigned step, int width = 32) {
  const int lane = static_cast<int>(emulated_lane()), from = lane - static_cast<int>(step);
  return emulated_shuffle(mask, x, from, from < lane / width * width);
}
template <class T>
inline T __shfl_down_sync(unsigned mask, T x, unsigned step, int width = 32) {
  const int lane = static_cast<int>(emulated_lane()), from = lane + static_cast<int>(step);
  return emulated_shuffle(mask, x, from, from >= (lane / width + 1) * width);
}
template <class T>
inline T __shfl_xor_sync(unsigned mask, T x, int bits, int width = 32) {
  const int lane = static_cast<int>(emulated_lane()), from = lane ^ bits;
  return emulated_shuffle(mask, x, from, from >= (lane / width + 1) * width);
}
#define EMULATED_SHUFFLES(T)                                     \
  EMULATED T __shfl_sync(unsigned, T, int, int);                 \
  EMULATED T __shfl_up_sync(unsigned, T, unsigned, int);         \
  EMULATED T __shfl_down_sync(unsigned, T, unsigned, int);       \
  EMULATED T __shfl_xor_sync(unsigned, T, int, int);
EMULATED_WORDS(EMULATED_SHUFFLES)
EMULATED_SHUFFLES(bool)
EMULATED_SHUFFLES(float)
EMULATED_SHUFFLES(double)
unsigned __ballot_sync(unsigned mask, bool vote);
int __any_sync(unsigned mask, bool vote);
int __all_sync(unsigned mask, bool vote);
void __syncwarp(unsigned mask = 0xffffffffu);
// Lanes of a warp go on by themselves: who is active with whom is never known.
unsigned __activemask();
unsigned __reduce_add_sync(unsigned mask, unsigned x);
unsigned __reduce_min_sync(unsigned mask, unsigned x);
unsigned __reduce_max_sync(unsigned mask, unsigned x);
unsigned __reduce_or_sync(unsigned mask, unsigned x);

// blocks ------------------------------------------------------------------------------------------
void __syncthreads();
int __syncthreads_or(int any);
int __syncthreads_and(int all);
void __threadfence();
void __threadfence_block();
void __nanosleep(unsigned);

// Addresses in shared memory have 32 bits: those of the dynamic part count from its start.
inline size_t __cvta_generic_to_shared(const void* place) {
  return static_cast<size_t>(static_cast<const unsigned char*>(place) - emulated::here->dynamic);
}

// atomics -----------------------------------------------------------------------------------------
template <class T, class Next>
inline T emulated_update(T* place, Next next) {
  using Word = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  static_assert(sizeof(T) == sizeof(Word), "a word");
  Word* const word = reinterpret_cast<Word*>(place);
  Word old = __atomic_load_n(word, __ATOMIC_RELAXED);
  while (true) {
    const T before = emulated_value<T>(old);
    const Word wanted = static_cast<Word>(emulated_bits(next(before)));
    if (__atomic_compare_exchange_n(word, &old, wanted, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
      return before;
  }
}
template <class T>
struct EmulatedSame {
  using Type = T;
};
template <class T>
using EmulatedArgument = typename EmulatedSame<T>::Type;
template <class T>
inline T atomicAdd(T* place, EmulatedArgument<T> x) {
  return emulated_update(place, [x](T old) { return static_cast<T>(old + x); });
}
template <class T>
inline T atomicMin(T* place, EmulatedArgument<T> x) {
  return emulated_update(place, [x](T old) { return x < old ? x : old; });
}
template <class T>
inline T atomicMax(T* place, EmulatedArgument<T> x) {
  return emulated_update(place, [x](T old) { return x > old ? x : old; });
}
template <class T>
inline T atomicOr(T* place, EmulatedArgument<T> x) {
  return emulated_update(place, [x](T old) { return old | x; });
}
template <class T>
inline T atomicAnd(T* place, EmulatedArgument<T> x) {
  return emulated_update(place, [x](T old) { return old & x; });
}
template <class T>
inline T atomicXor(T* place, EmulatedArgument<T> x) {
  return emulated_update(place, [x](T old) { return old ^ x; });
}
template <class T>
inline T atomicExch(T* place, EmulatedArgument<T> x) {
  return emulated_update(place, [x](T) { return x; });
}
template <class T>
inline T atomicCAS(T* place, EmulatedArgument<T> expected, EmulatedArgument<T> x) {
  return emulated_update(place, [=](T old) { return old == expected ? x : old; });
}

#define EMULATED_ATOMICS(T)                                               \
  EMULATED T atomicAdd(T*, EmulatedArgument<T>);                          \
  EMULATED T atomicMin(T*, EmulatedArgument<T>);                          \
  EMULATED T atomicMax(T*, EmulatedArgument<T>);                          \
  EMULATED T atomicOr(T*, EmulatedArgument<T>);                           \
  EMULATED T atomicAnd(T*, EmulatedArgument<T>);                          \
  EMULATED T atomicXor(T*, EmulatedArgument<T>);                          \
  EMULATED T atomicExch(T*, EmulatedArgument<T>);                         \
  EMULATED T atomicCAS(T*, EmulatedArgument<T>, EmulatedArgument<T>);
EMULATED_WORDS(EMULATED_ATOMICS)
EMULATED float atomicAdd(float*, EmulatedArgument<float>);
EMULATED double atomicAdd(double*, EmulatedArgument<double>);

// numbers -----------------------------------------------------------------------------------------
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline int __popc(unsigned x) { return __builtin_popcount(x); }
// Mathematics that C++ has not.
inline double rsqrt(double x) { return 1 / std::sqrt(x); }
inline double cospi(double x) { return std::cos(x * 3.14159265358979323846); }

inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
inline float __int_as_float(int x) { return emulated_value<float>(emulated_bits(x)); }
inline int __float_as_int(float x) { return emulated_value<int>(emulated_bits(x)); }
inline double __longlong_as_double(long long x) { return emulated_value<double>(emulated_bits(x)); }
inline long long __double_as_longlong(double x) {
  return emulated_value<long long>(emulated_bits(x));
}
inline float __fmul_rn(float a, float b) { return a * b; }
inline double __dmul_rn(double a, double b) { return a * b; }
template <class A, class B>
inline std::common_type_t<A, B> min(A a, B b) {
  using T = std::common_type_t<A, B>;
  return static_cast<T>(b) < static_cast<T>(a) ? static_cast<T>(b) : static_cast<T>(a);
}
template <class A, class B>
inline std::common_type_t<A, B> max(A a, B b) {
  using T = std::common_type_t<A, B>;
  return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(b) : static_cast<T>(a);
}

// What the kernels write in the GPU's own language.
void emulated_arrive(unsigned* counter);
unsigned emulated_look(const unsigned* counter);
long long emulated_clock_ns();
inline long long clock64() { return emulated_clock_ns(); }
template <class V, class Bits>
inline void emulated_load_either(Bits& bits, int column, unsigned table, const V* array) {
  V value;
  if (column < 0) {
    memcpy(&value, emulated::here->dynamic + table + sizeof(V) * static_cast<unsigned>(~column),
           sizeof(V));
  } else {
    value = array[column];
  }
  bits = 0;
  memcpy(&bits, &value, sizeof(V));
}

template <class... P, size_t... kPlaces>
inline void emulated_call(void (*kernel)(P...), void* const* given,
                          std::integer_sequence<size_t, kPlaces...>) {
  kernel(*static_cast<std::remove_cv_t<P>*>(given[kPlaces])...);
}
template <class... P>
inline void emulated_call(void (*kernel)(P...), void* const* given) {
  emulated_call(kernel, given, std::index_sequence_for<P...>{});
}
