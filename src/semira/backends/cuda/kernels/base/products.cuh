// Sizes and bins of the rows of a product (mxm/).
#pragma once
#include "mxm/counts.cuh"

#define SEMIRA_PATTERNS \
  const Offset *a_indptr, const Index *a_indices, const Offset *b_indptr, const Index *b_indices
#define SEMIRA_BINS                                                                    \
  long long n, long long per_warp, long long most, long long limit0, long long limit1, \
      long long limit2, long long limit3, long long limit4, const Offset *few_indptr,  \
      Count *ledger, Index *lists
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
extern "C" __global__ void semira_count_looked_up(const Offset* a_indptr, const Offset* mask_indptr,
                                                  long long nrows, long long* sizes) {
  count_looked_up(a_indptr, mask_indptr, nrows, sizes);
}
