// Values in another order.
#pragma once
#include "matrix/entries.cuh"

// out[e] = in[order[e]], for values of `size` words; a thread moves one word.
template <class Word>
__device__ void reorder(const void* in, const long long* order, long long n, long long size,
                        void* out) {
  for (const long long w : items_below(n * size)) {
    const long long e = size == 1 ? w : w / size;
    static_cast<Word*>(out)[w] = static_cast<const Word*>(in)[order[e] * size + (w - e * size)];
  }
}
extern "C" __global__ void semira_reorder1(const void* in, const long long* order, long long n,
                                           long long size, void* out) {
  reorder<unsigned char>(in, order, n, size, out);
}
extern "C" __global__ void semira_reorder2(const void* in, const long long* order, long long n,
                                           long long size, void* out) {
  reorder<unsigned short>(in, order, n, size, out);
}
extern "C" __global__ void semira_reorder4(const void* in, const long long* order, long long n,
                                           long long size, void* out) {
  reorder<unsigned>(in, order, n, size, out);
}
extern "C" __global__ void semira_reorder8(const void* in, const long long* order, long long n,
                                           long long size, void* out) {
  reorder<unsigned long long>(in, order, n, size, out);
}

// items[places[k]].
extern "C" __global__ void semira_pick(const long long* items, const Offset* places, long long n,
                                       long long* out) {
  for (const long long k : items_below(n)) out[k] = items[places[k]];
}
