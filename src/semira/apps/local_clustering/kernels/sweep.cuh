// The order of a diffusion and its best prefix: a block for each problem. See sweep.py.
#pragma once
#include "semira.apps.local_clustering.kernels:block.cuh"

// Entries that are sorted in shared memory.
constexpr int kTile = 2048;

// Puts entries i < j into the order (greater key, then smaller word), or into its reverse.
__device__ __forceinline__ void exchange(double* key, long long* word, int i, int j, bool rising) {
  const bool first = key[i] > key[j] || (key[i] == key[j] && word[i] < word[j]);
  if (first == rising) return;
  const double held = key[i];
  key[i] = key[j];
  key[j] = held;
  const long long other = word[i];
  word[i] = word[j];
  word[j] = other;
}

// The steps of a bitonic sort with strides from `stride` to 1, of runs of `run`, for one tile that
// begins at `base`.
__device__ inline void tile_steps(double* key, long long* word, int tile, long long base,
                                  long long run, int stride) {
  for (; stride > 0; stride /= 2) {
    for (int k = threadIdx.x; k < tile / 2; k += blockDim.x) {
      const int i = 2 * k - (k & (stride - 1));
      exchange(key, word, i, i + stride, ((base + i) & run) == 0);
    }
    __syncthreads();
  }
}

// Sorts `size` entries, a power of 2, with a bitonic network; strides within a tile in shared memory.
__device__ inline void sort_in_block(double* key, long long* word, long long size) {
  __shared__ double near_key[kTile];
  __shared__ long long near_word[kTile];
  const int tile = static_cast<int>(min(size, static_cast<long long>(kTile)));
  for (long long run = tile; run <= size; run *= 2) {
    for (long long stride = run / 2; stride >= kTile; stride /= 2) {
      for (long long k = threadIdx.x; k < size / 2; k += blockDim.x) {
        const long long i = 2 * k - (k & (stride - 1));
        exchange(key + i, word + i, 0, static_cast<int>(stride), (i & run) == 0);
      }
      __syncthreads();
    }
    for (long long base = 0; base < size; base += tile) {
      for (int k = threadIdx.x; k < tile; k += blockDim.x) {
        near_key[k] = key[base + k];
        near_word[k] = word[base + k];
      }
      __syncthreads();
      if (run == tile) {
        for (int part = 2; part < tile; part *= 2) {
          tile_steps(near_key, near_word, tile, base, part, part / 2);
        }
      }
      tile_steps(near_key, near_word, tile, base, run, tile / 2);
      for (int k = threadIdx.x; k < tile; k += blockDim.x) {
        key[base + k] = near_key[k];
        word[base + k] = near_word[k];
      }
      __syncthreads();
    }
  }
}

template <class V, class P>
__device__ void order(long long items, const long long* ptr, const V* vertices,
                      const double* values, const P* indptr, bool by_degree, long long room,
                      V* new_v, double* new_x, double* key, long long* word) {
  for (long long item = block_number(); item < items; item += gridDim.x) {
    const long long first = ptr[item], size = ptr[item + 1] - first;
    long long padded = 1;
    while (padded < size) padded *= 2;
    for (long long k = threadIdx.x; k < padded; k += blockDim.x) {
      if (k < size) {
        const long long v = vertices[first + k];
        const double value = values[first + k];
        key[k] = by_degree ? value / static_cast<double>(indptr[v + 1] - indptr[v]) : value;
        word[k] = (v << 32) + k;
      } else {
        key[k] = -1;
        word[k] = k;
      }
    }
    __syncthreads();
    if (padded > 1) sort_in_block(key, word, padded);
    for (long long k = threadIdx.x; k < size; k += blockDim.x) {
      const long long source = first + (word[k] & 0xffffffffll);
      new_v[first + k] = vertices[source];
      new_x[first + k] = values[source];
    }
    __syncthreads();
  }
}

// A vertex, the first slot where it may be, and what that holds.
struct RankSeen {
  long long vertex, slot, key;
};

// Ranks of the vertices of a problem: pairs of (vertex + 1, rank), hashed.
struct Ranks {
  long long* table;
  long long mask;

  __device__ void enter(long long v, long long rank) const {
    long long slot = (v * 2654435761ll >> 15) & mask;
    while (atomicCAS(reinterpret_cast<unsigned long long*>(&table[2 * slot]), 0ull,
                     static_cast<unsigned long long>(v + 1)) != 0) {
      slot = (slot + 1) & mask;
    }
    table[2 * slot + 1] = rank;
  }

