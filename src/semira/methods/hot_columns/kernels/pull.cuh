// Values of the vector at a matrix' most frequent columns, side by side in shared memory.
//
// First all blocks gather them to a table in device memory, then, after a barrier, every block
// copies the table (`shared_table`): gathered by each block for itself they would cost as much as many entries do.
// A column is negative where shared memory has its value (`Compressed::coded`). Where all columns
// are listed, the others are places in the table too: their values lie by frequency, so that lines
// of the caches hold values that are asked for alike.
#pragma once
#include "vxm/stripe.cuh"

// Bytes of `count` values, or of their presence words, in a table: a multiple of 16.
__device__ __forceinline__ size_t table_bytes(size_t count, unsigned size) {
  return (count * size + 15) / 16 * 16;
}
__device__ __forceinline__ size_t presence_bytes(size_t count) {
  return table_bytes((count + kWarp - 1) / kWarp, sizeof(unsigned));
}

// The table in device memory: values, then presence words.
template <class U>
struct HotTable {
  U* values;
  unsigned* words;

  template <class A>
  __device__ __forceinline__ explicit HotTable(const Compressed<A>& matrix) {
    const size_t listed = static_cast<size_t>(matrix.num_listed);
    unsigned char* const begin =
        reinterpret_cast<unsigned char*>(matrix.hot) + table_bytes(listed, sizeof(Index));
    values = reinterpret_cast<U*>(begin);
    words = reinterpret_cast<unsigned*>(begin + table_bytes(listed, sizeof(U)));
  }
};

// All blocks; a barrier has to follow. A null `present` means that every position is.
template <class U, class A>
SEMIRA_PHASE void gather_hot(const Team& team, const unsigned* present, const U* u,
                             const Compressed<A>& matrix) {
  const unsigned count = static_cast<unsigned>(matrix.num_listed);
  const HotTable<U> table(matrix);
  for (unsigned base = team.warp * kWarp; base < count; base += team.threads) {
    const unsigned k = base + team.lane;
    const unsigned column = k < count ? static_cast<unsigned>(matrix.hot[k]) : 0;
    bool has = k < count;
    if (present != nullptr) {
      has = has && (present[column / kWarp] >> (column % kWarp) & 1u);
      const unsigned word = __ballot_sync(kAllLanes, has);
      if (team.lane == 0) table.words[base / kWarp] = word;
    }
    if (has) table.values[k] = u[column];
  }
}

__device__ __forceinline__ void copy_pieces(unsigned char* to, const void* from, size_t bytes) {
  const uint4* const pieces = static_cast<const uint4*>(from);
#pragma unroll 4
  for (unsigned k = threadIdx.x; k < bytes / sizeof(uint4); k += blockDim.x) {
    reinterpret_cast<uint4*>(to)[k] = pieces[k];
  }
}

// Every block, before it looks at a column: what `gather` reads of hot columns comes to shared
// memory, and where all are listed it reads the table in place of the vector.
template <class Semiring, class U, class A, class Held>
__device__ __forceinline__ void copy_hot(Gather<Semiring, U, A, Held>& gather) {
  const Compressed<A>& matrix = gather.matrix;
  const size_t count = static_cast<size_t>(matrix.num_hot);
  const HotTable<U> table(matrix);
  const size_t bytes = table_bytes(count, sizeof(U));
  copy_pieces(shared_table(), table.values, bytes);
  if (gather.present != nullptr) {
    copy_pieces(shared_table() + bytes, table.words, presence_bytes(count));
  }
  if (matrix.num_listed > matrix.num_hot) {
    gather.u = table.values;
    if (gather.present != nullptr) gather.present = table.words;
  }
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
template <class U>
struct StripeSource<true, U> {
  const unsigned* present;
  const U* u;
  unsigned values, words;  // of the table: addresses in shared memory

  template <class A>
  __device__ __forceinline__ StripeSource(const unsigned* p, const U* v,
                                          const Compressed<A>& matrix)
      : present(p),
        u(v),
        values(static_cast<unsigned>(__cvta_generic_to_shared(shared_table()))),
        words(values + static_cast<unsigned>(table_bytes(matrix.num_hot, sizeof(U)))) {}

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
