// Entries of the rows of a product, counted bin by bin (mxm/counts.cuh).
#pragma once
#include "mxm/counts.cuh"

#define SEMIRA_PATTERNS \
  const Offset *a_indptr, const Index *a_indices, const Offset *b_indptr, const Index *b_indices
#define SEMIRA_MASK const Offset *mask_indptr, const Index *mask_indices, long long complement

#define SEMIRA_COUNT_BY_TABLE(name, lanes)                                                   \
  extern "C" __global__ void __launch_bounds__(512)                                          \
      name(SEMIRA_PATTERNS, SEMIRA_MASK, const Index* lists, Count* ledger, long long bin,   \
          const long long* work, long long ncols, long long most, long long* sizes) {        \
    count_by_table<lanes>({a_indptr, a_indices}, {b_indptr, b_indices},                      \
        {{mask_indptr, mask_indices}, complement != 0}, RowList(lists, {ledger}, bin), work, \
        ncols, most, sizes);                                                                 \
  }
extern "C" __global__ void __launch_bounds__(256) semira_count_by_lane(SEMIRA_PATTERNS, SEMIRA_MASK,
    const Index* lists, Count* ledger, long long bin, const long long*, long long* sizes) {
  count_by_lane({a_indptr, a_indices}, {b_indptr, b_indices},
      {{mask_indptr, mask_indices}, complement != 0}, RowList(lists, {ledger}, bin), sizes);
}
SEMIRA_COUNT_BY_TABLE(semira_count_by_table8, 8)
SEMIRA_COUNT_BY_TABLE(semira_count_by_table32, 32)
SEMIRA_COUNT_BY_TABLE(semira_count_by_table0, 0)

extern "C" __global__ void __launch_bounds__(512) semira_count_by_window(SEMIRA_PATTERNS,
    SEMIRA_MASK, const Index* lists, Count* ledger, long long bin, const long long* work,
    long long columns, Offset* cursors, long long room, long long* sizes) {
  count_by_window({a_indptr, a_indices}, {b_indptr, b_indices},
      {{mask_indptr, mask_indices}, complement != 0}, RowList(lists, {ledger}, bin), work,
      static_cast<unsigned>(columns), {cursors, room}, sizes);
}
