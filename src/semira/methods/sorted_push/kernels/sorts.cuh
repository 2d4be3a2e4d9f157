// Stable sorts of columns, and of values of any type beside them: by digits, and by merging runs.
#pragma once
#include "matrix/scan.cuh"

constexpr int kSortThreads = kScanThreads;
constexpr int kSortItems = 8;
constexpr int kSortTile = kSortThreads * kSortItems;
constexpr int kSortWarps = kSortThreads / kWarp;
// Values that a digit may have.
constexpr int kDigits = 256;
static_assert(kDigits == kSortThreads, "a thread for each digit");

// What lies beside a key, by its size alone.
struct Beside0 {};
struct Beside16 {
  unsigned long long low, high;
};
template <class Word>
constexpr bool kHasWord = !Same<Word, Beside0>::value;

// A digit of a key: `bits` bits from `shift` on.
struct Digit {
  int shift, bits;
  __device__ __forceinline__ unsigned of(Index key) const {
    return static_cast<unsigned>(key) >> shift & ((1u << bits) - 1);
  }
};

// by digits ---------------------------------------------------------------------------------------
// How often each digit occurs in each tile: counts[digit * tiles + tile]. A block takes a tile.
__device__ __forceinline__ void count_digits(const Index* keys, long long n, Digit digit,
                                             Offset* counts) {
  __shared__ unsigned found[kDigits];
  const long long tile = block_number(), tiles = gridDim.x, first = tile * kSortTile;
  found[threadIdx.x] = 0;
  __syncthreads();
  for (int k = 0; k < kSortItems; ++k) {
    const long long at = first + k * kSortThreads + threadIdx.x;
    if (at < n) atomicAdd(&found[digit.of(keys[at])], 1u);
  }
  __syncthreads();
  if (threadIdx.x < 1u << digit.bits) {
    counts[threadIdx.x * tiles + tile] = static_cast<Offset>(found[threadIdx.x]);
  }
}

// Lanes of the warp that are live and have the same digit.
__device__ __forceinline__ unsigned lanes_alike(unsigned value, int bits, bool live) {
  unsigned alike = __ballot_sync(kAllLanes, live);
  for (int b = 0; b < bits; ++b) {
    const bool mine = value >> b & 1u;
    const unsigned votes = __ballot_sync(kAllLanes, mine);
    alike &= mine ? votes : ~votes;
  }
  return alike;
}

// Moves each item to its digit's part of the list; `starts` are the running sums of the counts. A
// block orders its tile in shared memory first, so that neighbours are written together.
template <class Word>
__device__ void place_digits(const Index* keys, const Word* words, long long n, Digit digit,
                             const Offset* starts, Index* keys_out, Word* words_out) {
  constexpr int kWidest = kHasWord<Word> && sizeof(Word) > sizeof(Index) ? sizeof(Word) : sizeof(Index);
  __shared__ unsigned held[kSortWarps][kDigits];
  __shared__ unsigned begins[kDigits];
  __shared__ __align__(16) unsigned char room[kSortTile * kWidest];
  const long long tile = block_number(), tiles = gridDim.x, first = tile * kSortTile;
  const int count = n - first < kSortTile ? static_cast<int>(n - first) : kSortTile;
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  for (int w = 0; w < kSortWarps; ++w) held[w][threadIdx.x] = 0;
  __syncthreads();

  // A warp ranks its own stretch of the tile, 32 items after the other.
  const int base = static_cast<int>(warp) * kWarp * kSortItems + static_cast<int>(lane);
  Index key[kSortItems];
  unsigned place[kSortItems];
#pragma unroll
  for (int k = 0; k < kSortItems; ++k) {
    const bool live = base + k * kWarp < count;
    key[k] = live ? keys[first + base + k * kWarp] : 0;
    const unsigned value = digit.of(key[k]);
    const unsigned alike = lanes_alike(value, digit.bits, live);
    place[k] = held[warp][value] + __popc(alike & ((1u << lane) - 1));
    __syncwarp();
    if (live && __ffs(static_cast<int>(alike)) - 1 == static_cast<int>(lane)) {
      held[warp][value] += __popc(alike);
    }
    __syncwarp();
  }
  __syncthreads();
  // Where each digit begins in the tile, and each warp's part of it.
  unsigned sum = 0, whole;
  for (int w = 0; w < kSortWarps; ++w) {
    const unsigned mine = held[w][threadIdx.x];
    held[w][threadIdx.x] = sum;
    sum += mine;
  }
  begins[threadIdx.x] = scan_block(sum, whole);
  __syncthreads();
  Index* const ordered = reinterpret_cast<Index*>(room);
#pragma unroll
  for (int k = 0; k < kSortItems; ++k) {
    const unsigned value = digit.of(key[k]);
    place[k] += begins[value] + held[warp][value];
    if (base + k * kWarp < count) ordered[place[k]] = key[k];
  }
  __syncthreads();
  Offset to[kSortItems];
#pragma unroll
  for (int k = 0; k < kSortItems; ++k) {
    const int at = k * kSortThreads + static_cast<int>(threadIdx.x);
    if (at >= count) continue;
    const unsigned value = digit.of(ordered[at]);
    to[k] = starts[value * tiles + tile] + static_cast<Offset>(at - static_cast<int>(begins[value]));
    keys_out[to[k]] = ordered[at];
  }
  if constexpr (kHasWord<Word>) {
    __syncthreads();
    Word* const moved = reinterpret_cast<Word*>(room);
#pragma unroll
    for (int k = 0; k < kSortItems; ++k) {
      if (base + k * kWarp < count) moved[place[k]] = words[first + base + k * kWarp];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kSortItems; ++k) {
      const int at = k * kSortThreads + static_cast<int>(threadIdx.x);
      if (at < count) words_out[to[k]] = moved[at];
    }
  }
}

