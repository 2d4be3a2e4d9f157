// Blocks of vectors.
#pragma once
#include "matrix/blocks.cuh"

extern "C" __global__ void semira_count_block(const unsigned* present, long long columns,
                                              long long rows, const Offset* indptr, Count* edges,
                                              unsigned* driven) {
  count_block(present, columns, rows, indptr, edges, driven);
}
extern "C" __global__ void semira_count_open(const unsigned* mask, long long columns,
                                             long long rows, long long flip, const Offset* indptr,
                                             Count* open) {
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
