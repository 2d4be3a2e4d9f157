// Soft-max of the entries of each row. See softmax.py.
#pragma once

struct Greater {
  __device__ static double of(double a, double b) { return b > a ? b : a; }
};
struct Plus {
  __device__ static double of(double a, double b) { return a + b; }
};

// The fold over the lanes of a warp, in all of them; the same order whatever the row.
template <class Op>
__device__ __forceinline__ double over_lanes(double x) {
  for (int bits = 16; bits > 0; bits /= 2) x = Op::of(x, __shfl_xor_sync(kAllLanes, x, bits));
  return x;
}

// The fold over the lanes of a block; `parts` are in shared memory.
template <class Op>
__device__ __forceinline__ double over_block(double x, double* parts) {
  const int warp = static_cast<int>(threadIdx.x) / 32, warps = static_cast<int>(blockDim.x) / 32;
  x = over_lanes<Op>(x);
  __syncthreads();
  if (threadIdx.x % 32 == 0) parts[warp] = x;
  __syncthreads();
  double all = parts[0];
  for (int other = 1; other < warps; ++other) all = Op::of(all, parts[other]);
  return all;
}

struct Row {
  long long first, end;
  int lane, lanes;
};

template <class T>
__device__ __forceinline__ double greatest(const Row& row, const T* values) {
  double most = __longlong_as_double(0xfff0000000000000LL);
  for (long long p = row.first + row.lane; p < row.end; p += row.lanes) {
    most = Greater::of(most, static_cast<double>(values[p]));
  }
  return most;
}

template <class T>
__device__ __forceinline__ double sum_of(const Row& row, const T* values, double most) {
  double total = 0;
  for (long long p = row.first + row.lane; p < row.end; p += row.lanes) {
    total += exp(static_cast<double>(values[p]) - most);
  }
  return total;
}

template <class T, class U>
__device__ __forceinline__ void write(const Row& row, const T* values, double most, double total,
                                      bool is_log, U* out) {
  const double shift = total > 0 ? log(total) : total;
  for (long long p = row.first + row.lane; p < row.end; p += row.lanes) {
    const double x = static_cast<double>(values[p]) - most;
    out[p] = static_cast<U>(is_log ? x - shift : exp(x) / total);
  }
}

constexpr int kLongRow = 1024;  // longer ones take a block

template <class P, class T, class U>
__device__ void softmax(long long rows, const P* indptr, const T* values, bool is_log, U* out) {
  const Group<32> mine;
  for (long long i = mine.first; i < rows; i += mine.step) {
    const Row row{indptr[i], indptr[i + 1], mine.lane, 32};
    if (row.end - row.first > kLongRow) continue;
    const double most = over_lanes<Greater>(greatest(row, values));
    const double total = over_lanes<Plus>(sum_of(row, values, most));
    write(row, values, most, total, is_log, out);
  }
  __shared__ double parts[32];
  __shared__ int count;
  __shared__ int found[1024];
  const long long step = gridDim.x * static_cast<long long>(blockDim.x);
  for (long long base = block_number() * static_cast<long long>(blockDim.x); base < rows;
       base += step) {
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    const long long own = base + threadIdx.x;
    if (own < rows && indptr[own + 1] - indptr[own] > kLongRow) {
      found[atomicAdd(&count, 1)] = static_cast<int>(threadIdx.x);
    }
    __syncthreads();
    for (int at = 0; at < count; ++at) {
      const long long i = base + found[at];
      const Row row{indptr[i], indptr[i + 1], static_cast<int>(threadIdx.x),
                    static_cast<int>(blockDim.x)};
      const double most = over_block<Greater>(greatest(row, values), parts);
      const double total = over_block<Plus>(sum_of(row, values, most), parts);
      write(row, values, most, total, is_log, out);
    }
    __syncthreads();
  }
}
