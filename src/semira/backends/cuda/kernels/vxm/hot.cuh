// Values of the vector at a matrix' most frequent columns, side by side in shared memory.
//
// First all blocks gather them to a table in device memory, then, after a barrier, every block
// copies the table: gathered by each block for itself they would cost as much as many entries do.
// A column is negative where the table has its value (`Compressed::coded`).
#pragma once
#include "vxm/product.cuh"

// Bytes of so many values, or of their presence words, in a table: whole pieces of 16.
__device__ __forceinline__ unsigned table_bytes(unsigned count, unsigned size) {
  return (count * size + 15) / 16 * 16;
}
__device__ __forceinline__ unsigned presence_bytes(unsigned count) {
  return table_bytes((count + kWarp - 1) / kWarp, sizeof(unsigned));
}

// The table in device memory: values, then presence words.
template <class A>
__device__ __forceinline__ unsigned char* hot_table(const Compressed<A>& matrix) {
  const unsigned listed = table_bytes(static_cast<unsigned>(matrix.num_hot), sizeof(Index));
  return reinterpret_cast<unsigned char*>(matrix.hot) + listed;
}

// The same in shared memory, where `copy_hot` puts it.
__device__ __forceinline__ unsigned char* shared_table() {
  extern __shared__ __align__(16) unsigned char semira_dynamic[];
  return semira_dynamic;
}

// All blocks; a barrier has to follow. A null `present` means that every position is.
template <class U, class A>
SEMIRA_PHASE void gather_hot(const Team& team, const unsigned* present, const U* u,
                             const Compressed<A>& matrix) {
  const unsigned count = static_cast<unsigned>(matrix.num_hot);
  unsigned char* const table = hot_table(matrix);
  U* const values = reinterpret_cast<U*>(table);
  unsigned* const words = reinterpret_cast<unsigned*>(table + table_bytes(count, sizeof(U)));
  for (unsigned base = team.warp * kWarp; base < count; base += team.threads) {
    const unsigned k = base + team.lane;
    const unsigned column = k < count ? static_cast<unsigned>(matrix.hot[k]) : 0;
    bool has = k < count;
    if (present != nullptr) {
      has = has && (present[column / kWarp] >> (column % kWarp) & 1u);
      const unsigned word = __ballot_sync(kAllLanes, has);
      if (team.lane == 0) words[base / kWarp] = word;
    }
    if (has) values[k] = u[column];
  }
}

// Every block, before it looks at a column.
template <class U, class A>
__device__ __forceinline__ void copy_hot(const Compressed<A>& matrix, bool with_presence) {
  const unsigned count = static_cast<unsigned>(matrix.num_hot);
  const unsigned bytes =
      table_bytes(count, sizeof(U)) + (with_presence ? presence_bytes(count) : 0);
  const uint4* const from = reinterpret_cast<const uint4*>(hot_table(matrix));
  uint4* const to = reinterpret_cast<uint4*>(shared_table());
#pragma unroll 4
  for (unsigned k = threadIdx.x; k < bytes / sizeof(uint4); k += blockDim.x) to[k] = from[k];
  __syncthreads();
}

// Two loads of which one happens, without a branch; what they need is computed here, which spares
// the registers of four such pairs. Volatile: not before the table is there.
#define SEMIRA_LOAD_EITHER(letter, kind, bits)                                                  \
  asm volatile(                                                                                 \
      "{\n\t.reg .pred is_hot;\n\t.reg .b32 near;\n\t.reg .b64 far;\n\t"                        \
      "setp.lt.s32 is_hot, %1, 0;\n\tnot.b32 near, %1;\n\tmad.lo.u32 near, near, %4, %2;\n\t"   \
      "mad.wide.s32 far, %1, %4, %3;\n\t@is_hot ld.shared." kind " %0, [near];\n\t"             \
      "@!is_hot ld.global." kind " %0, [far];\n\t}"                                             \
      : "=" letter(bits)                                                                        \
      : "r"(column), "r"(table), "l"(array), "n"(sizeof(V))                                     \
      : "memory")

// array[column], or where the column is negative table[~column]; the table is an address in
// shared memory.
template <class V>
__device__ __forceinline__ V load_either(Index column, unsigned table, const V* array) {
  static_assert(sizeof(V) == 1 || sizeof(V) == 2 || sizeof(V) == 4 || sizeof(V) == 8,
                "tables have values of one load");
  V value;
  if constexpr (sizeof(V) == 8) {
    unsigned long long bits;
    SEMIRA_LOAD_EITHER("l", "b64", bits);
    memcpy(&value, &bits, sizeof(V));
  } else {
    unsigned bits;
    if constexpr (sizeof(V) == 4) SEMIRA_LOAD_EITHER("r", "b32", bits);
    if constexpr (sizeof(V) == 2) SEMIRA_LOAD_EITHER("r", "u16", bits);
    if constexpr (sizeof(V) == 1) SEMIRA_LOAD_EITHER("r", "u8", bits);
    memcpy(&value, &bits, sizeof(V));
  }
  return value;
}
#undef SEMIRA_LOAD_EITHER

// What a stripe reads of the vector, by columns as they stand in `Compressed::coded`.
template <bool kHot, class U>
struct StripeSource {
  const unsigned* present;
  const U* u;
  unsigned values, words;  // of the table: addresses in shared memory

  template <class A>
  __device__ __forceinline__ StripeSource(const unsigned* p, const U* v,
                                          const Compressed<A>& matrix)
      : present(p),
        u(v),
        values(static_cast<unsigned>(__cvta_generic_to_shared(shared_table()))),
        words(values + table_bytes(static_cast<unsigned>(matrix.num_hot), sizeof(U))) {}

  // Where the column's bit of presence lies in its word.
  static __device__ __forceinline__ unsigned place(Index column) {
    return static_cast<unsigned>(column < 0 ? ~column : column);
  }
  __device__ __forceinline__ U value(Index column) const { return load_either(column, values, u); }
  __device__ __forceinline__ unsigned word(Index column) const {
    // Words of hot columns are negative as well: ~c >> 5 is ~(c >> 5).
    return load_either(column >> 5, words, present);
  }
};

// Where no column is hot: columns as they are.
template <class U>
struct StripeSource<false, U> {
  const unsigned* present;
  const U* u;

  template <class A>
  __device__ __forceinline__ StripeSource(const unsigned* p, const U* v, const Compressed<A>&)
      : present(p), u(v) {}

  static __device__ __forceinline__ unsigned place(Index column) {
    return static_cast<unsigned>(column);
  }
  __device__ __forceinline__ U value(Index column) const { return in_global(u)[column]; }
  __device__ __forceinline__ unsigned word(Index column) const {
    return in_global(present)[place(column) / kWarp];
  }
};
