// What the columns of a row are looked up in.
#pragma once
#include "mxm/lines.cuh"

// The columns of a row in a hash table; with kPlaces it says which entry of the row a column is.
template <bool kPlaces>
struct RowTable {
  KeyTable table;
  Index* places;

  // `memory` has room for as many slots as it takes, and as many places behind `most` slots.
  __device__ RowTable(Index* memory, long long most, Offset length)
      : table(memory, length > 0 ? static_cast<unsigned>(length) : 1u), places(memory + most) {}

  template <class G>
  __device__ __forceinline__ void fill(const G& group, const Line& row) const {
    for (unsigned s = group.lane; s < table.slots(); s += group.lanes) table.keys[s] = kEmpty;
    group.sync();
    for (Offset n = static_cast<Offset>(group.lane); n < row.length; n += group.lanes) {
      bool is_new;
      const unsigned slot = table.insert(row.indices[row.start + n], is_new);
      if constexpr (kPlaces) places[slot] = static_cast<Index>(n);
    }
    group.sync();
  }

  template <class G>
  __device__ __forceinline__ void empty(const G& group, const Line&) const {
    group.sync();
  }

  __device__ __forceinline__ bool find(Index k, Offset& place) const {
    unsigned slot;
    if (!table.find(k, slot)) return false;
    if constexpr (kPlaces) place = places[slot];
    return true;
  }
};

// The columns of a row as bits, one for every column there is: they say whether it is there, not
// where. All are zero between rows.
struct RowBits {
  unsigned* words;

  template <class G>
  __device__ __forceinline__ void clear(const G& group, long long count) const {
    for (long long w = group.lane; w < count; w += group.lanes) words[w] = 0;
    group.sync();
  }

  template <class G>
  __device__ __forceinline__ void fill(const G& group, const Line& row) const {
    for (Offset n = static_cast<Offset>(group.lane); n < row.length; n += group.lanes) {
      const Index k = row.indices[row.start + n];
      atomicOr(words + k / kWarp, 1u << k % kWarp);
    }
    group.sync();
  }

  template <class G>
  __device__ __forceinline__ void empty(const G& group, const Line& row) const {
    group.sync();
    for (Offset n = static_cast<Offset>(group.lane); n < row.length; n += group.lanes) {
      words[row.indices[row.start + n] / kWarp] = 0;
    }
    group.sync();
  }

  __device__ __forceinline__ bool find(Index k, Offset&) const {
    return words[k / kWarp] >> k % kWarp & 1u;
  }
};
