// C<M> = A (+).(*) B, A a block of vectors: every column of B gathers what the rows of A wait for.
//
// A word of presence serves 32 rows: a column of B is walked once for all of them, and left when none
// waits for more. Nothing is added up by two threads at a time, so sums have one order.
#pragma once
#include "mxm/full.cuh"

// Entries of a column that one lane walks before its warp helps; those from which a column waits for a
// block of its own.
constexpr int kOwnEntries = 8;
constexpr Offset kLongColumn = 2048;

// Threads of a block here, and the widest value of which it keeps one for each of them.
constexpr int kBlockThreads = 256, kWidestShared = 128;

// Sets the bits of a matrix' entries; `values`, if any, get theirs. Entries that are false are left out
// with kTruth.
template <bool kTruth, class A>
__device__ void pack_block(const Entries<A>& a, long long rows, unsigned* present, A* values) {
  const long long words = words_of(rows);
  for (const long long e : items_below(a.nvals)) {
    const Offset at = static_cast<Offset>(e);
    if constexpr (kTruth) {
      if (!cast<bool>(a.value(at))) continue;
    }
    const long long i = a.rows[at], j = a.indices[at];
    atomicOr(present + j * words + i / kWarp, 1u << i % kWarp);
    if (values != nullptr) values[j * rows + i] = a.value(at);
  }
}

// The rows that wait in a word: where the mask is open, and the row of A has entries.
struct Waiting {
  const unsigned* mask;  // null: every position is open
  const unsigned* driven;
  unsigned flip;  // every bit, where the mask is complemented
  long long words;

  SEMIRA_INLINE unsigned at(long long item) const {
    const unsigned open = mask != nullptr ? mask[item] ^ flip : ~0u;
    return open & driven[item % words];
  }
};

// What a launch adds up: entries found, entries of B looked at, words put off.
struct BlockTally {
  Count* totals;
  long long* put_off;
  Count found = 0, looked = 0;

  __device__ BlockTally(Count* sums, long long* list) : totals(sums), put_off(list) {}
  SEMIRA_INLINE void put(long long item) {
    put_off[atomicAdd(totals + 2, static_cast<Count>(1))] = item;
  }
  SEMIRA_INLINE void finish() {
    add_to(totals, found);
    add_to(totals + 1, looked);
  }
};

// The product of any two entries, where the multiplication reads neither; for every thread to call.
template <class Semiring, class A, class B> SEMIRA_INLINE void write_one_value(void* out) {
  if (block_number() != 0 || threadIdx.x != 0) return;
  *static_cast<SumOf<Semiring>*>(out) = multiply_values<Semiring>(A{}, B{}, 0, 0, 0);
}

// All that is asked for is which rows get something: 32 rows an operation.
template <bool kExit> struct Presence {
  const Index* __restrict__ indices;
  const unsigned* __restrict__ present;
  long long words;

  SEMIRA_INLINE unsigned bits(Offset at, long long word) const {
    return present[indices[at] * words + word];
  }
  SEMIRA_INLINE static bool is_done(unsigned got, unsigned wanted) {
    return kExit && got == wanted;
  }
};

