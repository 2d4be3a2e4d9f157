// Blocks: matrices with few rows, by column. A word for each column and 32 rows says which of these
// rows have an entry there; values of a column's rows are neighbours. No values here.
#pragma once
#include "matrix/entries.cuh"

// Those bits of a word that stand for rows.
SEMIRA_INLINE unsigned rows_in_word(long long rows, unsigned word) {
  const long long left = rows - static_cast<long long>(word) * kWarp;
  return left < kWarp ? (1u << left) - 1 : ~0u;
}

// Entries of the lines that a block's entries name, and the rows that have any, as words; `edges` and
// `driven` are zero before. With null offsets nothing is counted but rows.
extern "C" __global__ void semira_count_block(const unsigned* present, long long columns,
    long long rows, const Offset* indptr, Count* edges, unsigned* driven) {
  const long long words = words_of(rows);
  Count mine = 0;
  for (const long long item : items_below(columns * words)) {
    const unsigned bits = present[item];
    if (bits == 0) continue;
    const long long j = item / words;
    if (indptr != nullptr) mine += static_cast<Count>(indptr[j + 1] - indptr[j]) * __popc(bits);
    // Read first: soon every bit is there.
    unsigned* const word = driven + item % words;
    if ((bits & ~*const_cast<volatile unsigned*>(word)) != 0) atomicOr(word, bits);
  }
  add_to(edges, mine);
}

// Positions of a block that a mask lets through, and entries of the lines at them.
extern "C" __global__ void semira_count_open(const unsigned* mask, long long columns,
    long long rows, long long complement, const Offset* indptr, Count* open) {
  const unsigned flip = complement != 0 ? ~0u : 0u;
  const long long words = words_of(rows);
  Count positions = 0, edges = 0;
  for (const long long item : items_below(columns * words)) {
    const unsigned bits =
        (mask[item] ^ flip) & rows_in_word(rows, static_cast<unsigned>(item % words));
    const long long j = item / words;
    positions += __popc(bits);
    edges += static_cast<Count>(indptr[j + 1] - indptr[j]) * __popc(bits);
  }
  add_to(open, positions);
  add_to(open + 1, edges);
}

// Words by row: bit b of turned[i * tiles + t] is column 32 t + b of row i. A warp turns 32 columns of
// 32 rows; `counts` are the bits of each word.
extern "C" __global__ void semira_turn_block(
    const unsigned* present, long long columns, long long rows, unsigned* turned, Offset* counts) {
  const unsigned lane = threadIdx.x % kWarp;
  const long long words = words_of(rows), tiles = words_of(columns);
  for (const long long item : items_below(tiles * words, kWarp)) {
    const long long tile = item / words, word = item % words, j = tile * kWarp + lane;
    const unsigned bits = j < columns ? present[j * words + word] : 0;
    unsigned mine = 0;
#pragma unroll
    for (unsigned row = 0; row < kWarp; ++row) {
      const unsigned turn = __ballot_sync(kAllLanes, bits >> row & 1);
      if (lane == row) mine = turn;
    }
    const long long i = word * kWarp + lane;
    if (i >= rows) continue;
    turned[i * tiles + tile] = mine;
    counts[i * tiles + tile] = static_cast<Offset>(__popc(mine));
  }
}

// The entries of turned words, row by row; `places` are the running sums of their counts. `origin`
// tells where the value of each lies in the block, unless it is null.
extern "C" __global__ void semira_list_block(const unsigned* turned, const Offset* places,
    long long columns, long long rows, Offset* indptr, Index* indices, Index* entry_rows,
    long long* origin) {
  const long long tiles = words_of(columns);
  for (const long long item : items_below(rows * tiles * kWarp)) {
    const long long at = item / kWarp, i = at / tiles, j = at % tiles * kWarp + item % kWarp;
    const unsigned bits = turned[at], bit = 1u << item % kWarp;
    if ((bits & bit) == 0) continue;
    const Offset to = places[at] + static_cast<Offset>(__popc(bits & (bit - 1)));
    indices[to] = static_cast<Index>(j);
    entry_rows[to] = static_cast<Index>(i);
    if (origin != nullptr) origin[to] = j * rows + i;
  }
  for (const long long i : items_below(rows + 1)) indptr[i] = places[i * tiles];
}
