// Arcs of a network. See arcs.py.
#pragma once

template <class P, class I, class B>
__device__ void opposites(long long items, const P* indptr, const I* indices, B* back) {
  const Group<1> mine;
  for (long long v = mine.first; v < items; v += mine.step) {
    for (P e = indptr[v]; e < indptr[v + 1]; ++e) {
      const I w = indices[e];
      P first = indptr[w], last = indptr[w + 1] - 1;
      while (first < last) {
        const P middle = first + (last - first) / 2;
        if (indices[middle] < v) {
          first = middle + 1;
        } else {
          last = middle;
        }
      }
      back[e] = static_cast<B>(first);
    }
  }
}

template <class P>
__device__ void imbalance(long long items, const P* indptr, const long long* capacity,
                          const long long* room, long long* excess) {
  const Group<1> mine;
  for (long long v = mine.first; v < items; v += mine.step) {
    long long total = 0;
    for (P e = indptr[v]; e < indptr[v + 1]; ++e) total += room[e] - capacity[e];
    excess[v] = total;
  }
}

template <class P, class I, class B, class R>
__device__ void check(long long items, const P* indptr, const I* indices, const B* back,
                      const long long* capacity, const long long* room, const R* reached,
                      long long source, long long sink, long long* found) {
  const Group<1> mine;
  long long wrong = 0, leaking = 0, crossing = 0, cut = 0;
  for (long long v = mine.first; v < items; v += mine.step) {
    long long total = 0;
    for (P e = indptr[v]; e < indptr[v + 1]; ++e) {
      total += room[e] - capacity[e];
      if (room[e] < 0 || room[e] + room[back[e]] != capacity[e] + capacity[back[e]]) ++wrong;
      if (reached[v] != 0 && reached[indices[e]] == 0) {
        cut += capacity[e];
        if (room[e] > 0) ++crossing;
      }
    }
    if (v == sink) {
      found[4] = total;
    } else if (v != source && total != 0) {
      ++leaking;
    }
  }
  if (wrong != 0) atomic_add(found, wrong);
  if (leaking != 0) atomic_add(found + 1, leaking);
  if (crossing != 0) atomic_add(found + 2, crossing);
  if (cut != 0) atomic_add(found + 3, cut);
}
