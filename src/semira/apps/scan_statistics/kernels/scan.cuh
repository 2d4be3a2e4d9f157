// The weight of edges within neighbourhoods, a block for each; see scan.py. A warp walks the row of
// one vertex.
#pragma once

// Marks a column and lists it, if it is new.
template <class I>
__device__ __forceinline__ void enter(I c, unsigned* marks, int* queue, int* count) {
  const unsigned bit = 1u << c % 32;
  if ((marks[c / 32] & bit) != 0 || (atomicOr(marks + c / 32, bit) & bit) != 0) return;
  queue[atomicAdd(count, 1)] = static_cast<int>(c);
}

template <class P, class I, class Q, class J>
__device__ void scan(long long items, const long long* order, const P* indptr, const I* indices,
                     long long k, bool closed, const Q* indptr2, const J* indices2,
                     const long long* values, long long step, bool twice, long long* out,
                     long long* sizes, long long width, long long workers, int* room, unsigned* bits) {
  __shared__ int count, turn;
  __shared__ unsigned long long total;
  const long long worker = block_number();
  if (worker >= workers) return;
  const long long words = (width + 31) / 32;
  int* const queue = room + worker * width;
  unsigned* const marks = bits + 1 + worker * words;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int warps = static_cast<int>(blockDim.x) / 32;
  while (true) {
    __syncthreads();
    if (threadIdx.x == 0) turn = static_cast<int>(atomicAdd(bits, 1u));
    __syncthreads();
    if (turn >= items) return;
    const long long item = order[turn];
    if (threadIdx.x == 0) {
      total = 0;
      count = closed ? 1 : 0;
      if (closed) {
        queue[0] = static_cast<int>(item);
        marks[item / 32] |= 1u << item % 32;
      }
    }
    __syncthreads();
    if (!closed) {
      for (P p = indptr[item] + static_cast<P>(threadIdx.x); p < indptr[item + 1];
           p += static_cast<P>(blockDim.x)) {
        enter(indices[p], marks, queue, &count);
      }
      __syncthreads();
    }
    int begin = 0;
    for (long long depth = 0; closed && depth < k; ++depth) {
      const int end = count;
      __syncthreads();
      if (begin == end) break;
      for (int i = begin + warp; i < end; i += warps) {
        const int a = queue[i];
        for (P p = indptr[a] + lane; p < indptr[a + 1]; p += 32) {
          enter(indices[p], marks, queue, &count);
        }
      }
      __syncthreads();
      begin = end;
    }
    const int all = count;
    long long mine = 0;
    for (int i = warp; i < all; i += warps) {
      const int a = queue[i];
      for (Q p = indptr2[a] + lane; p < indptr2[a + 1]; p += 32) {
        const J c = indices2[p];
        if (marks[c / 32] >> c % 32 & 1) mine += values[p * step];
        if (twice && static_cast<long long>(c) == a) mine += values[p * step];
      }
    }
    for (int half = 16; half > 0; half /= 2) {
      mine += __shfl_xor_sync(kAllLanes, mine, half);
    }
    if (lane == 0 && mine != 0) atomicAdd(&total, static_cast<unsigned long long>(mine));
    __syncthreads();
    for (int i = threadIdx.x; i < all; i += blockDim.x) marks[queue[i] / 32] = 0;
    if (threadIdx.x == 0) {
      out[item] = static_cast<long long>(total) >> (twice ? 1 : 0);
      sizes[item] = all;
    }
  }
}
