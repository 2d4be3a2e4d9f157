// Values in another order.
#pragma once
#include "matrix/entries.cuh"

// out[e] = in[order[e]], for values of `size` words; a thread moves one word.
template <class Word>
__device__ void reorder(
    const void* in, const long long* order, long long n, long long size, void* out) {
  for (const long long w : items_below(n * size)) {
    const long long e = size == 1 ? w : w / size;
    static_cast<Word*>(out)[w] = static_cast<const Word*>(in)[order[e] * size + (w - e * size)];
  }
}
#define SEMIRA_REORDER(name, Word)                                                      \
  extern "C" __global__ void name(                                                      \
      const void* in, const long long* order, long long n, long long size, void* out) { \
    reorder<Word>(in, order, n, size, out);                                             \
  }
SEMIRA_REORDER(semira_reorder1, unsigned char)
SEMIRA_REORDER(semira_reorder2, unsigned short)
SEMIRA_REORDER(semira_reorder4, unsigned)
SEMIRA_REORDER(semira_reorder8, unsigned long long)

// items[places[k]].
extern "C" __global__ void semira_pick(
    const long long* items, const Offset* places, long long n, long long* out) {
  for (const long long k : items_below(n)) out[k] = items[places[k]];
}
