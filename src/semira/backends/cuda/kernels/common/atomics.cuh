// `*address = Add(*address, x)`, atomically, for every monoid and every dtype.
#pragma once
#include "common/types.cuh"

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

template <class Add, class T>
__device__ __forceinline__ void atomic_accumulate(T* address, T x) {
  if constexpr (Add::kIsPlainSum && sizeof(T) == 8 && !kIsFloat<T>) {
    atomicAdd(reinterpret_cast<unsigned long long*>(address), static_cast<unsigned long long>(x));
  } else if constexpr (Add::kIsPlainSum && sizeof(T) == 4 && !kIsFloat<T>) {
    atomicAdd(reinterpret_cast<unsigned*>(address), static_cast<unsigned>(x));
  } else if constexpr (Add::kIsPlainSum && kIsFloat<T>) {
    atomicAdd(address, x);
  } else if constexpr (sizeof(T) == 8) {
    swap_accumulate<Add, unsigned long long>(address, x);
  } else {
    swap_accumulate<Add, unsigned>(address, x);
  }
}
