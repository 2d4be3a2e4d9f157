// Hash tables of columns in shared memory, and the order of what they hold.
#pragma once
#include "mxm/rows.cuh"

constexpr Index kEmpty = -1;
// Above every column: sides are below 2**31.
constexpr Index kAfterAll = 0x7fffffff;

// How a key stands in its slot until somebody stores a value there; negative, and not kEmpty.
SEMIRA_INLINE Index pending(Index key) { return -2 - key; }

// Bits of the least power of two that is at least n; n >= 1.
SEMIRA_INLINE unsigned bits_for(unsigned n) { return 32 - __clz(n - 1); }

// Open addressing over 2**bits slots, at most half of them taken.
struct KeyTable {
  Index* keys;
  unsigned bits;

  // For at most n keys.
  __device__ KeyTable(Index* memory, unsigned n) : keys(memory), bits(bits_for(2 * n)) {}

  SEMIRA_INLINE unsigned slots() const { return 1u << bits; }
  // Fibonacci hashing: the upper bits of a product with 2**32 / golden ratio.
  SEMIRA_INLINE unsigned first_slot(Index key) const {
    return static_cast<unsigned>(key) * 2654435769u >> (32 - bits);
  }

  // The slot of `key`, which is taken if it was not there; `is_new` then says so. With kPending
  // the key waits there for `settle`.
  template <bool kPending = false> SEMIRA_INLINE unsigned insert(Index key, bool& is_new) const {
    const Index mark = kPending ? pending(key) : key;
    unsigned slot = first_slot(key);
    is_new = false;
    while (true) {
      Index seen = *const_cast<volatile Index*>(keys + slot);
      if (seen == kEmpty) {
        seen = atomicCAS(keys + slot, kEmpty, mark);
        is_new = seen == kEmpty;
      }
      if (is_new || seen == key || seen == mark) return slot;
      slot = (slot + 1) & (slots() - 1);
    }
  }

  // Ends the wait of a key; whether it waited. One thread at a time calls it for a slot.
  SEMIRA_INLINE bool settle(unsigned slot, Index key) const {
    volatile Index* const place = keys + slot;
    if (*place == key) return false;
    *place = key;
    return true;
  }

  // Whether `key` is there, once nobody inserts any more.
  SEMIRA_INLINE bool find(Index key, unsigned& slot) const {
    slot = first_slot(key);
    while (true) {
      const Index seen = keys[slot];
      if (seen == key) return true;
      if (seen == kEmpty) return false;
      slot = (slot + 1) & (slots() - 1);
    }
  }
};

// Moves the taken slots to the front; `taken` is zero before.
template <class G, class T>
SEMIRA_INLINE void compact(const G& group, const KeyTable& table, T* values, unsigned* taken) {
  for (unsigned base = 0; base < table.slots(); base += group.lanes) {
    const unsigned slot = base + group.lane;
    const Index key = slot < table.slots() ? table.keys[slot] : kEmpty;
    T value{};
    if (key != kEmpty) value = values[slot];
    // Nothing is written behind what all have read: no second barrier.
    group.sync();
    if (key != kEmpty) {
      const unsigned to = atomicAdd(taken, 1u);
      table.keys[to] = key;
      values[to] = value;
    }
  }
  group.sync();
}

// Bitonic sort of the first n pairs; there is room for the next power of two.
template <class G, class T>
SEMIRA_INLINE void sort_pairs(const G& group, Index* keys, T* values, unsigned n) {
  const unsigned padded = 1u << bits_for(n);
  for (unsigned k = n + group.lane; k < padded; k += group.lanes) keys[k] = kAfterAll;
  for (unsigned size = 2; size <= padded; size *= 2) {
    for (unsigned stride = size / 2; stride > 0; stride /= 2) {
      group.sync();
      for (unsigned k = group.lane; k < padded / 2; k += group.lanes) {
        const unsigned low = 2 * k - (k & (stride - 1)), high = low + stride;
        const Index x = keys[low], y = keys[high];
        if ((x > y) != ((low & size) == 0)) continue;
        keys[low] = y, keys[high] = x;
        const T value = values[low];
        values[low] = values[high];
        values[high] = value;
      }
    }
  }
  group.sync();
}
