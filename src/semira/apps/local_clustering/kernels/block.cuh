// What the threads of one block do together: sums, greatest values, the entries of listed rows.
#pragma once

constexpr int kMostThreads = 1024, kMostWarps = kMostThreads / 32;

// Sum of a value of each thread; all threads get it.
__device__ inline long long sum_over_block(long long value) {
  __shared__ long long parts[kMostWarps];
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(kAllLanes, value, step);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  long long total = 0;
  for (unsigned k = 0; k < blockDim.x / 32; ++k) total += parts[k];
  __syncthreads();
  return total;
}

// Greatest value; it is not negative.
__device__ inline double most_over_block(double value) {
  __shared__ double parts[kMostWarps];
  for (int step = 16; step > 0; step /= 2) {
    value = max(value, __shfl_xor_sync(kAllLanes, value, step));
  }
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  double most = 0;
  for (unsigned k = 0; k < blockDim.x / 32; ++k) most = max(most, parts[k]);
  __syncthreads();
  return most;
}

// Sum over the threads before this one, and over all of them.
__device__ inline long long sum_before(long long value, long long& total) {
  __shared__ long long parts[kMostWarps];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  long long sum = value;
  for (int step = 1; step < 32; step *= 2) {
    const long long other = __shfl_up_sync(kAllLanes, sum, step);
    if (lane >= step) sum += other;
  }
  if (lane == 31) parts[warp] = sum;
  __syncthreads();
  long long before = 0;
  total = 0;
  for (unsigned k = 0; k < blockDim.x / 32; ++k) {
    if (k < warp) before += parts[k];
    total += parts[k];
  }
  __syncthreads();
  return before + sum - value;
}

// Where `each_entry` keeps two numbers for each thread; one place for all that is made of it.
__device__ inline long long* row_starts() {
  __shared__ long long places[2 * kMostThreads];
  return places;
}

// Entries that a thread looks up at the same time.
constexpr int kAtOnce = 4;

// `visit(i, look(entry))` for every entry of the rows `row(0)`, `row(1)`, ...; a row of -1 has none.
// Threads take entries, not rows, so that a long row is shared by all of them; `look` only reads, so
// that several reads are under way. All threads of the block call it; it may end early once `full` is
// set. Returns how many entries there are. blockDim.x is a power of 2.
template <class P, class Row, class Look, class Visit>
__device__ __forceinline__ long long each_entry(const P* indptr, int count, const int& full, Row row,
                                                Look look, Visit visit) {
  long long* const firsts = row_starts();
  long long* const shifts = firsts + kMostThreads;
  long long entries = 0;
  for (int base = 0; base < count; base += blockDim.x) {
    const int i = base + static_cast<int>(threadIdx.x);
    const long long v = i < count ? row(i) : -1;
    const long long begin = v < 0 ? 0 : indptr[v];
    long long total;
    const long long before = sum_before(v < 0 ? 0 : indptr[v + 1] - begin, total);
    firsts[threadIdx.x] = before;
    shifts[threadIdx.x] = begin - before;
    __syncthreads();
    for (long long k = threadIdx.x; k < total; k += kAtOnce * blockDim.x) {
      if (*const_cast<volatile const int*>(&full) != 0) break;
      // The last row that begins at the entry or before it.
      int owners[kAtOnce] = {};
      for (int step = blockDim.x / 2; step > 0; step /= 2) {
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
