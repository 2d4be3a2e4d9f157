// Weights become integers.
#pragma once

template <class V, class T>
__device__ void whole(long long items, const V* weights, double factor, T* out) {
  const Group<1> mine;
  for (long long p = mine.first; p < items; p += mine.step) {
    const double weight = weights[p];
    // The product is exact, so that it does not matter whether the sum is contracted.
    const T rounded = static_cast<T>(floor(weight * factor + 0.5));
    out[p] = rounded == 0 && weight > 0 ? 1 : rounded;
  }
}
