// Greedy colours in waves; see waves.py. A warp does a vertex, blocks one of many neighbours.
#pragma once

typedef unsigned long long Word;

// What is in `state`.
enum : int { kFirst = 2, kEnd, kNext, kFirstLong, kEndLong, kNextLong };

// Neighbours that a thread looks at together; lanes that count a row together; entries of a row that a
// warp does, and of those that a block does. Longer rows have several blocks.
constexpr int kAtOnce = 4, kCounting = 8;
constexpr long long kLong = kAtOnce * kWarp, kPart = kAtOnce * 256;

// The bits of all threads that do a row, a warp or the block; all of them call it.
template <bool kBlock>
__device__ __forceinline__ Word all_bits(Word bits) {
  const unsigned low = __reduce_or_sync(kAllLanes, static_cast<unsigned>(bits));
  const unsigned high = __reduce_or_sync(kAllLanes, static_cast<unsigned>(bits >> 32));
  bits = static_cast<Word>(high) << 32 | low;
  if constexpr (kBlock) {
    __shared__ Word of_warps[kWarp];
    if (threadIdx.x % kWarp == 0) of_warps[threadIdx.x / kWarp] = bits;
    __syncthreads();
    bits = 0;
    for (unsigned w = 0; w < blockDim.x / kWarp; ++w) bits |= of_warps[w];
    __syncthreads();
  }
  return bits;
}

// Puts vertices into the queue; all lanes of a warp call it. Parts of long rows lie behind the others:
// the row, then how far back it is.
template <class P, class V>
__device__ __forceinline__ void put(bool is_ready, V v, long long n, const P* indptr, V* queue,
                                    long long* state) {
  const unsigned lane = threadIdx.x % kWarp;
  const long long length = is_ready ? indptr[v + 1] - indptr[v] : 0;
  const unsigned those = __ballot_sync(kAllLanes, is_ready && length <= kLong);
  long long place = 0;
  if (those != 0 && lane == 0) place = atomic_add(&state[kNext], __popc(those));
  place = shuffle(place, 0) + __popc(those & ((1u << lane) - 1));
  if (length > kLong) {
    const long long parts = (length + kPart - 1) / kPart;
    V* const own = queue + n + atomic_add(&state[kNextLong], parts);
    for (long long part = 0; part < parts; ++part) own[part] = part == 0 ? v : static_cast<V>(-part);
  } else if (is_ready) {
    queue[place] = v;
  }
}

template <class P, class I, class N, class V>
__device__ void count_greater(long long items, const P* indptr, const I* indices, const N* number,
                              V* waits, V* colour, V* queue, long long* state) {
  __shared__ int longs[kWarp * kWarp / kCounting], num_longs, counted;
  const int rank = static_cast<int>(threadIdx.x) % kCounting;
  const long long rows = blockDim.x / kCounting, group = threadIdx.x / kCounting;
  for (long long start = block_number() * rows; start < items; start += gridDim.x * rows) {
    const long long v = start + group;
    const bool has = v < items;
    const long long first = has ? indptr[v] : 0, last = has ? indptr[v + 1] : 0;
    const bool is_long = last - first > kLong;
    int count = 0;
    if (has && !is_long) {
      const N own = number[v];
      for (long long p = first + rank; p < last; p += kCounting) {
        if (number[indices[p]] > own) ++count;
      }
    }
    for (int step = kCounting / 2; step > 0; step /= 2) {
      count += __shfl_xor_sync(kAllLanes, count, step);
    }
    if (has && rank == 0) {
      colour[v] = -1;
      if (!is_long) waits[v] = count;
    }
    put(has && rank == 0 && !is_long && count == 0, static_cast<V>(has ? v : 0), items, indptr, queue,
        state);
    if (!__syncthreads_or(is_long)) continue;
    if (threadIdx.x == 0) num_longs = 0;
    __syncthreads();
    if (is_long && rank == 0) longs[atomicAdd(&num_longs, 1)] = static_cast<int>(group);
    __syncthreads();
    for (int k = 0; k < num_longs; ++k) {
      const long long row = start + longs[k];
      if (threadIdx.x == 0) counted = 0;
      __syncthreads();
      const N own = number[row];
      count = 0;
#pragma unroll 4
      for (long long p = indptr[row] + threadIdx.x; p < indptr[row + 1]; p += blockDim.x) {
        if (number[indices[p]] > own) ++count;
      }
      atomicAdd(&counted, count);
      __syncthreads();
      if (threadIdx.x < kWarp) {
        if (threadIdx.x == 0) waits[row] = counted;
        put(threadIdx.x == 0 && counted == 0, static_cast<V>(row), items, indptr, queue, state);
      }
      __syncthreads();
    }
  }
}

