// What shares of a matrix hand over to each other while they are summed: parts of rows.
//
// Rows are finished 32 at a time, a word of presence, by the share in which the word ends. Others
// that end in the word hand over what they have of its rows. Whoever takes polls: a share hands over
// before it takes, and takes from shares before it alone.
#pragma once
#include "reduce/reduce.cuh"

struct HandedDescriptor {
  void* words;
};

// What each share hands over of the word of rows that it ends in; 0 until it is there.
template <class T> struct Handed {
  static constexpr int kParts = (sizeof(T) + 3) / 4;
  // Shares that are looked at one after the other, without a search.
  static constexpr Index kFew = 4;
  // Shares whose parts are under way together.
  static constexpr int kBatch = 8 / kParts;
  // Shares of a row from which on all lanes add up what they have.
  static constexpr Index kMany = 32;
  unsigned long long* words;

  __device__ explicit Handed(const HandedDescriptor& d)
      : words(static_cast<unsigned long long*>(d.words)) {}

  SEMIRA_INLINE volatile unsigned long long* place(Index share, int lane) const {
    return words + (static_cast<long long>(share) * kWarp + lane) * kParts;
  }

  template <class Add>
  SEMIRA_INLINE void put(Index share, int lane, const Partial<Add>& sum) const {
    unsigned parts[kParts] = {};
    memcpy(parts, &sum.value, sizeof(T));
    volatile unsigned long long* const to = place(share, lane);
    SEMIRA_UNROLLED(k, kParts) {
      to[k] = static_cast<unsigned long long>(parts[k]) << 32 | (sum.has ? 3u : 1u);
    }
  }

  // Adds what the shares first <= s < end have for a row, that of `lane`, in order.
  template <class Add>
  SEMIRA_INLINE void add(Index first, Index end, int lane, Partial<Add>& sum) const {
    for (Index base = first; base < end; base += kBatch) {
      unsigned long long seen[kBatch][kParts];
      SEMIRA_UNROLLED(b, kBatch) {
        SEMIRA_UNROLLED(k, kParts) seen[b][k] = base + b < end ? place(base + b, lane)[k] : 1;
      }
      SEMIRA_UNROLLED(b, kBatch) {
        if (base + b >= end) break;
        unsigned parts[kParts];
        SEMIRA_UNROLLED(k, kParts) {
          while (seen[b][k] == 0) {
            __nanosleep(20);
            seen[b][k] = place(base + b, lane)[k];
          }
          parts[k] = static_cast<unsigned>(seen[b][k] >> 32);
          place(base + b, lane)[k] = 0;
        }
        T value;
        memcpy(&value, parts, sizeof(T));
        if (seen[b][0] & 2) sum.add(value);
      }
    }
  }

  // What the shares first <= s < end have for each lane's row, and then `sum`. Those of share s
  // lie in rows from[s] to from[s + 1]; `near` of lane k is from[end + 1 - k].
  template <class Add>
  SEMIRA_INLINE void take(Index first, Index end, const Index* from, Index near, Index row,
      int lane, Partial<Add>& sum) const {
    Partial<Add> all{T{}, false};
    // Of those, the shares that have a part of this lane's row.
    const bool is_near = end - first < kWarp - 1;
    auto begin_of = [&](Index s) {
      return is_near ? __shfl_sync(kAllLanes, near, end + 1 - s) : from[s];
    };
    Index low = first, high = first;
    if (end - first <= kFew) {
      for (Index s = first; s < end; ++s) {
        low += begin_of(s + 1) < row ? 1 : 0;
        high += begin_of(s) <= row ? 1 : 0;
      }
    } else {
      low = first_share(first, end, [&](Index s) { return begin_of(s + 1) >= row; });
      high = first_share(first, end, [&](Index s) { return begin_of(s) > row; });
    }
    // Rows of many shares are added up by all lanes.
    for (const int source : SetBits{__ballot_sync(kAllLanes, high - low > kMany)}) {
      const Index begin = __shfl_sync(kAllLanes, low, source);
      const Index stop = __shfl_sync(kAllLanes, high, source);
      const Index each = (stop - begin + kWarp - 1) / kWarp, mine = begin + lane * each;
      Partial<Add> part{T{}, false};
      add(mine, mine + each < stop ? mine + each : stop, source, part);
      __syncwarp();
      reduce_warp<Add>(part.value, part.has);
      part = part.of_lane(0);
      if (lane == source) {
        all = part;
        low = high;
      }
    }
    add(low, high, lane, all);
    if (sum.has) all.add(sum.value);
    sum = all;
    __syncwarp();
  }

  // The first of the shares low <= s < high that fits, of each lane; those that fit stand behind
  // the others. All lanes take as many steps.
  template <class Fits> static SEMIRA_INLINE Index first_share(Index low, Index high, Fits fits) {
    while (__any_sync(kAllLanes, low < high)) {
      // No branch: a warp that goes apart here runs all that follows more than once.
      const bool goes_on = low < high;
      const Index middle = low + (high - low) / 2;
      const bool does = fits(goes_on ? middle : high - 1);
      high = goes_on && does ? middle : high;
      low = goes_on && !does ? middle + 1 : low;
    }
    return low;
  }
};
