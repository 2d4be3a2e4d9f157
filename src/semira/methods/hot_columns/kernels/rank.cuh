// Which columns are the most frequent, and indices that name them by rank.
#pragma once
#include "matrix/entries.cuh"

// Of n lines, given in rising order: entries of the `most` longest, entries of the `cached` longest,
// and how many lines have any; `found` is 0 before.
extern "C" __global__ void semira_count_hot(const Index* lengths, const long long* order,
                                            long long n, long long most, long long cached,
                                            Count* found) {
  const Span span;
  Count mine[3] = {};
  for (long long i = span.first; i < n; i += span.step) {
    const long long k = n - 1 - i;
    const Count length = static_cast<Count>(lengths[order[i]]);
    mine[0] += k < most ? length : 0;
    mine[1] += k < cached ? length : 0;
    mine[2] += length != 0;
  }
  for (int j = 0; j < 3; ++j) {
    if (mine[j] != 0) atomicAdd(&found[j], mine[j]);
  }
}

// Neighbouring entries whose indices are closer than `within`; `found` is 0 before.
extern "C" __global__ void semira_count_near(const Index* indices, long long nvals, int within,
                                             Count* found) {
  const Span span;
  Count mine = 0;
  for (long long e = span.first; e + 1 < nvals; e += span.step) {
    mine += abs(indices[e + 1] - indices[e]) < within;
  }
  if (mine != 0) atomicAdd(found, mine);
}

// Of n lines, given in rising order, lists the longest, the longest first. A slot has ~k of the
// `most` longest, k of the others that are listed, and the line's own number elsewhere.
extern "C" __global__ void semira_hot_slots(const long long* order, long long n, long long most,
                                            long long listed, Index* lines, Index* slots) {
  const Span span;
  for (long long i = span.first; i < n; i += span.step) {
    const Index line = static_cast<Index>(order[i]);
    const Index k = static_cast<Index>(n - 1 - i);
    if (k < listed) lines[k] = line;
    slots[line] = k < most ? ~k : (k < listed ? k : line);
  }
}
extern "C" __global__ void semira_recode(const Index* indices, long long nvals, const Index* slots,
                                         Index* coded) {
  const Span span;
  for (long long e = span.first; e < nvals; e += span.step) coded[e] = slots[indices[e]];
}