// Entries from `first` to `last` of the row of `v`: sees which of the colours from `chosen` on they
// have; tells those without one that `v` has its turn, unless that was told before.
template <bool kBlock, class P, class I, class V>
__device__ __forceinline__ void look_around(V v, long long first, long long last, long long chosen,
                                            bool tells, Word& low, Word& high, long long n,
                                            const P* indptr, const I* indices, V* waits,
                                            const V* colour, V* queue, long long* state) {
  const int thread = static_cast<int>(kBlock ? threadIdx.x : threadIdx.x % kWarp);
  const int threads = kBlock ? static_cast<int>(blockDim.x) : kWarp;
  for (long long start = first; start < last; start += kAtOnce * threads) {
    V u[kAtOnce], theirs[kAtOnce];
    bool is_ready[kAtOnce];
#pragma unroll
    for (int e = 0; e < kAtOnce; ++e) {
      const long long p = start + e * threads + thread;
      u[e] = p < last ? static_cast<V>(indices[p]) : v;
    }
#pragma unroll
    for (int e = 0; e < kAtOnce; ++e) theirs[e] = colour[u[e]];
#pragma unroll
    for (int e = 0; e < kAtOnce; ++e) {
      is_ready[e] = tells && u[e] != v && theirs[e] < 0 && atomic_add(&waits[u[e]], -1) == 1;
      const long long c = static_cast<long long>(theirs[e]) - chosen;
      if (u[e] == v || c < 0 || c >= 128) continue;
      if (c < 64) low |= 1ull << c;
      else high |= 1ull << (c - 64);
    }
#pragma unroll
    for (int e = 0; e < kAtOnce; ++e) {
      if (__any_sync(kAllLanes, is_ready[e])) put(is_ready[e], u[e], n, indptr, queue, state);
    }
  }
  low = all_bits<kBlock>(low);
  high = all_bits<kBlock>(high);
}

// The place of the lowest bit that is 0, or 128.
__device__ __forceinline__ int lowest_zero(Word low, Word high) {
  if (~low != 0) return __popcll((~low & (low + 1)) - 1);
  return ~high != 0 ? 64 + __popcll((~high & (high + 1)) - 1) : 128;
}

// Part `part` of `parts` of a row; `words` are the bits of all its parts, and `ticket` counts them.
template <bool kBlock, class P, class I, class V>
__device__ __forceinline__ void colour_vertex(V v, int part, int parts, Word* words, int* ticket,
                                              long long n, const P* indptr, const I* indices,
                                              V* waits, V* colour, V* queue, long long* state) {
  const long long first = indptr[v], last = indptr[v + 1], from = first + part * kPart;
  const bool is_first = (kBlock ? threadIdx.x : threadIdx.x % kWarp) == 0;
  Word low = 0, high = 0;
  long long chosen = 0;
  look_around<kBlock>(v, from, parts == 1 || part == parts - 1 ? last : from + kPart, chosen, true,
                      low, high, n, indptr, indices, waits, colour, queue, state);
  if (kBlock && parts > 1) {
    bool is_last = false;
    if (is_first) {
      atomicOr(&words[0], low);
      atomicOr(&words[1], high);
      __threadfence();
      is_last = atomicAdd(ticket, 1) == parts - 1;
      __threadfence();
    }
    if (!__syncthreads_or(is_last)) return;
    low = *static_cast<volatile Word*>(&words[0]);
    high = *static_cast<volatile Word*>(&words[1]);
  }
  while (lowest_zero(low, high) == 128) {
    chosen += 128;
    low = high = 0;
    look_around<kBlock>(v, first, last, chosen, false, low, high, n, indptr, indices, waits, colour,
                        queue, state);
  }
  if (is_first) colour[v] = static_cast<V>(chosen + lowest_zero(low, high));
}

template <class P, class I, class V>
__device__ void colour_wave(long long items, const P* indptr, const I* indices, V* waits, V* colour,
                            V* queue, long long* words, int* tickets, long long* state) {
  for (long long k = state[kFirstLong] + block_number(); k < state[kEndLong]; k += gridDim.x) {
    const V* const item = queue + items + k;
    const int part = *item < 0 ? static_cast<int>(-*item) : 0;
    const V v = item[-part];
    const int parts = static_cast<int>((indptr[v + 1] - indptr[v] + kPart - 1) / kPart);
    colour_vertex<true>(v, part, parts, reinterpret_cast<Word*>(words) + 2 * (k - part),
                        &tickets[k - part], items, indptr, indices, waits, colour, queue, state);
  }
  const unsigned warps = blockDim.x / kWarp, warp = threadIdx.x / kWarp;
  for (long long k = state[kFirst] + warp * static_cast<long long>(gridDim.x) + block_number();
       k < state[kEnd]; k += static_cast<long long>(gridDim.x) * warps) {
    colour_vertex<false>(queue[k], 0, 1, static_cast<Word*>(nullptr), static_cast<int*>(nullptr), items,
                         indptr, indices, waits, colour, queue, state);
  }
}

__device__ __forceinline__ void next_wave(long long, long long* state) {
  state[1] += 1;
  if (state[kNext] == state[kEnd] && state[kNextLong] == state[kEndLong]) state[0] = 1;
  state[kFirst] = state[kEnd];
  state[kEnd] = state[kNext];
  state[kFirstLong] = state[kEndLong];
  state[kEndLong] = state[kNextLong];
}
