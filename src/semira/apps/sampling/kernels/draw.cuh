// Draws: entries of given rows, chosen at random. See draw.py for what they mean.
#pragma once

// What the random numbers of a row are a function of, beside key and slot.
struct Source {
  long long number, stream;
};
template <class G>
__device__ __forceinline__ Source source_of(long long first, long long place, long long row,
                                            const G* batches, bool in_batches) {
  if (in_batches) return {row, batches[place] * 256ll};
  return {first + place, 0};
}

template <class R>
__device__ long long entry_under(long long begin, long long end, const R* running,
                                 unsigned long long mark) {
  const unsigned long long base = running[begin];
  long long low = begin, high = end - 1;
  while (low < high) {
    const long long middle = (low + high) / 2;
    if (static_cast<unsigned long long>(running[middle + 1]) - base > mark) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

template <class S, class G, class P, class I, class R, class T, class E>
__device__ void with_replacement(long long items, long long first, long long k, const S* rows, const G* batches, bool in_batches,
                                 const P* indptr, const I* indices, const R* running,
                                 bool weighted, bool itself, long long key, T* neighbours,
                                 E* entries) {
  using Word = unsigned long long;  // running totals wrap
  const Group<1> mine;
  // Most launches have fewer items than 2**32: to divide these is cheap.
  const bool narrow = items < (1ll << 32) && k < (1ll << 31);
  for (long long item = mine.first; item < items; item += mine.step) {
    const long long place =
        narrow ? static_cast<unsigned>(item) / static_cast<unsigned>(k) : item / k;
    const long long slot = item - place * k, row = rows[place];
    const Source from = source_of(first, place, row, batches, in_batches);
    long long chosen = -1;
    if (row >= 0) {
      const long long begin = indptr[row], end = indptr[row + 1];
      if (weighted) {
        const Word total = static_cast<Word>(running[end]) - running[begin];
        if (total > 0) {
          chosen = entry_under(begin, end, running, philox(from.stream, from.number, slot, key, total));
        }
      } else if (end > begin) {
        chosen = begin + static_cast<long long>(philox(from.stream, from.number, slot, key, end - begin));
      }
    }
    neighbours[item] = static_cast<T>(chosen >= 0 ? indices[chosen] : itself ? row : -1);
    if (!itself) entries[item] = static_cast<E>(chosen);
  }
}

// A warp for each row, a lane for each slot. A number that was drawn before gives way to the last
// entry of its slot, which nobody before could draw: lanes settle one after the other.
template <class S, class G, class P, class I, class T, class E>
__device__ void without_replacement(long long items, long long first, long long k, const S* rows, const G* batches, bool in_batches,
                                 const P* indptr, const I* indices, long long key,
                                    T* neighbours, E* entries) {
  const Group<32> mine;
  for (long long place = mine.first; place < items; place += mine.step) {
    const long long row = rows[place], base = place * k;
    const long long begin = row < 0 ? 0 : indptr[row], end = row < 0 ? 0 : indptr[row + 1];
    const long long degree = end - begin;
    const Source from = source_of(first, place, row, batches, in_batches);
    for (long long start = 0; start < k; start += 32) {
      const long long slot = start + mine.lane, last = degree - k + slot;
      long long chosen = -1;
      if (degree <= k) {
        if (slot < degree) chosen = begin + slot;
      } else {
        if (slot < k) {
          chosen = begin + static_cast<long long>(philox(from.stream, from.number, slot, key, last + 1));
        }
        __syncwarp();
        for (long long other = 0; other < start; ++other) {
          if (entries[base + other] == chosen) chosen = begin + last;
        }
        const int lanes = k - start < 32 ? static_cast<int>(k - start) : 32;
        for (int lane = 0; lane < lanes - 1; ++lane) {
          const long long settled = __shfl_sync(kAllLanes, chosen, lane);
          if (mine.lane > lane && settled == chosen) chosen = begin + last;
        }
      }
      if (slot < k) {
        entries[base + slot] = static_cast<E>(chosen);
        neighbours[base + slot] = chosen < 0 ? -1 : static_cast<T>(indices[chosen]);
      }
    }
  }
}

template <class S, class G, class P, class I, class R, class T, class E>
__device__ void weighted_without_replacement(long long items, long long first, long long k,
                                             const S* rows, const G* batches, bool in_batches,
                                 const P* indptr, const I* indices,
                                             const R* running, long long key, T* neighbours,
                                             E* entries) {
  using Word = unsigned long long;
  const Group<1> mine;
  for (long long place = mine.first; place < items; place += mine.step) {
    const long long row = rows[place], base = place * k;
    const long long begin = row < 0 ? 0 : indptr[row], end = row < 0 ? 0 : indptr[row + 1];
    const Source from = source_of(first, place, row, batches, in_batches);
    const Word origin = running[begin];
    Word left = static_cast<Word>(running[end]) - origin;
    long long drawn = 0;
    for (; drawn < k && left > 0; ++drawn) {
      Word mark = philox(from.stream, from.number, drawn, key, left);
      long long at = 0;
      for (; at < drawn; ++at) {
        const long long taken = entries[base + at];
        if (mark < static_cast<Word>(running[taken]) - origin) break;
        mark += static_cast<Word>(running[taken + 1]) - running[taken];
      }
      const long long chosen = entry_under(begin, end, running, mark);
      left -= static_cast<Word>(running[chosen + 1]) - running[chosen];
      for (long long move = drawn; move > at; --move) entries[base + move] = entries[base + move - 1];
      entries[base + at] = static_cast<E>(chosen);
    }
    for (long long slot = 0; slot < k; ++slot) {
      neighbours[base + slot] = slot < drawn ? static_cast<T>(indices[entries[base + slot]]) : -1;
      if (slot >= drawn) entries[base + slot] = -1;
    }
  }
}
