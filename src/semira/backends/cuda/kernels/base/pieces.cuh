// Rows of a matrix cut into pieces of `length` entries, for products with a full operand
// (mxm/pieces.cuh, runtime/lines.py).
#pragma once
#include "matrix/entries.cuh"

// The pieces of each line, the slots of a line with more than one, and whether that has one, or more
// than `few`. A line is a row, or where they are listed, row rows[line].
extern "C" __global__ void semira_count_pieces(const Offset* indptr, const Index* rows, long long n,
    long long length, long long few, int* pieces, int* slots, int* is_long, int* is_many) {
  for (const long long line : items_below(n)) {
    const long long i = rows != nullptr ? rows[line] : line;
    const long long cut = (indptr[i + 1] - indptr[i] + length - 1) / length;
    pieces[line] = static_cast<int>(cut > 1 ? cut : 1);
    slots[line] = static_cast<int>(cut > 1 ? cut : 0);
    is_long[line] = cut > 1;
    is_many[line] = cut > few;
  }
}

// The pieces, and the long lines, from running sums of what semira_count_pieces counted. A thread a
// piece, which looks for its line.
extern "C" __global__ void semira_cut_pieces(const Offset* indptr, const Index* rows, long long n,
    long long length, const int* pieces, const int* slots, const int* longs, const int* manys,
    long long* begins, int* owners, int* piece_rows, int* lines, int* starts, int* many) {
  const long long count = pieces[n];
  for (const long long p : items_below(count)) {
    const long long line = first_where(1ll, n, [&](long long at) { return pieces[at] > p; }) - 1;
    const long long k = p - pieces[line], i = rows != nullptr ? rows[line] : line;
    const bool is_long = slots[line + 1] > slots[line];
    begins[p] = indptr[i] + k * length;
    owners[p] = is_long ? ~static_cast<int>(slots[line] + k) : static_cast<int>(line);
    piece_rows[p] = static_cast<int>(i);
    if (p + 1 == count) begins[count] = indptr[i + 1];
    if (!is_long || k > 0) continue;
    lines[longs[line]] = static_cast<int>(line);
    starts[longs[line]] = slots[line];
    if (manys[line + 1] > manys[line]) many[manys[line]] = longs[line];
    if (longs[line + 1] == longs[n]) starts[longs[n]] = slots[n];
  }
}
