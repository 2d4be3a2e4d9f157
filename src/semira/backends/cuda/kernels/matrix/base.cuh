// Kernels on matrices that know nothing of values: one translation unit for all programs.
#pragma once
#include "matrix/blocks.cuh"
#include "matrix/pieces.cuh"
#include "matrix/scan.cuh"
#include "mxm/counts.cuh"
#include "mxm/gather.cuh"

// Running sums of counts: offsets of 32 bits, and what may need 64 whatever the offsets have.
extern "C" __global__ void __launch_bounds__(kScanThreads)
    semira_scan32_tiles(const int* items, long long n, int* sums) {
  scan_tiles(items, n, sums);
}
extern "C" __global__ void __launch_bounds__(kScanThreads)
    semira_scan32_sums(int* sums, long long tiles) {
  scan_sums(sums, tiles);
}
extern "C" __global__ void __launch_bounds__(kScanThreads)
    semira_scan32_items(int* items, long long n, const int* sums) {
  scan_items(items, n, sums);
}
extern "C" __global__ void __launch_bounds__(kScanThreads)
    semira_scan32_few(int* items, long long n, const int* sums) {
  scan_few(items, n, sums);
}
extern "C" __global__ void __launch_bounds__(kScanThreads)
    semira_scan64_few(long long* items, long long n, const long long* sums) {
  scan_few(items, n, sums);
}
extern "C" __global__ void __launch_bounds__(kScanThreads)
    semira_scan64_tiles(const long long* items, long long n, long long* sums) {
  scan_tiles(items, n, sums);
}
extern "C" __global__ void __launch_bounds__(kScanThreads)
    semira_scan64_sums(long long* sums, long long tiles) {
  scan_sums(sums, tiles);
}
extern "C" __global__ void __launch_bounds__(kScanThreads)
    semira_scan64_items(long long* items, long long n, const long long* sums) {
  scan_items(items, n, sums);
}

// The row of every entry.
extern "C" __global__ void semira_entry_rows(const Offset* indptr, long long nrows,
                                             long long nvals, Index* rows) {
  const Span span;
  for (long long e = span.first; e < nvals; e += span.step) {
    rows[e] = static_cast<Index>(owner_in(indptr, nrows, static_cast<Offset>(e)));
  }
}

// Numbers of 4 or 8 bytes, as they come: positions of a caller, keys in the fewest bytes.
__device__ __forceinline__ unsigned long long load_word(const void* list, long long bytes,
                                                        long long at) {
  return bytes == 4 ? static_cast<const unsigned*>(list)[at]
                    : static_cast<const unsigned long long*>(list)[at];
}

