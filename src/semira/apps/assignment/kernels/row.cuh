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
  unsigned lanes;  // threads of the block that read

  // A number and the product of a row of x and a row of y, in the order of the host.
  __device__ double added(double start, long long i, long long j) const {
#pragma unroll 1
    for (long long r = 0; r < rank; ++r) {
      start += __dmul_rn(x[i * rank + r], y[j * rank + r]);
    }
    return start;
  }

  // Whether `each_of_all` gives what `each` does, and no product comes to it.
  __device__ bool is_plain() const { return mode == 0 && rank == 0; }

  // Calls `use(j, cost, beside[j])` for each column of a row of all costs. All loads of a batch go
  // on at once; what is beyond the last column costs NaN, which no comparison takes.
  template <class T, class F>
  __device__ void each_of_all(long long i, const T* beside, const F& use) const {
    constexpr int kBatch = 8;
    if (threadIdx.x >= lanes) return;
    const C* row = cost + i * columns;
    for (long long first = threadIdx.x; first < columns; first += kBatch * lanes) {
      double given[kBatch];
      T its[kBatch];
#pragma unroll
      for (int k = 0; k < kBatch; ++k) {
        const long long j = first + k * lanes, there = min(j, columns - 1);
        given[k] = static_cast<double>(row[there]);
        its[k] = beside[there];
        if (j != there) given[k] = __longlong_as_double(0x7ff8000000000000ll);
      }
#pragma unroll
      for (int k = 0; k < kBatch; ++k) use(first + k * lanes, given[k], its[k]);
    }
  }

  // Calls `use(j, cost, beside[j])` for each column that may be chosen; all of the block do.
  template <class T, class F>
  __device__ void each(long long i, const T* beside, const F& use) const {
    const long long mine = threadIdx.x < lanes ? threadIdx.x : 1ll << 62;
    if (mode == 0) {
      for (long long j = mine; j < columns; j += lanes) {
        use(j, static_cast<double>(cost[i * columns + j]), beside[j]);
      }
      return;
    }
    const long long begin = indptr[i], end = indptr[i + 1];
    for (long long e = begin + mine; e < end; e += lanes) {
      const long long j = indices[e];
      use(j, static_cast<double>(cost[e]), beside[j]);
    }
    if (mode == 1) each_absent(begin, end, beside, use);
  }

  template <class T, class F>
  __device__ void each_absent(long long begin, long long end, const T* beside, const F& use) const {
    __shared__ unsigned marks[kMarked / 32];
    for (long long low = 0; low < columns; low += kMarked) {
      const long long high = min(columns, low + kMarked);
      for (int k = threadIdx.x; k < (high - low + 31) / 32; k += blockDim.x) marks[k] = 0;
      __syncthreads();
      for (long long e = begin + threadIdx.x; e < end; e += blockDim.x) {
        const long long j = indices[e];
        if (j >= low && j < high) {
          atomicOr(&marks[(j - low) / 32], 1u << static_cast<int>((j - low) % 32));
        }
      }
      __syncthreads();
      for (long long j = low + threadIdx.x; j < high && threadIdx.x < lanes; j += lanes) {
        const unsigned bit = 1u << static_cast<int>((j - low) % 32);
        if ((marks[(j - low) / 32] & bit) == 0) use(j, 0.0, beside[j]);
      }
      __syncthreads();
    }
  }
};
