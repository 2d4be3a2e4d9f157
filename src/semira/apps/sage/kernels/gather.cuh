// Gathered rows of tables: added up, or joined, made of length 1 and added up. See gather.py.
#pragma once

// A warp for each item, a lane for every 32nd column.
template <class I, class T, class U>
__device__ void pool(long long items, long long k, long long width, long long mode,
                     const I* __restrict__ places, const T* __restrict__ table, U* out) {
  const Group<32> mine;
  for (long long i = mine.first; i < items; i += mine.step) {
    const I* rows = places + i * k;
    for (long long c = mine.lane; c < width; c += 32) {
      float total = table[rows[0] * width + c];
      if (mode == 0) {
        for (long long slot = 1; slot < k; ++slot) {
          total = fmaxf(total, table[rows[slot] * width + c]);
        }
      } else {
        // Several loads at once: there is nothing else to wait for.
#pragma unroll 8
        for (long long slot = 1; slot < k; ++slot) total += table[rows[slot] * width + c];
        if (mode == 1) total /= static_cast<float>(k);
      }
      out[i * width + c] = total;
    }
  }
}

// One slot of `join`: its columns, cut off at 0.
template <class T>
struct Joined {
  const T *own, *other;
  long long own_width, width;
  __device__ float at(long long c) const {
    if (c >= width) return 0;
    return fmaxf(c < own_width ? own[c] : other[c - own_width], 0.0f);
  }
};

// What a row is multiplied by to have length 1.
__device__ __forceinline__ float scale_of(float square) {
  for (int bits = 16; bits > 0; bits /= 2) square += __shfl_xor_sync(kAllLanes, square, bits);
  return square > 0 ? 1.0f / sqrtf(square) : 0.0f;
}

// A warp for each item. Each lane keeps kKept columns of the slot and of the result.
template <int kKept, class I, class T, class U>
__device__ void join_kept(long long items, long long k, long long own_width, long long width,
                          long long mode, const I* places, const T* own, const T* other, U* out) {
  const Group<32> mine;
  for (long long i = mine.first; i < items; i += mine.step) {
    float result[kKept] = {};
    for (long long slot = i * k; slot < (i + 1) * k; ++slot) {
      const Joined<T> row{own + places[slot] * own_width, other + slot * (width - own_width),
                          own_width, width};
      float kept[kKept], square = 0;
#pragma unroll
      for (int j = 0; j < kKept; ++j) kept[j] = row.at(mine.lane + 32 * j);
#pragma unroll
      for (int j = 0; j < kKept; ++j) square += kept[j] * kept[j];
      const float scale = scale_of(square);
#pragma unroll
      for (int j = 0; j < kKept; ++j) {
        const float value = kept[j] * scale;
        result[j] = mode == 0 ? fmaxf(result[j], value) : result[j] + value;
      }
    }
#pragma unroll
    for (int j = 0; j < kKept; ++j) {
      const long long c = mine.lane + 32 * j;
      if (c < width) out[i * width + c] = mode == 1 ? result[j] / static_cast<float>(k) : result[j];
    }
  }
}

// The same for rows that no lane can keep: each slot is read twice.
template <class I, class T, class U>
__device__ void join_wide(long long items, long long k, long long own_width, long long width,
                          long long mode, const I* places, const T* own, const T* other, U* out) {
  const Group<32> mine;
  for (long long i = mine.first; i < items; i += mine.step) {
    for (long long slot = i * k; slot < (i + 1) * k; ++slot) {
      const Joined<T> row{own + places[slot] * own_width, other + slot * (width - own_width),
                          own_width, width};
      float square = 0;
      for (long long c = mine.lane; c < width; c += 32) square += row.at(c) * row.at(c);
      const float scale = scale_of(square);
      const bool ends = slot == (i + 1) * k - 1;
      for (long long c = mine.lane; c < width; c += 32) {
        const float before = slot == i * k ? 0 : out[i * width + c], value = row.at(c) * scale;
        const float total = mode == 0 ? fmaxf(before, value) : before + value;
        out[i * width + c] = ends && mode == 1 ? total / static_cast<float>(k) : total;
      }
    }
  }
}

template <class I, class T, class U>
__device__ void join(long long items, long long k, long long own_width, long long other_width,
                     long long mode, const I* places, const T* own, const T* other, U* out) {
  const long long width = own_width + other_width;
  if (width <= 256) {
    join_kept<8>(items, k, own_width, width, mode, places, own, other, out);
  } else if (width <= 512) {
    join_kept<16>(items, k, own_width, width, mode, places, own, other, out);
  } else {
    join_wide(items, k, own_width, width, mode, places, own, other, out);
  }
}
