// `*address = Add(*address, x)`, atomically, for every monoid and every dtype.
#pragma once
#include "common/vector.cuh"

constexpr unsigned kLocks = 4096;
template <class T>
__device__ unsigned locks_of[kLocks];  // 1: held

// Runs `body` while no other thread has the lock of `address`. Lanes of a warp may want the same
// lock: each tries once a round, and whoever got it gives it back before the next round. So no
// lane waits for another one that waits for it, however the compiler lays out the loop.
template <class T, class Body>
__device__ __forceinline__ void with_lock(const T* address, Body body) {
  const unsigned long long place = reinterpret_cast<unsigned long long>(address) / sizeof(T);
  unsigned* lock = &locks_of<T>[place % kLocks];
  const unsigned together = __activemask();
  bool done = false;
  do {
    if (!done && atomicCAS(lock, 0u, 1u) == 0u) {
      // What the last holder wrote is seen, and what is written here is seen by the next one.
      __threadfence();
      body();
      __threadfence();
      atomicExch(lock, 0u);
      done = true;
    }
  } while (__any_sync(together, !done));
}

// Compare-and-swap on the aligned word that holds the value: 1- and 2-byte dtypes share one.
template <class Add, class Word, class T>
__device__ __forceinline__ void swap_accumulate(T* address, T x) {
  const unsigned long long place = reinterpret_cast<unsigned long long>(address);
  Word* word = reinterpret_cast<Word*>(place & ~static_cast<unsigned long long>(sizeof(Word) - 1));
  const int shift = 8 * static_cast<int>(place & (sizeof(Word) - 1));
  const Word field = (~static_cast<Word>(0) >> (8 * (sizeof(Word) - sizeof(T)))) << shift;
  Word old = *const_cast<volatile Word*>(word);
  while (true) {
    Word bits = (old & field) >> shift;
    const T next = Add::apply(*reinterpret_cast<T*>(&bits), x);
    Word next_bits = 0;
    *reinterpret_cast<T*>(&next_bits) = next;
    const Word wanted = (old & ~field) | (next_bits << shift);
    // Read first: min, max and the like are mostly settled before the last writer comes.
    if (wanted == old) return;
    const Word found = atomicCAS(word, old, wanted);
    if (found == old) return;
    old = found;
  }
}

template <class T>
__device__ __forceinline__ void hardware_add(T* address, T x) {
  if constexpr (kIsComplex<T>) {
    atomicAdd(&address->real, x.real);
    atomicAdd(&address->imag, x.imag);
  } else if constexpr (kIsFloat<T>) {
    atomicAdd(address, x);
  } else if constexpr (sizeof(T) == 8) {
    atomicAdd(reinterpret_cast<unsigned long long*>(address), static_cast<unsigned long long>(x));
  } else {
    atomicAdd(reinterpret_cast<unsigned*>(address), static_cast<unsigned>(x));
  }
}

// To a place that holds a value, or the identity.
template <class Add, class T>
__device__ __forceinline__ void atomic_accumulate(T* address, T x) {
  if constexpr (Add::kMethod == Method::kSum) {
    hardware_add(address, x);
  } else if constexpr (Add::kMethod == Method::kLock || (sizeof(T) & (sizeof(T) - 1)) != 0 ||
                       sizeof(T) > 8) {
    with_lock(address, [&] { *address = Add::apply(*address, x); });
  } else if constexpr (sizeof(T) == 8) {
    swap_accumulate<Add, unsigned long long>(address, x);
  } else {
    swap_accumulate<Add, unsigned>(address, x);
  }
}

// Adds x to entry i of a plane, for any monoid but `any`; true if the entry is new. `seen` says
// that its presence was read already. Absent entries hold the identity, but under a lock the first
// value is stored as it is: presence changes under the same lock.
template <class Add>
__device__ __forceinline__ bool accumulate_entry(const Plane<typename Add::T>& out, Index i,
                                                 typename Add::T x, bool seen) {
  unsigned* word = &out.words[static_cast<unsigned>(i) / kWarp];
  const unsigned bit = 1u << (static_cast<unsigned>(i) % kWarp);
  bool fresh = false;
  if constexpr (Add::kMethod == Method::kLock) {
    with_lock(&out.values[i], [&] {
      fresh = !(atomicOr(word, bit) & bit);
      out.values[i] = fresh ? x : Add::apply(out.values[i], x);
    });
  } else {
    // Reading first spares most atomics; the old bit decides who owns the entry.
    if (!seen) fresh = !(atomicOr(word, bit) & bit);
    atomic_accumulate<Add>(&out.values[i], x);
  }
  return fresh;
}
