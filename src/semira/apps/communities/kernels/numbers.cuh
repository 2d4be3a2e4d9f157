// Labels as 0, 1, 2, ..., and groups of equal keys; see numbers.py.
#pragma once
#include "semira.apps.communities.kernels:rows.cuh"

constexpr long long kNoKey = 0x7FFFFFFFFFFFFFFFll;
// Blocks that count marks, at most.
constexpr int kCounters = 1024;

template <class M>
__device__ void clear_marks(long long items, M* marks, bool has_groups, M* others, long long* state) {
  const Group<1> mine;
  for (long long i = mine.first; i < items; i += mine.step) {
    marks[i] = 0;
    if (has_groups) others[i] = 0;
    if (i == 0) state[0] = 0;
  }
}

template <class L, class M>
__device__ void mark(long long items, const L* labels, M* marks, bool has_groups, const L* groups,
                     M* others) {
  const Group<1> mine;
  for (long long v = mine.first; v < items; v += mine.step) {
    marks[labels[v]] = 1;
    if (has_groups) others[groups[v]] = 1;
  }
}

// The marks that this block counts.
struct Stretch {
  long long first, last;
  int counters;
  __device__ explicit Stretch(long long length)
      : counters(static_cast<int>(gridDim.x < kCounters ? gridDim.x : kCounters)) {
    const long long each = (length + counters - 1) / counters;
    first = block_number() < counters ? block_number() * each : length;
    last = first + each < length ? first + each : length;
  }
};

// Sum over the block; every thread gets it.
template <class M>
__device__ __forceinline__ M sum_of_block(M value) {
  __shared__ M parts[kBlockWarps];
  value = sum_of_warp(value);
  if (threadIdx.x % kWarp == 0) parts[threadIdx.x / kWarp] = value;
  __syncthreads();
  M sum = 0;
  for (int w = 0; w < kBlockWarps; ++w) sum += parts[w];
  __syncthreads();
  return sum;
}

template <class M>
__device__ __forceinline__ void sum_stretch(const Stretch& mine, const M* marks, M* parts) {
  M sum = 0;
  for (long long i = mine.first + threadIdx.x; i < mine.last; i += blockDim.x) sum += marks[i];
  sum = sum_of_block(sum);
  if (threadIdx.x == 0 && block_number() < mine.counters) parts[block_number()] = sum;
}

template <class M>
__device__ void sum_marks(long long, long long length, const M* marks, bool has_groups,
                          const M* others, M* parts) {
  const Stretch mine(length);
  sum_stretch(mine, marks, parts);
  if (has_groups) sum_stretch(mine, others, parts + kCounters);
}

// Returns the number of all marks to the last block that counts.
template <class M>
__device__ __forceinline__ M number_stretch(const Stretch& mine, M* marks, const M* parts) {
  __shared__ M ends[kBlockWarps];
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  M count = 0;
  const int blocks = block_number() < mine.counters ? static_cast<int>(block_number()) : 0;
  for (int b = threadIdx.x; b < blocks; b += blockDim.x) count += parts[b];
  count = sum_of_block(count);
  for (long long start = mine.first; start < mine.last; start += blockDim.x) {
    const long long i = start + threadIdx.x;
    M end = i < mine.last ? marks[i] : M(0);
#pragma unroll
    for (int distance = 1; distance < kWarp; distance *= 2) {
      const M before = shuffle(end, static_cast<int>(lane) - (lane < distance ? 0 : distance));
      if (lane >= distance) end += before;
    }
    if (lane == kWarp - 1) ends[warp] = end;
    __syncthreads();
    M all = 0;
    for (unsigned w = 0; w < kBlockWarps; ++w) {
      if (w < warp) end += ends[w];
      all += ends[w];
    }
    if (i < mine.last) marks[i] = count + end;
    count += all;
    __syncthreads();
  }
  return count;
}

template <class M>
__device__ void number_marks(long long, long long length, M* marks, bool has_groups, M* others,
                             const M* parts, long long* state) {
  const Stretch mine(length);
  const M count = number_stretch(mine, marks, parts);
  if (threadIdx.x == 0 && block_number() == mine.counters - 1) state[1] = count;
  if (has_groups) number_stretch(mine, others, parts + kCounters);
}

