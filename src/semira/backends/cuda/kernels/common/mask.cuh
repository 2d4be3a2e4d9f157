// Where results may be written, and what becomes of what was there.
#pragma once
#include "common/vector.cuh"

// No accumulator: the result replaces what was there, absence included.
struct NoAccum {
  static constexpr bool kAccumulates = false;
};

struct NoMask {
  SEMIRA_INLINE bool allows(Index) const { return true; }
};

template <class M, bool kStructural, bool kComplement> struct Mask {
  const unsigned* words;
  const M* values;

  __device__ explicit Mask(const Vector<M>& v) : Mask(v.here) {}
  __device__ explicit Mask(const Plane<M>& p) : words(p.words), values(p.values) {}

  SEMIRA_INLINE bool allows(Index i) const {
    const unsigned place = static_cast<unsigned>(i);
    bool set = in_global(words)[place / kWarp] >> (place % kWarp) & 1u;
    if constexpr (!kStructural) set = set && values[i] != static_cast<M>(0);
    return set != kComplement;
  }
};
