// Positions of entries as keys that are sorted, and back.
#pragma once
#include "matrix/entries.cuh"

// Numbers of 4 or 8 bytes, as they come: positions of a caller, keys in the fewest bytes.
SEMIRA_INLINE unsigned long long load_word(const void* list, long long bytes, long long at) {
  return bytes == 4 ? static_cast<const unsigned*>(list)[at]
                    : static_cast<const unsigned long long*>(list)[at];
}

// Sort keys ``major << bits | minor``; a null `minor` makes them of `major` alone.
extern "C" __global__ void semira_pack_keys(const void* major, long long major_bytes,
    const void* minor, long long minor_bytes, long long n, long long bits, void* keys,
    long long key_bytes) {
  for (const long long e : items_below(n)) {
    unsigned long long key = load_word(major, major_bytes, e);
    if (minor != nullptr) key = key << bits | load_word(minor, minor_bytes, e);
    if (key_bytes == 4) {
      static_cast<unsigned*>(keys)[e] = static_cast<unsigned>(key);
    } else {
      static_cast<unsigned long long*>(keys)[e] = key;
    }
  }
}

// 1 where a sorted list of keys has a new one.
extern "C" __global__ void semira_key_heads(
    const void* keys, long long key_bytes, long long n, Offset* flags) {
  for (const long long e : items_below(n)) {
    flags[e] = e == 0 || load_word(keys, key_bytes, e) != load_word(keys, key_bytes, e - 1);
  }
}

// The parts of packed keys: of all of them, or (running sums of heads) of one of each.
extern "C" __global__ void semira_unpack_keys(const void* keys, long long key_bytes, long long n,
    long long bits, const Offset* places, Index* major, Index* minor) {
  for (const long long e : items_below(n)) {
    const long long to = places != nullptr ? places[e] : e;
    if (places != nullptr && places[e + 1] == to) continue;
    const unsigned long long key = load_word(keys, key_bytes, e);
    major[to] = static_cast<Index>(key >> bits);
    minor[to] = static_cast<Index>(key & ((1ull << bits) - 1));
  }
}

// Columns (and rows) of sorted keys ``row * ncols + column``.
extern "C" __global__ void semira_split_keys(
    const unsigned long long* keys, long long nvals, long long ncols, Index* rows, Index* indices) {
  for (const long long e : items_below(nvals)) {
    rows[e] = static_cast<Index>(keys[e] / static_cast<unsigned long long>(ncols));
    indices[e] = static_cast<Index>(keys[e] % static_cast<unsigned long long>(ncols));
  }
}

// Keys of every pair of listed rows and columns; a null list names all positions.
extern "C" __global__ void semira_cross_keys(const Index* rows, const Index* columns,
    long long num_rows, long long num_columns, long long ncols, unsigned long long* keys) {
  for (const long long k : items_below(num_rows * num_columns)) {
    const long long r = k / num_columns, s = k % num_columns;
    const long long i = rows != nullptr ? rows[r] : r, j = columns != nullptr ? columns[s] : s;
    keys[k] = static_cast<unsigned long long>(i * ncols + j);
  }
}
