// What becomes of dot products: they are kept, or summed up at once. Of s accum= sum of all of them
// each block adds its own up; the last block of the last launch adds the blocks' sums up and writes the
// scalar.
#pragma once
#include "common/clock.cuh"
#include "matrix/entries.cuh"
#include "reduce/reduce.cuh"
#include "scalar/scalar.cuh"

// Keeps every dot product for the merge that writes the result.
template <class T> struct KeepDots {
  static constexpr bool kTakesShares = false;
  T* found;
  Offset* flags;
  SEMIRA_INLINE void operator()(Offset e, const T& value, bool has) const {
    flags[e] = has ? 1 : 0;
    if (has) found[e] = value;
  }
};

// What a row of the trace tells of a sum, in the host's layout.
struct SumTally {
  Count entries;                 // that the product would have had
  long long begun_ns, ended_ns;  // by the GPU's clock
};

// All threads call it at the start of each launch; later it would take registers away.
SEMIRA_INLINE void start_clock(SumTally* tally, long long first) {
  if (first == 0 && block_number() == 0 && threadIdx.x == 0) tally->begun_ns = clock_ns();
}

// Where the sums of blocks are kept. A statement is several launches, with parts one after the
// other.
struct PartialSums {
  void* values;
  Count* counts;     // how many dot products each part has summed up
  long long first;   // part of this launch's first block
  long long parts;   // parts of all launches; 0 unless this is the last one
  unsigned* ticket;  // blocks of the last launch that are done; zero before and after
  SumTally* tally;
};

// Sum over the block; every thread gets it.
SEMIRA_INLINE Count count_block(Count mine) {
  __shared__ Count found;
  __syncthreads();
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  for (int step = kWarp / 2; step > 0; step /= 2) mine += __shfl_xor_sync(kAllLanes, mine, step);
  if (threadIdx.x % kWarp == 0 && mine != 0) atomicAdd(&found, mine);
  __syncthreads();
  return found;
}

// One thread's share. `T` is the type that the product's entries would have been stored in.
template <class Add, class T> struct DotSum {
  using V = typename Add::T;
  V value{};
  bool has = false;
  Count count = 0;

  // A share of an entry; one lane of those that have shares counts the entry, if it is there.
  template <class Found>
  SEMIRA_INLINE void take_share(const Found& found, bool is_there, bool counts) {
    if (is_there) merge<Add>(value, has, cast<V>(cast<T>(found)), true);
    if (counts) ++count;
  }

  // All threads of the block call it, after their last `take_share`. `write(total)` is called by one
  // thread of the launch that is the last one.
  template <class Write> SEMIRA_INLINE void finish(const PartialSums& to, Write write) {
    __shared__ bool is_last;
    const Count found = count_block(count);
    reduce_block<Add>(value, has);
    if (threadIdx.x == 0) {
      const long long part = to.first + blockIdx.x;
      if (has) static_cast<V*>(to.values)[part] = value;
      to.counts[part] = found;
      // The part is there before the block says that it is done.
      __threadfence();
      is_last = to.parts != 0 && atomicAdd(to.ticket, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;
    __threadfence();
    V total{};
    bool any = false;
    Count all = 0;
    for (long long part = threadIdx.x; part < to.parts; part += blockDim.x) {
      const Count here = to.counts[part];
      if (here == 0) continue;
      merge<Add>(total, any, static_cast<const V*>(to.values)[part], true);
      all += here;
    }
    all = count_block(all);
    reduce_block<Add>(total, any);
    if (threadIdx.x != 0) return;
    *to.ticket = 0;
    write(Scalar<V>(total, any));
    to.tally->entries = all;
    to.tally->ended_ns = clock_ns();
  }
};

// Hands dot products to a DotSum. With kShares what lanes have of one entry need not be added up before:
// the sum goes by the products' own monoid, and nothing is cast in between.
template <class Sum, bool kShares> struct SumDots {
  static constexpr bool kTakesShares = kShares;
  Sum& sum;
  template <class Found> SEMIRA_INLINE void operator()(Offset, const Found& found, bool has) const {
    sum.take_share(found, has, has);
  }
  template <class Found>
  SEMIRA_INLINE void take_share(const Found& found, bool has, bool counts) const {
    sum.take_share(found, has, counts);
  }
};
