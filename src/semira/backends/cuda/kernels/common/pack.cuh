// Several neighbouring elements of an array in one load or store.
#pragma once
#include "common/types.cuh"

// Largest alignment that every `kItems`-th element of an array has, if the first one has it; up
// to what one load takes.
template <class V, int kItems>
constexpr int kPackAlign =
    (sizeof(V) * kItems & -(sizeof(V) * kItems)) < 16 ? (sizeof(V) * kItems & -(sizeof(V) * kItems))
                                                      : 16;

template <class V, int kItems> struct alignas(kPackAlign<V, kItems>) Pack {
  V items[kItems];
};

template <int kItems, class V> SEMIRA_INLINE bool is_packed(const V* array) {
  return reinterpret_cast<unsigned long long>(array) % kPackAlign<V, kItems> == 0;
}
