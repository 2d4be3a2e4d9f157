// Entries of rows that were made wherever there was room (mxm/gather.cuh).
#pragma once
#include "mxm/gather.cuh"

#define SEMIRA_GATHER                                                                           \
  long long *sizes, const long long *places, long long nrows, const Index *from_indices,        \
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
