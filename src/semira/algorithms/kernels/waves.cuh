// Greedy colours in waves; see waves.py. A warp does a vertex, a block one of many neighbours.
#pragma once

typedef unsigned long long Word;

// What is in `state`.
enum : int { kFirst = 2, kEnd, kNext, kFirstLong, kEndLong, kNextLong };

// Neighbours that a thread looks at together; entries of the rows that have a block each; lanes that
// count a row together.
constexpr int kAtOnce = 4, kCounting = 8;
constexpr long long kLong = kAtOnce * kWarp;

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

// Puts vertices into the queue; all lanes of a warp call it.
template <class P, class V>
__device__ __forceinline__ void put(bool is_ready, V v, long long n, const P* indptr, V* queue,
                                    long long* state) {
  const unsigned lane = threadIdx.x % kWarp;
  const bool is_long = is_ready && indptr[v + 1] - indptr[v] > kLong;
  const unsigned those = __ballot_sync(kAllLanes, is_ready && !is_long);
  long long place = 0;
  if (those != 0 && lane == 0) place = atomic_add(&state[kNext], __popc(those));
  place = shuffle(place, 0) + __popc(those & ((1u << lane) - 1));
  if (is_long) queue[n - 1 - atomic_add(&state[kNextLong], 1)] = v;
  if (is_ready && !is_long) queue[place] = v;
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

// The neighbours of a vertex `v`, a few for each thread of its row, with their colours; `v` itself
// stands for those behind the end.
template <class V>
struct Neighbours {
  V vertex[kAtOnce], colour[kAtOnce];

  template <class I>
  __device__ __forceinline__ void load(V v, long long p, long long last, int threads,
                                       const I* indices, const V* colours) {
#pragma unroll
    for (int e = 0; e < kAtOnce; ++e) {
      const long long at = p + e * threads;
      vertex[e] = at < last ? static_cast<V>(indices[at]) : v;
    }
#pragma unroll
    for (int e = 0; e < kAtOnce; ++e) colour[e] = vertex[e] == v ? V(0) : colours[vertex[e]];
  }
};

template <bool kBlock, class P, class I, class V>
__device__ __forceinline__ void colour_vertex(V v, long long n, const P* indptr, const I* indices,
                                              V* waits, V* colour, V* queue, long long* state) {
  const int thread = static_cast<int>(kBlock ? threadIdx.x : threadIdx.x % kWarp);
  const int threads = kBlock ? static_cast<int>(blockDim.x) : kWarp, step = kAtOnce * threads;
  const long long first = indptr[v], last = indptr[v + 1];
  Neighbours<V> near;
  long long chosen = 0;
  while (true) {
    // The colours from `chosen` on.
    Word low = 0, high = 0;
    for (long long p = first; p < last; p += step) {
      near.load(v, p + thread, last, threads, indices, colour);
#pragma unroll
      for (int e = 0; e < kAtOnce; ++e) {
        const long long c = static_cast<long long>(near.colour[e]) - chosen;
        if (near.vertex[e] == v || c < 0 || c >= 128) continue;
        if (c < 64) low |= 1ull << c;
        else high |= 1ull << (c - 64);
      }
    }
    low = all_bits<kBlock>(low);
    if (~low != 0) {
      // Its lowest bit that is 0.
      chosen += __popcll((~low & (low + 1)) - 1);
      break;
    }
    high = all_bits<kBlock>(high);
    if (~high != 0) {
      chosen += 64 + __popcll((~high & (high + 1)) - 1);
      break;
    }
    chosen += 128;
  }
  if (thread == 0) colour[v] = static_cast<V>(chosen);
  for (long long p = first; p < last; p += step) {
    if (last - first > step) near.load(v, p + thread, last, threads, indices, colour);
    bool is_ready[kAtOnce];
#pragma unroll
    for (int e = 0; e < kAtOnce; ++e) {
      const V u = near.vertex[e];
      is_ready[e] = u != v && near.colour[e] < 0 && atomic_add(&waits[u], -1) == 1;
    }
#pragma unroll
    for (int e = 0; e < kAtOnce; ++e) {
      if (__any_sync(kAllLanes, is_ready[e])) put(is_ready[e], near.vertex[e], n, indptr, queue, state);
    }
  }
}

template <class P, class I, class V>
__device__ void colour_wave(long long items, const P* indptr, const I* indices, V* waits, V* colour,
                            V* queue, long long* state) {
  for (long long k = state[kFirstLong] + block_number(); k < state[kEndLong]; k += gridDim.x) {
    colour_vertex<true>(queue[items - 1 - k], items, indptr, indices, waits, colour, queue, state);
  }
  const unsigned warps = blockDim.x / kWarp, warp = threadIdx.x / kWarp;
  for (long long k = state[kFirst] + warp * static_cast<long long>(gridDim.x) + block_number();
       k < state[kEnd]; k += static_cast<long long>(gridDim.x) * warps) {
    colour_vertex<false>(queue[k], items, indptr, indices, waits, colour, queue, state);
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