  __device__ RankSeen look(long long v) const {
    const long long slot = (v * 2654435761ll >> 15) & mask;
    return RankSeen{v, slot, table[2 * slot]};
  }

  // Whether a vertex is there with a smaller rank.
  __device__ bool is_before(const RankSeen& seen, long long rank) const {
    long long slot = seen.slot;
    for (long long held = seen.key; held != 0; held = table[2 * slot]) {
      if (held == seen.vertex + 1) return table[2 * slot + 1] < rank;
      slot = (slot + 1) & mask;
    }
    return false;
  }
};

// The first of the least profiles, as one thread knows it.
struct Best {
  double profile;
  long long at, volume, cut;
};

__device__ __forceinline__ bool is_better(const Best& a, const Best& b) {
  return a.at >= 0 && (b.at < 0 || a.profile < b.profile || (a.profile == b.profile && a.at < b.at));
}

// All threads get the best one.
__device__ inline Best least_over_block(Best mine) {
  __shared__ Best parts[kMostWarps];
  for (int step = 16; step > 0; step /= 2) {
    const Best other{__shfl_xor_sync(kAllLanes, mine.profile, step),
                     __shfl_xor_sync(kAllLanes, mine.at, step),
                     __shfl_xor_sync(kAllLanes, mine.volume, step),
                     __shfl_xor_sync(kAllLanes, mine.cut, step)};
    if (is_better(other, mine)) mine = other;
  }
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = mine;
  __syncthreads();
  for (unsigned k = 0; k < blockDim.x / 32; ++k) {
    if (is_better(parts[k], mine)) mine = parts[k];
  }
  __syncthreads();
  return mine;
}

template <class P, class V>
__device__ Best best_prefix(const V* vertices, long long size, const P* indptr, long long total,
                            const int* inner, double* profile) {
  Best best{3, -1, 0, 0};
  long long volume = 0, cut = 0;
  for (long long base = 0; base < size; base += blockDim.x) {
    const long long k = base + threadIdx.x;
    const long long v = k < size ? vertices[k] : 0;
    const long long degree = k < size ? indptr[v + 1] - indptr[v] : 0;
    const long long gained = k < size ? degree - 2ll * inner[k] : 0;
    long long more_volume, more_cut;
    const long long my_volume = volume + degree + sum_before(degree, more_volume);
    const long long my_cut = cut + gained + sum_before(gained, more_cut);
    volume += more_volume;
    cut += more_cut;
    if (k >= size) continue;
    double found = 2;
    if (my_volume < total) {
      found = static_cast<double>(my_cut) / static_cast<double>(min(my_volume, total - my_volume));
    }
    profile[k] = found;
    if (best.at < 0 || found < best.profile) best = Best{found, k, my_volume, my_cut};
  }
  return best;
}

template <class V, class P, class I>
__device__ void sweep(long long items, const long long* ptr, const V* vertices, const P* indptr,
                      const I* indices, long long total, double* profile, long long* facts,
                      long long* table, int* inner) {
  const int never = 0;
  for (long long item = block_number(); item < items; item += gridDim.x) {
    const long long first = ptr[item];
    const int size = static_cast<int>(ptr[item + 1] - first);
    long long slots = 1;
    while (slots < 2ll * size) slots *= 2;
    const Ranks ranks{table, slots - 1};
    for (long long k = threadIdx.x; k < 2 * slots; k += blockDim.x) table[k] = 0;
    for (int k = threadIdx.x; k < size; k += blockDim.x) inner[k] = 0;
    __syncthreads();
    for (int k = threadIdx.x; k < size; k += blockDim.x) ranks.enter(vertices[first + k], k);
    __syncthreads();
    const auto row = [&](int k) { return static_cast<long long>(vertices[first + k]); };
    const auto look = [&](long long entry) { return ranks.look(indices[entry]); };
    each_entry(indptr, size, never, row, look, [&](int k, const RankSeen& seen) {
      if (ranks.is_before(seen, k)) atomicAdd(&inner[k], 1);
    });
    const Best mine = best_prefix(vertices + first, size, indptr, total, inner, profile + first);
    const Best best = least_over_block(mine);
    const int length = static_cast<int>(best.at + 1);
    long long inside = 0;
    each_entry(indptr, length, never, row, look, [&](int, const RankSeen& seen) {
      inside += ranks.is_before(seen, length) ? 1 : 0;
    });
    inside = sum_over_block(inside);
    if (threadIdx.x == 0) {
      long long* told = facts + 4 * item;
      told[0] = length;
      told[1] = best.volume;
      told[2] = best.cut;
      told[3] = best.volume - inside;
    }
    __syncthreads();
  }
}