// Sort keys ``major << bits | minor``; a null `minor` makes them of `major` alone.
extern "C" __global__ void semira_pack_keys(const void* major, long long major_bytes,
                                            const void* minor, long long minor_bytes, long long n,
                                            long long bits, void* keys, long long key_bytes) {
  const Span span;
  for (long long e = span.first; e < n; e += span.step) {
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
extern "C" __global__ void semira_key_heads(const void* keys, long long key_bytes, long long n,
                                            Offset* flags) {
  const Span span;
  for (long long e = span.first; e < n; e += span.step) {
    flags[e] = e == 0 || load_word(keys, key_bytes, e) != load_word(keys, key_bytes, e - 1);
  }
}

// The parts of packed keys: of all of them, or (running sums of heads) of one of each.
extern "C" __global__ void semira_unpack_keys(const void* keys, long long key_bytes, long long n,
                                              long long bits, const Offset* places, Index* major,
                                              Index* minor) {
  const Span span;
  for (long long e = span.first; e < n; e += span.step) {
    const long long to = places != nullptr ? places[e] : e;
    if (places != nullptr && places[e + 1] == to) continue;
    const unsigned long long key = load_word(keys, key_bytes, e);
    major[to] = static_cast<Index>(key >> bits);
    minor[to] = static_cast<Index>(key & ((1ull << bits) - 1));
  }
}

// Columns (and rows) of sorted keys ``row * ncols + column``.
extern "C" __global__ void semira_split_keys(const unsigned long long* keys, long long nvals,
                                             long long ncols, Index* rows, Index* indices) {
  const Span span;
  for (long long e = span.first; e < nvals; e += span.step) {
    rows[e] = static_cast<Index>(keys[e] / static_cast<unsigned long long>(ncols));
    indices[e] = static_cast<Index>(keys[e] % static_cast<unsigned long long>(ncols));
  }
}

// Offsets of rows whose entries are sorted.
extern "C" __global__ void semira_row_offsets(const Index* rows, long long nvals, long long nrows,
                                              Offset* indptr) {
  const Span span;
  for (long long i = span.first; i <= nrows; i += span.step) {
    indptr[i] = static_cast<Offset>(
        lower_bound<Index, long long>(rows, 0, nvals, static_cast<Index>(i)));
  }
}

// out[e] = in[order[e]], for values of `size` words; a thread moves one word.
template <class Word>
__device__ void reorder(const void* in, const long long* order, long long n, long long size,
                        void* out) {
  const Span span;
  for (long long w = span.first; w < n * size; w += span.step) {
    const long long e = size == 1 ? w : w / size;
    static_cast<Word*>(out)[w] = static_cast<const Word*>(in)[order[e] * size + (w - e * size)];
  }
}
extern "C" __global__ void semira_reorder1(const void* in, const long long* order, long long n,
                                           long long size, void* out) {
  reorder<unsigned char>(in, order, n, size, out);
}
extern "C" __global__ void semira_reorder2(const void* in, const long long* order, long long n,
                                           long long size, void* out) {
  reorder<unsigned short>(in, order, n, size, out);
}
extern "C" __global__ void semira_reorder4(const void* in, const long long* order, long long n,
                                           long long size, void* out) {
  reorder<unsigned>(in, order, n, size, out);
}
extern "C" __global__ void semira_reorder8(const void* in, const long long* order, long long n,
                                           long long size, void* out) {
  reorder<unsigned long long>(in, order, n, size, out);
}

// Where a presence word has a bit: 1, else 0.
extern "C" __global__ void semira_presence(const unsigned* words, long long n, Offset* flags) {
  const Span span;
  for (long long i = span.first; i < n; i += span.step) {
    flags[i] = static_cast<Offset>(words[i / kWarp] >> (i % kWarp) & 1u);
  }
}

// Sets the bits of listed positions.
extern "C" __global__ void semira_set_presence(const Index* list, long long n, unsigned* words) {
  const Span span;
  for (long long k = span.first; k < n; k += span.step) {
    const unsigned i = static_cast<unsigned>(list[k]);
    atomicOr(&words[i / kWarp], 1u << (i % kWarp));
  }
}

// Positions whose running count rises, in order, as 32-bit and 64-bit numbers where asked for.
extern "C" __global__ void semira_positions(const Offset* scan, long long n, Index* positions,
                                            long long* wide) {
  const Span span;
  for (long long i = span.first; i < n; i += span.step) {
    const Offset at = scan[i];
    if (scan[i + 1] == at) continue;
    if (positions != nullptr) positions[at] = static_cast<Index>(i);
    if (wide != nullptr) wide[at] = i;
  }
}

// list[k] + by.
extern "C" __global__ void semira_shift(const Index* list, long long n, long long by, Index* out) {
  const Span span;
  for (long long k = span.first; k < n; k += span.step) out[k] = static_cast<Index>(list[k] + by);
}

// How many of its entries each row keeps, if at most so many.
extern "C" __global__ void semira_first_counts(const Offset* indptr, long long nrows, long long most,
                                               Offset* counts) {
  const Span span;
  for (long long i = span.first; i < nrows; i += span.step) {
    const Offset length = indptr[i + 1] - indptr[i];
    counts[i] = length < most ? length : static_cast<Offset>(most);
  }
}

// Which entries these are, and their rows; `starts` are the running sums of the counts.
extern "C" __global__ void semira_first_places(const Offset* indptr, long long nrows,
                                               const Offset* starts, long long* places,
                                               Index* rows) {
  const Span span;
  for (long long i = span.first; i < nrows; i += span.step) {
    const Offset begin = starts[i], count = starts[i + 1] - begin;
    for (Offset k = 0; k < count; ++k) {
      places[begin + k] = indptr[i] + k;
      rows[begin + k] = static_cast<Index>(i);
    }
  }
}

// Keys of every pair of listed rows and columns; a null list names all positions.
extern "C" __global__ void semira_cross_keys(const Index* rows, const Index* columns,
                                             long long num_rows, long long num_columns,
                                             long long ncols, unsigned long long* keys) {
  const Span span;
  for (long long k = span.first; k < num_rows * num_columns; k += span.step) {
    const long long r = k / num_columns, s = k % num_columns;
    const long long i = rows != nullptr ? rows[r] : r, j = columns != nullptr ? columns[s] : s;
    keys[k] = static_cast<unsigned long long>(i * ncols + j);
  }
}

// items[places[k]].
extern "C" __global__ void semira_pick(const long long* items, const Offset* places, long long n,
                                       long long* out) {
  const Span span;
  for (long long k = span.first; k < n; k += span.step) out[k] = items[places[k]];
}

// 32-bit offsets as 64-bit ones.
extern "C" __global__ void semira_widen(const int* items, long long n, long long* out) {
  const Span span;
  for (long long k = span.first; k < n; k += span.step) out[k] = items[k];
}

// Row in which each of `num` equal shares of the merge path of row ends, of kRowItems each, and entries begins;
// rows[num] is where the last one ends, rows[num + 1] becomes 0.
extern "C" __global__ void semira_slices(const Offset* indptr, long long nrows, long long num,
                                         long long items, Index* rows) {
  const Span span;
  const long long nvals = indptr[nrows];
  const long long path = nvals + kRowItems * nrows;
  for (long long s = span.first; s <= num; s += span.step) {
    const long long at = s * items < path ? s * items : path;
    const long long most = (at + kRowItems - 1) / kRowItems;
    long long low = 0, high = most < nrows ? most : nrows;
    while (low < high) {
      const long long middle = low + (high - low) / 2;
      // The end of a row comes on the path once all of its entries have come.
      if (static_cast<long long>(indptr[middle + 1]) + kRowItems * middle < at) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    rows[s] = static_cast<Index>(low);
    if (s == num) rows[num + 1] = 0;
  }
}

// Entries of the longest line; `longest` holds 0 before.
extern "C" __global__ void semira_longest(const Offset* indptr, long long nrows, Index* longest) {
  const Span span;
  Index most = 0;
  for (long long i = span.first; i < nrows; i += span.step) {
    const Index length = static_cast<Index>(indptr[i + 1] - indptr[i]);
    most = most > length ? most : length;
  }
  most = __reduce_max_sync(kAllLanes, most);
  if (threadIdx.x % kWarp == 0) atomicMax(longest, most);
}

// Entries of every line, and how often each index occurs; `lengths` of the latter are 0 before.
extern "C" __global__ void semira_line_lengths(const Offset* indptr, long long n, Index* lengths) {
  const Span span;
  for (long long i = span.first; i < n; i += span.step) {
    lengths[i] = static_cast<Index>(indptr[i + 1] - indptr[i]);
  }
}
extern "C" __global__ void semira_count_indices(const Index* indices, long long nvals,
                                                Index* lengths) {
  const Span span;
  for (long long e = span.first; e < nvals; e += span.step) atomicAdd(&lengths[indices[e]], 1);
}

// 64-bit running sums as offsets.
extern "C" __global__ void semira_offsets(const long long* items, long long n, Offset* out) {
  const Span span;
  for (long long k = span.first; k < n; k += span.step) out[k] = static_cast<Offset>(items[k]);
}

// 1 for every line that has entries, else 0.
extern "C" __global__ void semira_nonempty(const Offset* indptr, long long n, int* flags) {
  const Span span;
  for (long long i = span.first; i < n; i += span.step) flags[i] = indptr[i + 1] != indptr[i];
}

// The same by the lines' lengths.
extern "C" __global__ void semira_nonzero(const int* lengths, long long n, int* flags) {
  const Span span;
  for (long long i = span.first; i < n; i += span.step) flags[i] = lengths[i] != 0;
}

// Offsets of rows of `by` entries each; with `scan` only the rows it counts have any.
extern "C" __global__ void semira_even_offsets(const int* scan, long long n, long long by,
                                               Offset* out) {
  const Span span;
  for (long long i = span.first; i <= n; i += span.step) {
    out[i] = static_cast<Offset>((scan != nullptr ? scan[i] : i) * by);
  }
}

// The column of every entry where rows are empty or have all columns.
extern "C" __global__ void semira_whole_columns(long long nvals, long long ncols, Index* out) {
  const Span span;
  for (long long at = span.first; at < nvals; at += span.step) {
    out[at] = static_cast<Index>(at % ncols);
  }
}

// Sizes and bins of the rows of a product (mxm/).
#define SEMIRA_PATTERNS                                                                \
  const Offset *a_indptr, const Index *a_indices, const Offset *b_indptr, const Index *b_indices
#define SEMIRA_MASK \
  const Offset *mask_indptr, const Index *mask_indices, long long complement
#define SEMIRA_BINS                                                                       \
  long long n, long long per_warp, long long most, long long limit0, long long limit1, long long limit2,      \
      long long limit3, long long limit4, const Offset *few_indptr, Count *ledger,        \
      Index *lists
#define SEMIRA_LIMITS {limit0, limit1, limit2, limit3, limit4}

// Partial products of every row, and the rows in bins by them; rows have no entries yet.
extern "C" __global__ void __launch_bounds__(kScanThreads)
    semira_count_products(SEMIRA_BINS, SEMIRA_PATTERNS, long long* work, long long* sizes,
                          long long* places) {
  const auto products = [&](long long i) {
    const long long found =
        products_of({a_indptr, a_indices}, {b_indptr, b_indices}, n, i, per_warp);
    if (i < n) {
      work[i] = found;
      sizes[i] = 0;
    }
    return found;
  };
  bin_rows(products, n, per_warp, most, SEMIRA_LIMITS, {few_indptr, nullptr}, {ledger}, lists,
           places);
}
extern "C" __global__ void __launch_bounds__(kScanThreads)
    semira_bin_rows(SEMIRA_BINS, const long long* sizes, const long long* products) {
  const auto size = [&](long long i) { return i < n ? sizes[i] : 0; };
  bin_rows(size, n, per_warp, most, SEMIRA_LIMITS, {few_indptr, products}, {ledger}, lists,
           nullptr);
}
extern "C" __global__ void semira_count_masked_work(const Offset* a_indptr, const Index* a_indices,
                                                    const Offset* mask_indptr,
                                                    const Index* mask_indices, long long nrows,
                                                    const Index* columns, const Index* lines,
                                                    Count* totals) {
  count_masked_work({a_indptr, a_indices}, {mask_indptr, mask_indices}, nrows, columns, lines,
                    totals);
}
extern "C" __global__ void semira_count_looked_up(const Offset* a_indptr,
                                                  const Offset* mask_indptr, long long nrows,
                                                  long long* sizes) {
  count_looked_up(a_indptr, mask_indptr, nrows, sizes);
}

#define SEMIRA_COUNT_BY_TABLE(lanes)                                                          \
  extern "C" __global__ void __launch_bounds__(512) semira_count_by_table##lanes(             \
      SEMIRA_PATTERNS, SEMIRA_MASK, const Index* lists, Count* ledger, long long bin,         \
      const long long* work, long long ncols, long long most, long long* sizes) {             \
    count_by_table<lanes>({a_indptr, a_indices}, {b_indptr, b_indices},                       \
                          {{mask_indptr, mask_indices}, complement != 0},                     \
                          RowList(lists, {ledger}, bin), work, ncols, most, sizes);           \
  }
extern "C" __global__ void __launch_bounds__(256)
    semira_count_by_lane(SEMIRA_PATTERNS, SEMIRA_MASK, const Index* lists, Count* ledger,
                         long long bin, const long long*, long long* sizes) {
  count_by_lane({a_indptr, a_indices}, {b_indptr, b_indices},
                {{mask_indptr, mask_indices}, complement != 0}, RowList(lists, {ledger}, bin),
                sizes);
}
SEMIRA_COUNT_BY_TABLE(8)
SEMIRA_COUNT_BY_TABLE(32)
SEMIRA_COUNT_BY_TABLE(0)

extern "C" __global__ void __launch_bounds__(512)
    semira_count_by_window(SEMIRA_PATTERNS, SEMIRA_MASK, const Index* lists, Count* ledger,
                           long long bin, const long long* work, long long columns,
                           Offset* cursors, long long room, long long* sizes) {
  count_by_window({a_indptr, a_indices}, {b_indptr, b_indices},
                  {{mask_indptr, mask_indices}, complement != 0}, RowList(lists, {ledger}, bin),
                  work, static_cast<unsigned>(columns), {cursors, room}, sizes);
}

// Entries of rows that were made wherever there was room (mxm/gather.cuh).
#define SEMIRA_GATHER                                                                     \
  long long *sizes, const long long *places, long long nrows, const Index *from_indices,  \
      const void *from_values, long long itemsize, Offset *indptr, Index *indices, Index *rows, \
      void *values
extern "C" __global__ void __launch_bounds__(kScanThreads) semira_gather(SEMIRA_GATHER) {
  gather_rows({places, from_indices, from_values, itemsize}, sizes, nrows,
              {indptr, indices, rows, values});
}
extern "C" __global__ void __launch_bounds__(kScanThreads) semira_gather_few(SEMIRA_GATHER) {
  gather_few_rows({places, from_indices, from_values, itemsize}, sizes, nrows,
                  {indptr, indices, rows, values});
}

// Blocks of vectors (matrix/blocks.cuh).
extern "C" __global__ void semira_count_block(const unsigned* present, long long columns,
                                              long long rows, const Offset* indptr, Count* edges,
                                              unsigned* driven) {
  count_block(present, columns, rows, indptr, edges, driven);
}
extern "C" __global__ void semira_count_open(const unsigned* mask, long long columns, long long rows,
                                             long long flip, const Offset* indptr, Count* open) {
  count_open(mask, columns, rows, flip != 0 ? ~0u : 0u, indptr, open);
}
extern "C" __global__ void semira_turn_block(const unsigned* present, long long columns,
                                             long long rows, unsigned* turned, Offset* counts) {
  turn_block(present, columns, rows, turned, counts);
}
extern "C" __global__ void semira_list_block(const unsigned* turned, const Offset* places,
                                             long long columns, long long rows, Offset* indptr,
                                             Index* indices, Index* entry_rows, long long* origin) {
  list_block(turned, places, columns, rows, indptr, indices, entry_rows, origin);
}
