// Kernels over arrays that tests run on every device.
#pragma once

template <class P, class I, class V, class T>
__device__ void row_sums(long long items, const P* indptr, const I* indices, const V* values,
                         double factor, bool negate, T* out) {
  const Group<1> mine;
  for (long long i = mine.first; i < items; i += mine.step) {
    T total = 0;
    for (P p = indptr[i]; p < indptr[i + 1]; ++p) total += values[p] * factor + indices[p];
    out[i] = negate ? -total : total;
  }
}

template <class T>
__device__ void draws(long long items, long long seed, long long below, T* out) {
  const Group<1> mine;
  for (long long i = mine.first; i < items; i += mine.step) {
    out[i] = static_cast<T>(philox(i, 7, 3, seed, below));
  }
}

// A block for each item.
template <class P, class K, class T, class S>
__device__ void distinct(long long items, const P* indptr, const K* keys, T* out, S* stamps) {
  __shared__ int found;
  for (long long i = block_number(); i < items; i += gridDim.x) {
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    for (P p = indptr[i] + threadIdx.x; p < indptr[i + 1]; p += blockDim.x) {
      const unsigned long long before = atomicExch(
          reinterpret_cast<unsigned long long*>(&stamps[keys[p]]), static_cast<unsigned long long>(i));
      if (before != static_cast<unsigned long long>(i)) atomicAdd(&found, 1);
    }
    __syncthreads();
    if (threadIdx.x == 0) out[i] = found;
    __syncthreads();
  }
}

template <class K, class C, class P>
__device__ void histogram(long long items, const K* keys, C* counts, P* least, P* most, C* places) {
  const Group<1> mine;
  for (long long i = mine.first; i < items; i += mine.step) {
    places[i] = atomic_add(&counts[keys[i]], C(1));
    atomicMin(&least[keys[i]], static_cast<P>(i));
    atomicMax(&most[keys[i]], static_cast<P>(i));
  }
}

template <class T>
__device__ void push_on(long long items, T* values, long long* state) {
  const Group<1> mine;
  long long open = 0;
  for (long long i = mine.first; i < items; i += mine.step) {
    if (values[i] >= 10) continue;
    values[i] += 1;
    ++open;
  }
  atomic_add(&state[1], open);
}

__device__ __forceinline__ void close_round(long long, long long* state) {
  if (block_number() != 0 || threadIdx.x != 0) return;
  state[2] += 1;
  if (state[1] == 0) state[0] = 1;
  state[1] = 0;
}

template <class T>
__device__ void clamped(long long items, const T* values, double least, T* out) {
  const Group<1> mine;
  for (long long i = mine.first; i < items; i += mine.step) {
    const double x = least > values[i] ? least : values[i];
    out[i] = 1.0 < x ? 1.0 : x;
  }
}