// by merging --------------------------------------------------------------------------------------
// How many of the first `diagonal` items of two merged runs come from a; of equal ones, a's first.
template <class P>
__device__ __forceinline__ P split_merge(const Index* a, P num_a, const Index* b, P num_b,
                                         P diagonal) {
  P low = diagonal > num_b ? diagonal - num_b : 0, high = diagonal < num_a ? diagonal : num_a;
  while (low < high) {
    const P middle = low + (high - low) / 2;
    if (b[diagonal - 1 - middle] < a[middle]) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// The next items of two merged runs, from `diagonal` on: where each comes from, b counted behind a.
__device__ __forceinline__ void merge_items(const Index* a, int num_a, const Index* b, int num_b,
                                            int diagonal, int (&from)[kSortItems]) {
  int x = split_merge(a, num_a, b, num_b, diagonal), y = diagonal - x;
#pragma unroll
  for (int k = 0; k < kSortItems; ++k) {
    const bool takes_a = y >= num_b || (x < num_a && !(b[y] < a[x]));
    from[k] = takes_a ? x++ : num_a + y++;
  }
}

// Sorts each tile. A block takes a tile: threads order eight items, then runs are merged.
template <class Word>
__device__ void sort_tiles(const Index* keys, const Word* words, long long n, Index* keys_out,
                           Word* words_out) {
  __shared__ Index ordered[2][kSortTile];
  __shared__ unsigned short origin[2][kSortTile];
  const long long first = block_number() * static_cast<long long>(kSortTile);
  const int count = n - first < kSortTile ? static_cast<int>(n - first) : kSortTile;
  for (int at = static_cast<int>(threadIdx.x); at < kSortTile; at += kSortThreads) {
    // No column is as great as what stands behind the last one.
    ordered[0][at] = at < count ? keys[first + at] : kHighest<Index>;
  }
  __syncthreads();
  const int base = static_cast<int>(threadIdx.x) * kSortItems;
  Index key[kSortItems];
  int from[kSortItems];
#pragma unroll
  for (int k = 0; k < kSortItems; ++k) {
    key[k] = ordered[0][base + k];
    from[k] = base + k;
  }
  // Neighbours change places in turn: equal ones never do.
#pragma unroll
  for (int round = 0; round < kSortItems; ++round) {
#pragma unroll
    for (int k = round % 2; k + 1 < kSortItems; k += 2) {
      if (!(key[k + 1] < key[k])) continue;
      const Index other = key[k];
      const int its = from[k];
      key[k] = key[k + 1], from[k] = from[k + 1];
      key[k + 1] = other, from[k + 1] = its;
    }
  }
#pragma unroll
  for (int k = 0; k < kSortItems; ++k) {
    ordered[0][base + k] = key[k];
    origin[0][base + k] = static_cast<unsigned short>(from[k]);
  }
  __syncthreads();
  int now = 0;
  for (int width = kSortItems; width < kSortTile; width *= 2, now = 1 - now) {
    const int start = base / (2 * width) * (2 * width);
    const Index* const a = &ordered[now][start];
    merge_items(a, width, a + width, width, base - start, from);
#pragma unroll
    for (int k = 0; k < kSortItems; ++k) {
      ordered[1 - now][base + k] = a[from[k]];
      origin[1 - now][base + k] = origin[now][start + from[k]];
    }
    __syncthreads();
  }
  for (int at = static_cast<int>(threadIdx.x); at < count; at += kSortThreads) {
    keys_out[first + at] = ordered[now][at];
    if constexpr (kHasWord<Word>) words_out[first + at] = words[first + origin[now][at]];
  }
}

// Merges neighbouring runs of `width` items, a multiple of the tile. A block makes one tile.
template <class Word>
__device__ void merge_tiles(const Index* keys, const Word* words, long long n, long long width,
                            Index* keys_out, Word* words_out) {
  __shared__ long long splits[2];
  __shared__ Index taken[kSortTile];
  __shared__ unsigned short origin[kSortTile];
  const long long first = block_number() * static_cast<long long>(kSortTile);
  const long long start = first / (2 * width) * (2 * width);
  const long long middle = start + width < n ? start + width : n;
  const long long end = middle + width < n ? middle + width : n;
  const Index *const a = keys + start, *const b = keys + middle;
  const long long diagonal = first - start;
  const int count = end - first < kSortTile ? static_cast<int>(end - first) : kSortTile;
  if (threadIdx.x < 2) {
    splits[threadIdx.x] = split_merge(a, middle - start, b, end - middle,
                                      threadIdx.x == 0 ? diagonal : diagonal + count);
  }
  __syncthreads();
  const long long first_a = splits[0], first_b = diagonal - first_a;
  const int num_a = static_cast<int>(splits[1] - first_a), num_b = count - num_a;
  for (int at = static_cast<int>(threadIdx.x); at < count; at += kSortThreads) {
    taken[at] = at < num_a ? a[first_a + at] : b[first_b + at - num_a];
  }
  __syncthreads();
  const int base = static_cast<int>(threadIdx.x) * kSortItems;
  if (base < count) {
    int x = split_merge(taken, num_a, taken + num_a, num_b, base), y = base - x;
    for (int k = base; k < count && k < base + kSortItems; ++k) {
      const bool takes_a = y >= num_b || (x < num_a && !(taken[num_a + y] < taken[x]));
      origin[k] = static_cast<unsigned short>(takes_a ? x++ : num_a + y++);
    }
  }
  __syncthreads();
  for (int at = static_cast<int>(threadIdx.x); at < count; at += kSortThreads) {
    const int its = origin[at];
    keys_out[first + at] = taken[its];
    if constexpr (kHasWord<Word>) {
      const long long source = its < num_a ? start + first_a + its
                                           : middle + first_b + (its - num_a);
      words_out[first + at] = words[source];
    }
  }
}

// kernels -----------------------------------------------------------------------------------------
extern "C" __global__ void __launch_bounds__(kSortThreads)
    semira_count_digits(const Index* keys, long long n, long long shift, long long bits,
                        Offset* counts) {
  count_digits(keys, n, {static_cast<int>(shift), static_cast<int>(bits)}, counts);
}

#define SEMIRA_SORTS(bytes, Word)                                                              \
  extern "C" __global__ void __launch_bounds__(kSortThreads) semira_place_digits##bytes(       \
      const Index* keys, const void* words, long long n, long long shift, long long bits,      \
      const Offset* starts, Index* keys_out, void* words_out) {                                \
    place_digits(keys, static_cast<const Word*>(words), n,                                     \
                 {static_cast<int>(shift), static_cast<int>(bits)}, starts, keys_out,          \
                 static_cast<Word*>(words_out));                                               \
  }                                                                                            \
  extern "C" __global__ void __launch_bounds__(kSortThreads) semira_sort_tiles##bytes(         \
      const Index* keys, const void* words, long long n, Index* keys_out, void* words_out) {   \
    sort_tiles(keys, static_cast<const Word*>(words), n, keys_out,                             \
               static_cast<Word*>(words_out));                                                 \
  }                                                                                            \
  extern "C" __global__ void __launch_bounds__(kSortThreads) semira_merge_tiles##bytes(        \
      const Index* keys, const void* words, long long n, long long width, Index* keys_out,     \
      void* words_out) {                                                                       \
    merge_tiles(keys, static_cast<const Word*>(words), n, width, keys_out,                     \
                static_cast<Word*>(words_out));                                                \
  }
SEMIRA_SORTS(0, Beside0)
SEMIRA_SORTS(1, unsigned char)
SEMIRA_SORTS(2, unsigned short)
SEMIRA_SORTS(4, unsigned)
SEMIRA_SORTS(8, unsigned long long)
SEMIRA_SORTS(16, Beside16)
