// Gathered rows of tables: added up, or joined, made of length 1 and added up. See gather.py.
#pragma once

// A finite number of float16: its exponent is biased by 112 less.
__device__ __forceinline__ float float_of(unsigned half) {
  const float size = __int_as_float(static_cast<int>((half & 0x7fffu) << 13));
  const float value = size * 5192296858534827628530496329220096.0f;
  return (half & 0x8000u) != 0 ? -value : value;
}

// Four columns at a time where rows are multiples of 16 bytes, else one.
struct Quad {
  static constexpr int kColumns = 4;
  float x, y, z, w;
  __device__ static Quad load(const float* at) {
    const float4 found = *reinterpret_cast<const float4*>(at);
    return {found.x, found.y, found.z, found.w};
  }
  __device__ static Quad load(const unsigned short* at) {
    const unsigned long long four = *reinterpret_cast<const unsigned long long*>(at);
    const unsigned low = static_cast<unsigned>(four), high = static_cast<unsigned>(four >> 32);
    return {float_of(low & 0xffffu), float_of(low >> 16), float_of(high & 0xffffu),
            float_of(high >> 16)};
  }
  __device__ void store(float* at) const {
    float4 made;
    made.x = x;
    made.y = y;
    made.z = z;
    made.w = w;
    *reinterpret_cast<float4*>(at) = made;
  }
  template <class F>
  __device__ static Quad of(F function, const Quad& a, const Quad& b) {
    return {function(a.x, b.x), function(a.y, b.y), function(a.z, b.z), function(a.w, b.w)};
  }
  __device__ float square() const { return x * x + y * y + z * z + w * w; }
};

struct Single {
  static constexpr int kColumns = 1;
  float x;
  __device__ static Single load(const float* at) { return {*at}; }
  __device__ static Single load(const unsigned short* at) { return {float_of(*at)}; }
  __device__ void store(float* at) const { *at = x; }
  template <class F>
  __device__ static Single of(F function, const Single& a, const Single& b) {
    return {function(a.x, b.x)};
  }
  __device__ float square() const { return x * x; }
};