template <bool kExit, class B>
__device__ void pull_presence(const Entries<B>& bt, const Waiting& waiting, const unsigned* present,
    long long items, unsigned* found, BlockTally tally) {
  const Span span;
  const long long lane = threadIdx.x % kWarp, words = waiting.words;
  const Presence<kExit> walk{bt.indices, present, words};
  for (long long base = span.first - lane; base < items; base += span.step) {
    const long long item = base + lane;
    unsigned wanted = item < items ? waiting.at(item) : 0;
    Offset at = 0, end = 0;
    if (wanted != 0) at = bt.indptr[item / words], end = bt.indptr[item / words + 1];
    const bool is_long = end - at > kLongColumn;
    if (is_long) tally.put(item), wanted = 0, at = end;
    const unsigned word = static_cast<unsigned>(item % words);
    const Offset own = end - at < kOwnEntries ? end : at + kOwnEntries;
    unsigned got = 0;
    for (; at < own && !walk.is_done(got, wanted); ++at, ++tally.looked) {
      got |= walk.bits(at, word) & wanted;
    }
    for (const int from :
        SetBits{__ballot_sync(kAllLanes, at < end && !walk.is_done(got, wanted))}) {
      const Offset first = __shfl_sync(kAllLanes, at, from),
                   last = __shfl_sync(kAllLanes, end, from);
      const unsigned goal = __shfl_sync(kAllLanes, wanted, from);
      const unsigned where = __shfl_sync(kAllLanes, word, from);
      unsigned sum = __shfl_sync(kAllLanes, got, from);
      Offset next = first;
      for (; next < last && !walk.is_done(sum, goal); next += kWarp) {
        const Offset mine = next + static_cast<Offset>(lane);
        const unsigned bits = mine < last ? walk.bits(mine, where) & goal : 0;
        sum |= __reduce_or_sync(kAllLanes, bits);
      }
      if (lane == from) {
        got = sum;
        tally.looked += static_cast<Count>((next < last ? next : last) - first);
      }
    }
    if (item < items && !is_long) found[item] = got;
    tally.found += __popc(got);
  }
  tally.finish();
}

// The words put off: a block each.
template <bool kExit, class B>
__device__ void pull_long_presence(const Entries<B>& bt, const Waiting& waiting,
    const unsigned* present, unsigned* found, BlockTally tally) {
  __shared__ unsigned sum;
  const long long words = waiting.words, count = static_cast<long long>(tally.totals[2]);
  const Presence<kExit> walk{bt.indices, present, words};
  for (long long q = block_number(); q < count; q += gridDim.x) {
    const long long item = tally.put_off[q];
    const unsigned wanted = waiting.at(item);
    const Offset begin = bt.indptr[item / words], end = bt.indptr[item / words + 1];
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    bool is_done = false;
    for (Offset base = begin; base < end && !is_done; base += blockDim.x) {
      const Offset mine = base + static_cast<Offset>(threadIdx.x);
      unsigned bits = mine < end ? walk.bits(mine, item % words) & wanted : 0;
      tally.looked += mine < end ? 1 : 0;
      bits = __reduce_or_sync(kAllLanes, bits);
      if (threadIdx.x % kWarp == 0 && bits != 0) atomicOr(&sum, bits);
      __syncthreads();
      is_done = walk.is_done(*const_cast<volatile unsigned*>(&sum), wanted);
      __syncthreads();
    }
    if (threadIdx.x == 0) {
      found[item] = sum;
      tally.found += __popc(sum);
    }
    __syncthreads();
  }
  tally.finish();
}

// Values: a lane for each row of a word.
template <bool kExit, class Semiring, class A, class B> struct Gather {
  using Add = typename Semiring::Add;
  using T = typename Add::T;
  const Entries<B>& bt;
  const unsigned* __restrict__ present;
  const A* __restrict__ values;
  long long value_stride;  // 0: all entries share one
  long long rows, words;

  // What this lane's row gets of entries [begin, end) of column j.
  SEMIRA_INLINE void collect(long long j, long long word, unsigned wanted, Offset begin, Offset end,
      T& value, bool& has, Count& looked) const {
    const unsigned lane = threadIdx.x % kWarp;
    const long long i = word * kWarp + lane;
    unsigned left = wanted;
    for (Offset base = begin; base < end && left != 0; base += kWarp) {
      const Offset mine = base + static_cast<Offset>(lane);
      Index k = 0;
      unsigned bits = 0;
      if (mine < end) {
        k = bt.indices[mine];
        bits = present[k * words + word] & left;
        ++looked;
      }
      for (const int from : SetBits{__ballot_sync(kAllLanes, bits != 0)}) {
        const Index from_k = __shfl_sync(kAllLanes, k, from);
        const unsigned met = __shfl_sync(kAllLanes, bits, from);
        if ((met >> lane & 1) == 0 || (has && is_final<kExit, Add>(value))) continue;
        A x{};
        B y{};
        if constexpr (Semiring::Multiply::kReadsA) x = values[(from_k * rows + i) * value_stride];
        if constexpr (Semiring::Multiply::kReadsB) y = bt.value(base + static_cast<Offset>(from));
        merge<Add>(value, has,
            multiply_values<Semiring>(x, y, static_cast<Index>(i), from_k, static_cast<Index>(j)),
            true);
      }
      if constexpr (kExit) {
        left &= ~__ballot_sync(kAllLanes, has && is_final<kExit, Add>(value));
      }
    }
  }
};

