// Running sums of a device array, in place: tile sums, their own running sums, then every item.
#pragma once
#include "matrix/entries.cuh"

constexpr int kScanThreads = 256;
constexpr int kScanItems = 8;
constexpr int kScanTile = kScanThreads * kScanItems;

// Exclusive running sum over the block; `total` is the block's sum.
template <class T> SEMIRA_INLINE T scan_block(T x, T& total) {
  __shared__ T sums[kWarp];
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const T running = sum_upto(lane, x);
  __syncthreads();
  if (lane == kWarp - 1) sums[warp] = running;
  __syncthreads();
  T before = 0;
  total = 0;
  for (unsigned w = 0; w < kScanThreads / kWarp; ++w) {
    if (w < warp) before += sums[w];
    total += sums[w];
  }
  return before + running - x;
}

template <class T>
SEMIRA_INLINE T load_tile(const T* items, long long first, long long n, T (&own)[kScanItems]) {
  T sum = 0;
  SEMIRA_UNROLLED(k, kScanItems) {
    own[k] = first + k < n ? items[first + k] : 0;
    sum += own[k];
  }
  return sum;
}

// Sums of the tiles, one block a tile.
template <class T> __device__ void scan_tiles(const T* items, long long n, T* sums) {
  T own[kScanItems], total;
  const long long first =
      block_number() * static_cast<long long>(kScanTile) + threadIdx.x * kScanItems;
  scan_block(load_tile(items, first, n, own), total);
  if (threadIdx.x == 0) sums[block_number()] = total;
}

// Running sums of the tile sums, by one block; `sums[tiles]` becomes the total.
template <class T> __device__ void scan_sums(T* sums, long long tiles) {
  T carry = 0;
  for (long long base = 0; base < tiles; base += kScanThreads) {
    const long long at = base + threadIdx.x;
    T total;
    const T before = scan_block(at < tiles ? sums[at] : T(0), total);
    if (at < tiles) sums[at] = carry + before;
    carry += total;
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[tiles] = carry;
}

// Every item becomes the sum of those before it; `items[n]` becomes the total.
template <class T> __device__ void scan_items(T* items, long long n, const T* sums) {
  T own[kScanItems], total;
  const long long first =
      block_number() * static_cast<long long>(kScanTile) + threadIdx.x * kScanItems;
  T running = scan_block(load_tile(items, first, n, own), total) + sums[block_number()];
  SEMIRA_UNROLLED(k, kScanItems) {
    if (first + k < n) items[first + k] = running;
    running += own[k];
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) items[n] = sums[gridDim.x];
}

// The same from tile sums that are not summed up yet: few tiles, each block adds up those before its
// own. `sums` is not read if there is one tile.
template <class T> __device__ void scan_few(T* items, long long n, const T* sums) {
  T own[kScanItems], mine = 0, before, total;
  const unsigned tile = block_number();
  for (unsigned k = threadIdx.x; k < tile; k += kScanThreads) mine += sums[k];
  scan_block(mine, before);
  const long long first = tile * static_cast<long long>(kScanTile) + threadIdx.x * kScanItems;
  T running = scan_block(load_tile(items, first, n, own), total) + before;
  SEMIRA_UNROLLED(k, kScanItems) {
    if (first + k < n) items[first + k] = running;
    running += own[k];
  }
  if (tile == gridDim.x - 1 && threadIdx.x == 0) items[n] = before + total;
}

// The kernels of these sums, of items of type T.
#define SEMIRA_SCAN extern "C" __global__ void __launch_bounds__(kScanThreads)
#define SEMIRA_SCANS(tiles_name, sums_name, items_name, few_name, T)                           \
  SEMIRA_SCAN tiles_name(const T* items, long long n, T* sums) { scan_tiles(items, n, sums); } \
  SEMIRA_SCAN sums_name(T* sums, long long tiles) { scan_sums(sums, tiles); }                  \
  SEMIRA_SCAN items_name(T* items, long long n, const T* sums) { scan_items(items, n, sums); } \
  SEMIRA_SCAN few_name(T* items, long long n, const T* sums) { scan_few(items, n, sums); }
