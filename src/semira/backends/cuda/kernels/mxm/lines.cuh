// Lines of matrices as lists of indices.
#pragma once
#include "mxm/table.cuh"

// A list of indices: entries [start, start + length) of a matrix.
struct Line {
  const Index* __restrict__ indices;
  Offset start, length;
  __device__ Line(const Pattern& p, Index i)
      : indices(p.indices), start(p.indptr[i]), length(p.indptr[i + 1] - start) {}
  __device__ Line(const Index* __restrict__ list, Offset from, Offset count)
      : indices(list), start(from), length(count) {}
  // Field by field, so that lines stay in registers.
  __device__ Line(bool is_first, const Line& first, const Line& second)
      : indices(is_first ? first.indices : second.indices),
        start(is_first ? first.start : second.start),
        length(is_first ? first.length : second.length) {}
};
