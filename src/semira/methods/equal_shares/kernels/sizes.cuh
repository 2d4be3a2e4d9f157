// Kernels of products in equal shares that no value enters.
#pragma once
#include "semira.methods.equal_shares.kernels:shares.cuh"

#define SEMIRA_PATTERNS                                                                \
  const Offset *a_indptr, const Index *a_indices, const Offset *b_indptr, const Index *b_indices
#define SEMIRA_PRODUCTS \
  SEMIRA_PATTERNS, const Index *rows, const long long *before, long long entries, long long total
#define SEMIRA_ALL_PRODUCTS \
  { {a_indptr, a_indices}, {b_indptr, b_indices}, rows, before, entries, total }

extern "C" __global__ void t_entry_products(SEMIRA_PATTERNS, long long nrows, long long most,
                                            long long* counts) {
  count_entry_products({a_indptr, a_indices}, {b_indptr, b_indices}, nrows, most, counts);
}
extern "C" __global__ void t_flag_long_rows(SEMIRA_PRODUCTS, long long nrows, int* flags) {
  flag_long_rows(SEMIRA_ALL_PRODUCTS, nrows, flags);
}
#define SEMIRA_LONG_ROWS                                                                   \
  const int *numbers, const Index *listed, long long first, long long count, unsigned *bits, \
      long long words
#define SEMIRA_THE_LONG_ROWS \
  { numbers, listed, first, count, bits, words }

extern "C" __global__ void __launch_bounds__(256)
    t_count_by_share(SEMIRA_PRODUCTS, const Offset* mask_indptr, const Index* mask_indices,
                     long long complement, SEMIRA_LONG_ROWS, long long shares, long long* sizes) {
  count_by_share(SEMIRA_ALL_PRODUCTS, {{mask_indptr, mask_indices}, complement != 0},
                 SEMIRA_THE_LONG_ROWS, shares, sizes);
}
extern "C" __global__ void __launch_bounds__(256)
    t_rank_long_rows(SEMIRA_LONG_ROWS, unsigned* ranks, long long* sizes) {
  rank_long_rows(SEMIRA_THE_LONG_ROWS, ranks, sizes);
}
