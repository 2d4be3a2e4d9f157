// What the threads of one block do together: sums, greatest values, the entries of listed rows.
#pragma once

constexpr int kMostThreads = 1024, kMostWarps = kMostThreads / 32;

// Each of these has one barrier, so that another one must stand between two calls with the same
// `kPlace`: their values go through the same memory.

// Sum of a value of each thread; all threads get it.
template <int kPlace>
__device__ inline long long sum_over_block(long long value) {
  __shared__ long long parts[kMostWarps];
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(kAllLanes, value, step);
  const unsigned lane = threadIdx.x % 32;
  if (lane == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  value = lane < blockDim.x / 32 ? parts[lane] : 0;
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(kAllLanes, value, step);
  return value;
}

// Greatest value; it is not negative.
template <int kPlace>
__device__ inline double most_over_block(double value) {
  __shared__ double parts[kMostWarps];
  for (int step = 16; step > 0; step /= 2) {
    value = max(value, __shfl_xor_sync(kAllLanes, value, step));
  }
  const unsigned lane = threadIdx.x % 32;
  if (lane == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  value = lane < blockDim.x / 32 ? parts[lane] : 0;
  for (int step = 16; step > 0; step /= 2) {
    value = max(value, __shfl_xor_sync(kAllLanes, value, step));
  }
  return value;
}

// Sum over the lanes up to this one.
__device__ inline long long sum_up_to_lane(long long value) {
  const unsigned lane = threadIdx.x % 32;
  for (int step = 1; step < 32; step *= 2) {
    const long long other = __shfl_up_sync(kAllLanes, value, step);
    if (lane >= step) value += other;
  }
  return value;
}

// Sum over the threads before this one, and over all of them.
template <int kPlace>
__device__ inline long long sum_before(long long value, long long& total) {
  __shared__ long long parts[kMostWarps];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const long long sum = sum_up_to_lane(value);
  if (lane == 31) parts[warp] = sum;
  __syncthreads();
  const long long warps = sum_up_to_lane(lane < blockDim.x / 32 ? parts[lane] : 0);
  total = __shfl_sync(kAllLanes, warps, 31);
  const long long before = __shfl_sync(kAllLanes, warps, warp == 0 ? 0 : warp - 1);
  return (warp == 0 ? 0 : before) + sum - value;
}

// All lanes of a warp call it: those that want to get places after the last one handed out, -1 the
// others.
__device__ __forceinline__ int next_place(int& counter, bool wanted) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned all = __ballot_sync(kAllLanes, wanted);
  int first = 0;
  if (lane == 0 && all != 0) first = atomicAdd(&counter, __popc(all));
  first = __shfl_sync(kAllLanes, first, 0);
  return wanted ? first + __popc(all & ((1u << lane) - 1)) : -1;
}

struct RowPart {
  long long begin, length;
};

// Rows of a thread, and entries that it looks up at the same time.
constexpr int kRowsEach = 2, kAtOnce = 4;

// Where `each_entry` keeps two numbers for each row; one place for all that is made of it.
__device__ inline long long* row_starts() {
  __shared__ long long places[2 * kRowsEach * kMostThreads];
  return places;
}

// `visit(i, look(entry))` for every entry of `row(0)`, `row(1)`, ... Threads take entries, not rows,
// so that a long row is shared by all of them; `look` only reads, so that several reads are under
// way. All threads of the block call it; it may end early once `full` is set. Returns how many
// entries there are. blockDim.x is a power of 2.
template <class Row, class Look, class Visit>
__device__ __forceinline__ long long each_entry(int count, const int& full, Row row, Look look,
                                                Visit visit) {
  long long* const firsts = row_starts();
  long long* const shifts = firsts + kRowsEach * kMostThreads;
  const int rows = kRowsEach * static_cast<int>(blockDim.x);
  long long entries = 0;
  for (int base = 0; base < count; base += rows) {
    RowPart mine[kRowsEach];
    long long length = 0, total;
#pragma unroll
    for (int r = 0; r < kRowsEach; ++r) {
      const int i = base + kRowsEach * static_cast<int>(threadIdx.x) + r;
      mine[r] = i < count ? row(i) : RowPart{0, 0};
      length += mine[r].length;
    }
    long long before = sum_before<0>(length, total);
#pragma unroll
    for (int r = 0; r < kRowsEach; ++r) {
      const int at = kRowsEach * static_cast<int>(threadIdx.x) + r;
      firsts[at] = before;
      shifts[at] = mine[r].begin - before;
      before += mine[r].length;
    }
    __syncthreads();
    for (long long k = threadIdx.x; k < total; k += kAtOnce * blockDim.x) {
      if (*const_cast<volatile const int*>(&full) != 0) break;
      // The last row that begins at the entry or before it.
      int owners[kAtOnce] = {};
      for (int step = rows / 2; step > 0; step /= 2) {
#pragma unroll
        for (int j = 0; j < kAtOnce; ++j) {
          if (firsts[owners[j] + step] <= k + j * static_cast<long long>(blockDim.x)) {
            owners[j] += step;
          }
        }
      }
      decltype(look(0ll)) seen[kAtOnce];
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
        const long long at = k + j * static_cast<long long>(blockDim.x);
        if (at < total) seen[j] = look(shifts[owners[j]] + at);
      }
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
        if (k + j * static_cast<long long>(blockDim.x) < total) visit(base + owners[j], seen[j]);
      }
    }
    __syncthreads();
    entries += total;
  }
  return entries;
}
