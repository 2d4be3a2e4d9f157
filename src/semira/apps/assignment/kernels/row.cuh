// The costs of a row, one column at a time, by the threads of a block. See paths.py.
#pragma once

// Columns whose entries are marked at once, a bit each.
constexpr int kMarked = 65536;

template <class C, class P, class I>
struct CostRows {
  long long mode;
  const C* cost;
  const P* indptr;
  const I* indices;
  const double* x;
  const double* y;
  long long rank, columns;

  // A number and the product of a row of x and a row of y, in the order of the host.
  __device__ double added(double start, long long i, long long j) const {
#pragma unroll 1
    for (long long r = 0; r < rank; ++r) {
      start += __dmul_rn(x[i * rank + r], y[j * rank + r]);
    }
    return start;
  }

  // Calls `use(j, cost, stored)` for each column that may be chosen; all threads of the block do.
  template <class F>
  __device__ void each(long long i, const F& use) const {
    if (mode == 0) {
      const C* row = cost + i * columns;
#pragma unroll 4
      for (long long j = threadIdx.x; j < columns; j += blockDim.x) {
        use(j, static_cast<double>(row[j]), true);
      }
      return;
    }
    const P begin = indptr[i], end = indptr[i + 1];
    for (P e = begin + threadIdx.x; e < end; e += blockDim.x) {
      use(static_cast<long long>(indices[e]), static_cast<double>(cost[e]), true);
    }
    if (mode == 1) each_absent(begin, end, use);
  }

  template <class F>
  __device__ void each_absent(P begin, P end, const F& use) const {
    __shared__ unsigned marks[kMarked / 32];
    for (long long low = 0; low < columns; low += kMarked) {
      const long long high = min(columns, low + kMarked);
      for (int k = threadIdx.x; k < (high - low + 31) / 32; k += blockDim.x) marks[k] = 0;
      __syncthreads();
      for (P e = begin + threadIdx.x; e < end; e += blockDim.x) {
        const long long j = indices[e];
        if (j >= low && j < high) {
          atomicOr(&marks[(j - low) / 32], 1u << static_cast<int>((j - low) % 32));
        }
      }
      __syncthreads();
      for (long long j = low + threadIdx.x; j < high; j += blockDim.x) {
        const unsigned bit = 1u << static_cast<int>((j - low) % 32);
        if ((marks[(j - low) / 32] & bit) == 0) use(j, 0.0, false);
      }
      __syncthreads();
    }
  }
};
