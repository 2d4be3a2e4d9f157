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

  // Calls `use(j, cost, beside[j])` for each column that may be chosen; all threads of the block do.
  template <class T, class F>
  __device__ void each(long long i, const T* beside, const F& use) const {
    if (mode == 0) return each_of_all(cost + i * columns, beside, use);
    const P begin = indptr[i], end = indptr[i + 1];
    for (P e = begin + threadIdx.x; e < end; e += blockDim.x) {
      const long long j = indices[e];
      use(j, static_cast<double>(cost[e]), beside[j]);
    }
    if (mode == 1) each_absent(begin, end, beside, use);
  }

  // All loads of a batch go on at once.
  template <class T, class F>
  __device__ void each_of_all(const C* row, const T* beside, const F& use) const {
    constexpr int kBatch = 8;
    const long long step = blockDim.x;
    for (long long first = threadIdx.x; first < columns; first += kBatch * step) {
      C given[kBatch];
      T its[kBatch];
#pragma unroll
      for (int k = 0; k < kBatch; ++k) {
        const long long j = min(first + k * step, columns - 1);
        given[k] = row[j];
        its[k] = beside[j];
      }
#pragma unroll
      for (int k = 0; k < kBatch; ++k) {
        const long long j = first + k * step;
        if (j < columns) use(j, static_cast<double>(given[k]), its[k]);
      }
    }
  }

  template <class T, class F>
  __device__ void each_absent(P begin, P end, const T* beside, const F& use) const {
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
        if ((marks[(j - low) / 32] & bit) == 0) use(j, 0.0, beside[j]);
      }
      __syncthreads();
    }
  }
};