struct Plus {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Greater {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct DividedBy {
  float by;
  __device__ float operator()(float a, float) const { return a / by; }
};
// Cut off at 0, then scaled.
struct CutOff {
  float scale;
  __device__ float operator()(float a, float) const { return fmaxf(a, 0.0f) * scale; }
};

// Whether rows of a table are whole Quads.
template <class T>
__device__ __forceinline__ bool has_quads(const T* table, long long width) {
  return width % 4 == 0 && reinterpret_cast<unsigned long long>(table) % (4 * sizeof(T)) == 0;
}

// Sixteen lanes for each item: rows of 64 columns are a load of each.
template <class V, class I, class T>
__device__ void pool_by(long long items, int k, int width, long long mode, const I* places,
                        const T* __restrict__ table, float* out) {
  const Group<16> mine;
  for (long long i = mine.first; i < items; i += mine.step) {
    const I* rows = places + i * k;
    for (int c = mine.lane * V::kColumns; c < width; c += 16 * V::kColumns) {
      const auto at = [&](int slot) {
        return V::load(table + static_cast<long long>(rows[slot]) * width + c);
      };
      V total = at(0);
      if (mode == 0) {
        for (int slot = 1; slot < k; ++slot) total = V::of(Greater{}, total, at(slot));
      } else {
        // Several loads at once: there is nothing else to wait for.
#pragma unroll 8
        for (int slot = 1; slot < k; ++slot) total = V::of(Plus{}, total, at(slot));
        if (mode == 1) total = V::of(DividedBy{static_cast<float>(k)}, total, total);
      }
      total.store(out + i * width + c);
    }
  }
}

template <class I, class T, class U>
__device__ void pool(long long items, long long k, long long width, long long mode,
                     const I* places, const T* table, U* out) {
  if (has_quads(table, width)) {
    pool_by<Quad>(items, static_cast<int>(k), static_cast<int>(width), mode, places, table, out);
  } else {
    pool_by<Single>(items, static_cast<int>(k), static_cast<int>(width), mode, places, table, out);
  }
}

template <class I, class T, class H, class U>
__device__ void pool_halves(long long items, long long k, long long width, long long mode,
                            const I* places, const T* table, const H*, U* out) {
  pool(items, k, width, mode, places, table, out);
}

// One slot of `join`.
struct Joined {
  const float *own, *other;
  int own_width;
  template <class V>
  __device__ V at(int c) const {
    return V::load(c < own_width ? own + c : other + (c - own_width));
  }
};

// What a row is multiplied by to have length 1.
__device__ __forceinline__ float scale_of(float square) {
  for (int bits = 16; bits > 0; bits /= 2) square += __shfl_xor_sync(kAllLanes, square, bits);
  return square > 0 ? 1.0f / sqrtf(square) : 0.0f;
}

template <class V>
__device__ V added(long long mode, const V& before, const V& value) {
  return mode == 0 ? V::of(Greater{}, before, value) : V::of(Plus{}, before, value);
}

// A warp for each item. Each lane keeps kKept loads of the slot and of the result.
template <class V, int kKept, class I>
__device__ void join_kept(long long items, int k, int own_width, int width, long long mode,
                          const I* places, const float* own, const float* other, float* out) {
  const Group<32> mine;
  const int first = mine.lane * V::kColumns, step = 32 * V::kColumns;
  for (long long i = mine.first; i < items; i += mine.step) {
    V result[kKept] = {};
    for (long long slot = i * k; slot < (i + 1) * k; ++slot) {
      const Joined row{own + static_cast<long long>(places[slot]) * own_width,
                       other + slot * (width - own_width), own_width};
      V kept[kKept] = {};
      float square = 0;
#pragma unroll
      for (int j = 0; j < kKept; ++j) {
        if (first + j * step < width) kept[j] = row.template at<V>(first + j * step);
      }
#pragma unroll
      for (int j = 0; j < kKept; ++j) {
        kept[j] = V::of(CutOff{1.0f}, kept[j], kept[j]);
        square += kept[j].square();
      }
      const CutOff scale{scale_of(square)};
#pragma unroll
      for (int j = 0; j < kKept; ++j) {
        result[j] = added(mode, result[j], V::of(scale, kept[j], kept[j]));
      }
    }
#pragma unroll
    for (int j = 0; j < kKept; ++j) {
      const int c = first + j * step;
      if (mode == 1) result[j] = V::of(DividedBy{static_cast<float>(k)}, result[j], result[j]);
      if (c < width) result[j].store(out + i * width + c);
    }
  }
}

// The same for rows that no lane can keep: each slot is read twice.
template <class V, class I>
__device__ void join_wide(long long items, int k, int own_width, int width, long long mode,
                          const I* places, const float* own, const float* other, float* out) {
  const Group<32> mine;
  for (long long i = mine.first; i < items; i += mine.step) {
    for (int slot = 0; slot < k; ++slot) {
      const Joined row{own + static_cast<long long>(places[i * k + slot]) * own_width,
                       other + (i * k + slot) * (width - own_width), own_width};
      float square = 0;
      for (int c = mine.lane * V::kColumns; c < width; c += 32 * V::kColumns) {
        const V value = row.template at<V>(c);
        square += V::of(CutOff{1.0f}, value, value).square();
      }
      const CutOff scale{scale_of(square)};
      for (int c = mine.lane * V::kColumns; c < width; c += 32 * V::kColumns) {
        const V value = row.template at<V>(c);
        V total = V::of(scale, value, value);
        if (slot > 0) total = added(mode, V::load(out + i * width + c), total);
        if (mode == 1 && slot == k - 1) total = V::of(DividedBy{static_cast<float>(k)}, total, total);
        total.store(out + i * width + c);
      }
    }
  }
}

template <class V, class I>
__device__ void join_by(long long items, int k, int own_width, int width, long long mode,
                        const I* places, const float* own, const float* other, float* out) {
  if (width <= 64 * V::kColumns) {
    join_kept<V, 2>(items, k, own_width, width, mode, places, own, other, out);
  } else if (width <= 128 * V::kColumns) {
    join_kept<V, 4>(items, k, own_width, width, mode, places, own, other, out);
  } else {
    join_wide<V>(items, k, own_width, width, mode, places, own, other, out);
  }
}

template <class I, class T, class U>
__device__ void join(long long items, long long k, long long own_width, long long other_width,
                     long long mode, const I* places, const T* own, const T* other, U* out) {
  const int slots = static_cast<int>(k), left = static_cast<int>(own_width);
  const int width = static_cast<int>(own_width + other_width);
  if (has_quads(own, own_width) && has_quads(other, other_width)) {
    join_by<Quad>(items, slots, left, width, mode, places, own, other, out);
  } else {
    join_by<Single>(items, slots, left, width, mode, places, own, other, out);
  }
}