template <bool kExit, class Semiring, class A, class B>
__device__ void pull_values(const Gather<kExit, Semiring, A, B>& gather, const Waiting& waiting,
    long long items, unsigned* found, SumOf<Semiring>* out, BlockTally tally) {
  using T = SumOf<Semiring>;
  const Span span;
  const long long lane = threadIdx.x % kWarp, words = waiting.words;
  for (long long base = span.first - lane; base < items; base += span.step) {
    const long long item = base + lane;
    unsigned wanted = item < items ? waiting.at(item) : 0;
    Offset begin = 0, end = 0;
    if (wanted != 0)
      begin = gather.bt.indptr[item / words], end = gather.bt.indptr[item / words + 1];
    const bool is_long = sizeof(T) <= kWidestShared && end - begin > kLongColumn;
    if (is_long) tally.put(item), end = begin;
    unsigned got = 0;
    for (const int from : SetBits{__ballot_sync(kAllLanes, begin < end)}) {
      const long long j = (base + from) / words, word = (base + from) % words;
      const unsigned goal = __shfl_sync(kAllLanes, wanted, from);
      const Offset first = __shfl_sync(kAllLanes, begin, from);
      const Offset last = __shfl_sync(kAllLanes, end, from);
      T value{};
      bool has = false;
      gather.collect(j, word, goal, first, last, value, has, tally.looked);
      const unsigned bits = __ballot_sync(kAllLanes, has);
      if (lane == from) got = bits;
      if (has) out[j * gather.rows + word * kWarp + lane] = value;
    }
    if (item < items && !is_long) found[item] = got;
    tally.found += __popc(got);
  }
  tally.finish();
}

// The words put off: a block each, its warps take equal shares one after the other.
template <bool kExit, class Semiring, class A, class B>
__device__ void pull_long_values(const Gather<kExit, Semiring, A, B>& gather,
    const Waiting& waiting, unsigned* found, SumOf<Semiring>* out, BlockTally tally) {
  using Add = typename Semiring::Add;
  using T = typename Add::T;
  if constexpr (sizeof(T) <= kWidestShared) {
    __shared__ __align__(16) unsigned char memory[kBlockThreads * sizeof(T)];
    __shared__ bool present[kBlockThreads];
    T* const shares = reinterpret_cast<T*>(memory);
    const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
    const unsigned warps = blockDim.x / kWarp;
    const long long words = waiting.words, count = static_cast<long long>(tally.totals[2]);
    for (long long q = block_number(); q < count; q += gridDim.x) {
      const long long item = tally.put_off[q], j = item / words, word = item % words;
      const Offset begin = gather.bt.indptr[j], end = gather.bt.indptr[j + 1];
      const Offset share = (end - begin + warps - 1) / warps;
      const Offset first = begin + warp * share < end ? begin + warp * share : end;
      const Offset last = end - first < share ? end : first + share;
      T value{};
      bool has = false;
      gather.collect(j, word, waiting.at(item), first, last, value, has, tally.looked);
      shares[threadIdx.x] = value;
      present[threadIdx.x] = has;
      __syncthreads();
      if (warp == 0) {
        for (unsigned other = 1; other < warps; ++other) {
          if (has && is_final<kExit, Add>(value)) break;
          const unsigned at = other * kWarp + lane;
          merge<Add>(value, has, shares[at], present[at]);
        }
        const unsigned bits = __ballot_sync(kAllLanes, has);
        if (lane == 0) {
          found[item] = bits;
          tally.found += __popc(bits);
        }
        if (has) out[j * gather.rows + word * kWarp + lane] = value;
      }
      __syncthreads();
    }
    tally.finish();
  }
}
