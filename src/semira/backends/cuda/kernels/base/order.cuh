// The order of short lists of keys, and values in another order.
#pragma once
#include "matrix/entries.cuh"

// Most keys that a block sorts; as in runtime/sorts.py.
constexpr int kRun = 1024;

// Sorted runs of keys of 4 or 8 bytes, two for each thread of a block. `is_numbered`: of
// ``key << 32 | position``, which keeps equal keys in order.
extern "C" __global__ void __launch_bounds__(kRun / 2) semira_sort_runs(
    const void* keys, long long key_bytes, long long is_numbered, long long n,
    unsigned long long* out) {
  __shared__ unsigned long long run[kRun];
  const int threads = blockDim.x, most = 2 * threads;
  const long long begin = static_cast<long long>(blockIdx.x) * most;
  for (int k = threadIdx.x; k < most; k += threads) {
    const long long e = begin + k;
    unsigned long long key = ~0ull;
    if (e < n) {
      key = key_bytes == 4 ? static_cast<const unsigned*>(keys)[e]
                           : static_cast<const unsigned long long*>(keys)[e];
      if (is_numbered != 0) key = key << 32 | static_cast<unsigned long long>(e);
    }
    run[k] = key;
  }
  // A bitonic sort: halves of opposite directions become sorted lists of twice the length.
  for (int length = 2; length <= most; length *= 2) {
    for (int step = length / 2; step > 0; step /= 2) {
      __syncthreads();
      const int low = 2 * step * (threadIdx.x / step) + threadIdx.x % step, high = low + step;
      const bool rises = (low & length) == 0;
      const unsigned long long a = run[low], b = run[high];
      if ((a > b) == rises) {
        run[low] = b;
        run[high] = a;
      }
    }
  }
  __syncthreads();
  for (int k = threadIdx.x; k < most; k += threads) {
    if (begin + k < n) out[begin + k] = run[k];
  }
}

// Sorted runs of twice the length, from pairs of runs of `length` keys.
extern "C" __global__ void semira_merge_runs(
    const unsigned long long* keys, long long n, long long length, unsigned long long* out) {
  for (const long long e : items_below(n)) {
    const long long run = e / length, pair = run / 2 * 2 * length;
    const bool is_second = run % 2 != 0;
    const long long begin = is_second ? pair : pair + length;
    const long long low = begin < n ? begin : n, high = begin + length < n ? begin + length : n;
    const unsigned long long key = keys[e];
    // Of equal keys that of the first run comes first.
    const long long behind = first_where(low, high, [&](long long at) {
      return is_second ? keys[at] > key : keys[at] >= key;
    });
    out[pair + (e - run * length) + (behind - low)] = key;
  }
}

// The positions of numbered keys, as 64-bit numbers, or keys of 4 bytes.
extern "C" __global__ void semira_low_words(
    const unsigned long long* keys, long long n, long long out_bytes, void* out) {
  for (const long long e : items_below(n)) {
    const unsigned word = static_cast<unsigned>(keys[e]);
    if (out_bytes == 4) {
      static_cast<unsigned*>(out)[e] = word;
    } else {
      static_cast<unsigned long long*>(out)[e] = word;
    }
  }
}

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