template <class L, class M, class K>
__device__ void renumber(long long items, const L* labels, const M* numbers, L* dense,
                         bool has_totals, const K* totals, const K* totals_in, bool is_directed,
                         K* strengths, K* strengths_in, bool has_groups, const L* groups,
                         const M* group_numbers, L* dense_groups, long long* state) {
  const Group<1> mine;
  for (long long v = mine.first; v < items; v += mine.step) {
    const L label = labels[v];
    const L number = numbers[label] - 1;
    dense[v] = number;
    if (has_totals) {
      strengths[number] = totals[label];
      if (is_directed) strengths_in[number] = totals_in[label];
    }
    if (has_groups) dense_groups[number] = group_numbers[groups[v]] - 1;
    if (v == 0) state[0] = 1;
  }
}

template <class M, class K>
__device__ void begin_groups(long long items, const long long* keys, M* begins, K* sums,
                             long long* state) {
  const Group<1> mine;
  for (long long i = mine.first; i < items; i += mine.step) {
    sums[i] = 0;
    begins[i] = keys[i] != kNoKey && (i == 0 || keys[i] != keys[i - 1]) ? 1 : 0;
    if (i == 0) state[0] = 0;
  }
}

template <class M, class O, class W, class P, class I, class K>
__device__ void fill_groups(long long items, const long long* keys, const M* groups, const O* order,
                            bool is_ordered, const W* weights, bool is_iso, long long count,
                            P* indptr, I* indices, K* sums, long long* state) {
  const Group<1> mine;
  const long long lane = threadIdx.x % kWarp;
  for (long long i = mine.first; i - lane < items; i += mine.step) {
    const long long key = i < items ? keys[i] : kNoKey;
    const bool has = key != kNoKey;
    if (i == 0) {
      state[0] = 1;
      // There are no groups.
      for (long long r = 0; !has && r <= count; ++r) indptr[r] = 0;
    }
    const P place = has ? static_cast<P>(groups[i]) - 1 : P(-1);
    const long long row = has ? key / count : 0;
    if (has && (i == 0 || keys[i - 1] != key)) {
      indices[place] = static_cast<I>(key % count);
      for (long long r = i == 0 ? 0 : keys[i - 1] / count + 1; r <= row; ++r) indptr[r] = place;
    }
    if (has && (i + 1 == items || keys[i + 1] == kNoKey)) {
      for (long long r = row + 1; r <= count; ++r) indptr[r] = place + 1;
    }
    const long long at = is_iso || !has ? 0 : is_ordered ? static_cast<long long>(order[i]) : i;
    // Equal keys follow each other.
    add_runs(static_cast<long long>(place), static_cast<K>(weights[at]), sums);
  }
}

template <class M, class K>
__device__ void clear_cells(long long items, M* marks, K* sums, long long* state) {
  const Group<1> mine;
  for (long long i = mine.first; i < items; i += mine.step) {
    marks[i] = 0;
    sums[i] = 0;
    if (i == 0) state[0] = 0;
  }
}

template <class I, class W, class L, class M, class K>
struct Pairs {
  using Sum = Nothing;
  const I* indices;
  const W* weights;
  bool is_iso;
  const L* labels;
  long long count;
  M* marks;
  K* sums;

  __device__ __forceinline__ bool wants(int) const { return true; }
  __device__ __forceinline__ int look(int i, long long p) const {
    const int column = labels[indices[p]];
    return labels[i] == column ? -1 : column;
  }
  __device__ __forceinline__ void act(int i, long long p, int column) const {
    const long long cell = labels[i] * count + column;
    marks[cell] = 1;
    atomic_add(&sums[cell], static_cast<K>(weights[is_iso ? 0 : p]));
  }
};

template <class P, class I, class W, class L, class M, class K>
__device__ void add_pairs(long long items, const P* indptr, const I* indices, const W* weights,
                          bool is_iso, const L* labels, long long count, M* marks, K* sums) {
  Pairs<I, W, L, M, K> rows{indices, weights, is_iso, labels, count, marks, sums};
  visit_rows(items, indptr, rows);
}

// There are fewer than 2**31 cells.
template <class M, class K, class P, class I>
__device__ void fill_cells(long long items, const M* numbers, const K* sums, long long count,
                           P* indptr, I* indices, K* weights, long long* state) {
  const Group<1> mine;
  const unsigned side = static_cast<unsigned>(count);
  for (long long i = mine.first; i < items; i += mine.step) {
    if (i == 0) {
      state[0] = 1;
      indptr[0] = 0;
    }
    const unsigned row = static_cast<unsigned>(i) / side, column = static_cast<unsigned>(i) % side;
    const M number = numbers[i];
    if (number != (i > 0 ? numbers[i - 1] : M(0))) {
      indices[number - 1] = static_cast<I>(column);
      weights[number - 1] = sums[i];
    }
    if (column == side - 1) indptr[row + 1] = number;
  }
}
