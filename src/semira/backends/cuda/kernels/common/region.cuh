// Regions of an object: the positions that indices name along one axis.
#pragma once
#include "common/types.cuh"

struct RegionDescriptor {
  void* list;   // positions; null: start, start + step, ...
  void* ranks;  // number of each listed position inside the region; null: 0, 1, 2, ...
  long long start, step, count;
};

struct Region {
  const Index* list;
  const Index* ranks;
  long long start, step;
  unsigned count;

  __device__ explicit Region(const RegionDescriptor& d)
      : list(static_cast<const Index*>(d.list)), ranks(static_cast<const Index*>(d.ranks)),
        start(d.start), step(d.step), count(static_cast<unsigned>(d.count)) {}

  // The k-th position, and its number inside the region.
  SEMIRA_INLINE Index at(unsigned k) const {
    return list != nullptr ? list[k] : static_cast<Index>(start + step * static_cast<long long>(k));
  }
  SEMIRA_INLINE Index rank(unsigned k) const {
    return ranks != nullptr ? ranks[k] : static_cast<Index>(k);
  }
};

// Every position of an axis.
struct WholeAxis {
  SEMIRA_INLINE Index at(unsigned k) const { return static_cast<Index>(k); }
};
