// w_j = w_j (+) w_i (*) A_ij until nothing changes, in one launch without a barrier of the grid, for
// (+) min or max. See docs/decisions/0040.
//
// A block owns a range of positions. `dirty` has a bit for each whose value has improved since its
// owner took it: anybody sets bits, the owner alone clears them. What lies beyond the window waits in
// a bitmap of the owner's. The first block owns nothing: it moves the window with the best open
// value, and ends all when nothing is open and nobody works.
//
// Order of memory: a value improves, fence, its bit is set; bits are taken, fence, values are read.
//
// The launch cannot hang: a block that has taken too many rounds gives up for all, and so does the
// host by a word that everybody looks at.
#pragma once
#include "common/helpers.cuh"
#include "vxm/product.cuh"

constexpr int kFixedList = 4096, kFixedBatch = 4;
// Words that a thread looks at together.
constexpr int kFixedLooks = 8;
// What a block that may have taken positions adds to the number of open ones.
constexpr long long kWorking = 1ll << 40;
// Looks without a finding before a block says that it is idle; ns between two looks of an idle one.
constexpr int kPatience = 4;
constexpr unsigned kIdleNap = 100;
// Why the launch ended; the host writes kGaveUp too. What is done is done, whoever gives up beside it.
constexpr unsigned long long kGoesOn = 0, kGaveUp = 1, kDone = 2;
// Rank of no value.
constexpr unsigned long long kNoRank = ~0ull;

// What all blocks share; CONTROL_WORDS in fixed_point.py is its size, all 0 at the start.
struct FixedControl {
  unsigned long long stop, threshold, pad0[14];
  long long open, pad1[15];    // dirty or waiting positions, blocks that work
  unsigned long long longest;  // rounds of the block that had most
  long long entries;           // of the result
};

// All members have 8 bytes; fixed_point.py spells the same.
struct FixedProblem {
  const Offset* indptr;
  const Index* indices;
  const void* weights;
  long long stride;
  void* values;     // of all positions; the identity where there is none
  unsigned* words;  // which are there
  unsigned* dirty;
  unsigned long long* nearest;  // rank of the best open value of each block
  FixedControl* control;
  long long size;
  long long range;  // words of a block's
  long long most;   // rounds of a block
  double width;     // of the window; 0: none
};

// A value as others have left it, past L1.
template <class V> SEMIRA_INLINE V as_left(const V* at) {
  return *static_cast<const volatile V*>(at);
}

// How values of a monoid are ordered: a lower rank is better.
template <class Add> struct Ranked {
  using T = typename Add::T;
  static constexpr bool kLeast = Add::kMethod == Method::kLeast;
  static_assert(kLeast || Add::kMethod == Method::kGreatest, "min or max");
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "the hardware's atomics");
  using Unsigned = Choose<sizeof(T) == 8, unsigned long long, unsigned>;
  static constexpr Unsigned kTop = static_cast<Unsigned>(1) << (8 * sizeof(T) - 1);

  static SEMIRA_INLINE bool is_none(T x) {
    // The identity of floats is a NaN.
    if constexpr (kIsFloat<T>) return x != x;
    return x == Add::identity();
  }
  // Whether x improves what is held; a NaN improves nothing.
  static SEMIRA_INLINE bool improves(T x, T held) {
    if constexpr (kIsFloat<T>) {
      if (x != x) return false;
      if (held != held) return true;
    }
    return kLeast ? x < held : x > held;
  }
  static SEMIRA_INLINE unsigned long long rank(T x) {
    Unsigned bits = *reinterpret_cast<Unsigned*>(&x);
    if constexpr (kIsFloat<T>) {
      // A NaN comes last, whatever its bits.
      if (x != x) return static_cast<unsigned long long>(static_cast<Unsigned>(~Unsigned{0}));
      bits = bits & kTop ? ~bits : bits | kTop;
    } else if constexpr (kIsSigned<T>) {
      bits ^= kTop;
    }
    if constexpr (!kLeast) bits = ~bits;
    return bits;
  }
  static SEMIRA_INLINE T value(unsigned long long rank) {
    Unsigned bits = static_cast<Unsigned>(rank);
    if constexpr (!kLeast) bits = ~bits;
    if constexpr (kIsFloat<T>) {
      bits = bits & kTop ? bits ^ kTop : ~bits;
    } else if constexpr (kIsSigned<T>) {
      bits ^= kTop;
    }
    return *reinterpret_cast<T*>(&bits);
  }
  // Rank of what lies a width beyond a rank; never a better one than that.
  static SEMIRA_INLINE unsigned long long beyond(unsigned long long nearest, double width) {
    if (!(width > 0)) return kNoRank;
    const T from = value(nearest);
    T edge;
    if constexpr (kIsFloat<T>) {
      edge = kLeast ? from + static_cast<T>(width) : from - static_cast<T>(width);
    } else {
      const T step = cast<T>(width);
      if (kLeast ? from > kHighest<T> - step : from < kLowest<T> + step) return kNoRank;
      edge = static_cast<T>(kLeast ? from + step : from - step);
    }
    const unsigned long long found = rank(edge);
    return found < nearest ? nearest : found;
  }
};

// What a block knows of its range.
struct FixedRange {
  Index list[kFixedList];
  int count;
  unsigned long long threshold, stop;
  unsigned long long waiting;  // the best rank of those that wait
  unsigned long long near;     // the best that the last round relaxed
  int change;                  // open positions more than when `open` was told last
  bool works;
};
extern __shared__ __align__(16) unsigned char fixed_bits[];

SEMIRA_INLINE unsigned long long least_of_warp(unsigned long long rank) {
  for (int step = kWarp / 2; step > 0; step /= 2) {
    const unsigned long long other = __shfl_xor_sync(kAllLanes, rank, step);
    rank = other < rank ? other : rank;
  }
  return rank;
}

SEMIRA_INLINE int words_of(long long size) { return static_cast<int>((size + kWarp - 1) / kWarp); }

// Values and presence of a vector as the launch needs them, and every entry open.
template <class Add>
__device__ void open_values(const FixedProblem& p, const void* from_first, const unsigned* first,
    const void* from_second, const unsigned* second, const VectorState* state, long long blocks) {
  using T = typename Add::T;
  const bool is_first = state->active == 0;
  const T* const from = static_cast<const T*>(is_first ? from_first : from_second);
  const unsigned* const words = is_first ? first : second;
  T* const values = static_cast<T*>(p.values);
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  const long long rank = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (long long i = rank; i < p.size; i += step) {
    const bool is_there = words[i / kWarp] >> (i % kWarp) & 1u;
    T value = Add::identity();
    // A NaN loses against everything, as the identity does.
    if (is_there && from[i] == from[i]) value = from[i];
    values[i] = value;
  }
  for (long long w = rank; w < words_of(p.size); w += step) p.words[w] = p.dirty[w] = words[w];
  for (long long k = rank; k < blocks; k += step) p.nearest[k] = kNoRank;
  if (rank != 0) return;
  p.control->open = state->nvals;
  p.control->threshold = p.width > 0 ? 0 : kNoRank;
}

// Presence of what the launch has reached, and how many entries there are.
template <class Add> __device__ void close_values(const FixedProblem& p, VectorState* state) {
  using T = typename Add::T;
  const T* const values = static_cast<const T*>(p.values);
  const unsigned lane = threadIdx.x % kWarp;
  const long long step = static_cast<long long>(gridDim.x) * (blockDim.x / kWarp);
  const long long rank = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) / kWarp;
  long long count = 0;
  for (long long w = rank; w < words_of(p.size); w += step) {
    const long long i = w * kWarp + lane;
    const unsigned came = __ballot_sync(kAllLanes, i < p.size && !Ranked<Add>::is_none(values[i]));
    if (lane != 0) continue;
    const unsigned word = p.words[w] | came;
    p.words[w] = word;
    count += __popc(word);
  }
  if (count != 0) {
    atomicAdd(reinterpret_cast<unsigned long long*>(&state->nvals),
        static_cast<unsigned long long>(count));
  }
  if (rank == 0 && lane == 0) state->listed = 0;
}

template <class Semiring, class A> struct FreeRunning {
  using Add = typename Semiring::Add;
  using T = typename Add::T;
  using Order = Ranked<Add>;
  const FixedProblem& p;
  FixedRange& own;

  SEMIRA_INLINE T* values() const { return static_cast<T*>(p.values); }

  // Whether nothing was at `to` when the identity itself came there.
  SEMIRA_INLINE bool is_first_identity(Index to, T offer) const {
    if constexpr (kIsFloat<T>) return false;
    if (offer != Add::identity()) return false;
    const unsigned bit = 1u << (to % kWarp);
    return as_left(values() + to) == offer && !(atomicOr(p.words + to / kWarp, bit) & bit);
  }

  // Sends what one position offers along its edges; returns how many positions have become open.
  // What a batch asks of the memory is asked for together.
  SEMIRA_INLINE int relax(Index v, T value) const {
    const A* const weights = static_cast<const A*>(p.weights);
    const Offset first = p.indptr[v], end = p.indptr[v + 1];
    int opened = 0;
    for (Offset edge = first; edge < end; edge += kFixedBatch) {
      Index to[kFixedBatch];
      T offer[kFixedBatch], held[kFixedBatch];
      bool is[kFixedBatch];
      SEMIRA_UNROLLED(k, kFixedBatch) {
        const Offset at = end - edge > k ? edge + k : end - 1;
        to[k] = p.indices[at];
        A weight{};
        if constexpr (kReadsMatrix<Semiring>) weight = weights[at * static_cast<Offset>(p.stride)];
        offer[k] = multiply_values<Semiring>(value, weight, v, to[k]);
      }
      SEMIRA_UNROLLED(k, kFixedBatch) held[k] = as_left(values() + to[k]);
      SEMIRA_UNROLLED(k, kFixedBatch) {
        is[k] = end - edge > k && Order::improves(offer[k], held[k]);
        if (is[k]) held[k] = hardware_extreme<Order::kLeast>(values() + to[k], offer[k]);
      }
      bool any = false;
      SEMIRA_UNROLLED(k, kFixedBatch) {
        is[k] = (is[k] && Order::improves(offer[k], held[k])) ||
                (end - edge > k && is_first_identity(to[k], offer[k]));
        any |= is[k];
      }
      if (!any) continue;
      __threadfence();
      SEMIRA_UNROLLED(k, kFixedBatch) {
        if (!is[k]) continue;
        const unsigned bit = 1u << (to[k] % kWarp);
        opened += (atomicOr(p.dirty + to[k] / kWarp, bit) & bit) == 0;
      }
    }
    return opened;
  }

  // Puts positions of a word on the list; those that find no room are dirty as before.
  SEMIRA_INLINE void list_word(unsigned* dirty, Index base, unsigned bits) const {
    int at = atomicAdd(&own.count, __popc(bits));
    while (bits != 0 && at < kFixedList) {
      own.list[at++] = base + __ffs(static_cast<int>(bits)) - 1;
      bits &= bits - 1;
    }
    // Who became dirty again meanwhile was counted twice.
    if (bits != 0) atomicAdd(&own.change, -__popc(bits & atomicOr(dirty, bits)));
  }

  // Takes what is open in the range and relaxes what is near. Returns whether there was anything to
  // take; the same for all threads.
  __device__ bool run_round(bool is_over) const {
    FixedControl* const control = p.control;
    unsigned* const waits = reinterpret_cast<unsigned*>(fixed_bits);
    const long long begin = static_cast<long long>(blockIdx.x - 1) * p.range;
    const long long left = words_of(p.size) - begin;
    const int words = static_cast<int>(left < 0 ? 0 : left < p.range ? left : p.range);
    unsigned* const dirty = p.dirty + begin;
    const bool again = own.waiting != kNoRank && own.waiting <= own.threshold;
    unsigned long long stop = kGoesOn, threshold = own.threshold;
    if (threadIdx.x == 0) {
      stop = as_left(&control->stop);
      threshold = as_left(&control->threshold);
      if (is_over && stop == kGoesOn) stop = kGaveUp;
    }
    // Bit k: there is something in the k-th word of this thread; the last one stands for all others.
    unsigned hits = 0;
    const int threads = static_cast<int>(blockDim.x), thread = static_cast<int>(threadIdx.x);
    for (int first = thread, k = 0; first < words; first += kFixedLooks * threads) {
      unsigned seen[kFixedLooks];
      SEMIRA_UNROLLED(j, kFixedLooks) {
        const int word = first + j * threads;
        seen[j] = as_left(dirty + (word < words ? word : words - 1));
      }
#pragma unroll
      for (int j = 0; j < kFixedLooks; ++j, k += k < 31) {
        const int word = first + j * threads;
        if (word < words && (seen[j] != 0 || (again && waits[word] != 0))) hits |= 1u << k;
      }
    }
    const bool any = __syncthreads_or(hits != 0);
    if (threadIdx.x == 0) {
      own.stop = stop;
      own.threshold = threshold;
      own.count = 0;
      own.near = kNoRank;
      if (again) own.waiting = kNoRank;
      if (any && !own.works) {
        own.works = true;
        // The answer has to be there: only then has it happened.
        if (atomicAdd(reinterpret_cast<unsigned long long*>(&control->open),
                static_cast<unsigned long long>(kWorking)) == 0) {
          atomicMax(&control->stop, kGaveUp);
        }
        __threadfence();
      }
    }
    __syncthreads();
    if (!any || own.stop != kGoesOn) return false;
    for (int word = thread, k = 0; word < words; word += threads, k += k < 31) {
      if (!(hits >> k & 1)) continue;
      const unsigned taken = atomicExch(dirty + word, 0u);
      unsigned bits = taken;
      if (again) {
        // Who is dirty and waits was counted twice.
        atomicAdd(&own.change, -__popc(taken & waits[word]));
        bits |= waits[word];
        waits[word] = 0;
      }
      const Index base = static_cast<Index>((begin + word) * kWarp);
      if (bits != 0) list_word(dirty + word, base, bits);
    }
    if (hits != 0) __threadfence();
    __syncthreads();
    const int count = own.count < kFixedList ? own.count : kFixedList;
    int change = 0;
    unsigned long long near = kNoRank, waiting = kNoRank;
    for (int k = thread; k < count; k += threads) {
      const Index v = own.list[k];
      const T value = as_left(values() + v);
      const unsigned long long rank = Order::rank(value);
      if (rank > own.threshold) {
        const unsigned bit = 1u << (v % kWarp);
        change -= (atomicOr(waits + (v / kWarp - begin), bit) & bit) != 0;
        waiting = rank < waiting ? rank : waiting;
        continue;
      }
      near = rank < near ? rank : near;
      change += relax(v, value) - 1;
    }
    if (thread / kWarp * kWarp < count) {
      change = static_cast<int>(__reduce_add_sync(kAllLanes, static_cast<unsigned>(change)));
      near = least_of_warp(near);
      waiting = least_of_warp(waiting);
      if (thread % kWarp == 0) {
        if (change != 0) atomicAdd(&own.change, change);
        if (near != kNoRank) atomicMin(&own.near, near);
        if (waiting != kNoRank) atomicMin(&own.waiting, waiting);
      }
    }
    __syncthreads();
    return true;
  }

  // Tells the first block where this one stands.
  SEMIRA_INLINE void tell(unsigned long long nearest, unsigned long long& told) const {
    if (nearest == told) return;
    told = nearest;
    atomicExch(p.nearest + blockIdx.x, nearest);
  }

  __device__ void work() const {
    unsigned* const waits = reinterpret_cast<unsigned*>(fixed_bits);
    for (long long k = threadIdx.x; k < p.range; k += blockDim.x) waits[k] = 0;
    if (threadIdx.x == 0) {
      own.waiting = own.near = kNoRank;
      own.threshold = p.width > 0 ? 0 : kNoRank;
      own.stop = kGoesOn;
      own.change = 0;
      own.works = false;
    }
    __syncthreads();
    unsigned long long told = kNoRank, rounds = 0;
    int empty = 0;
    while (true) {
      const bool any = run_round(rounds >= static_cast<unsigned long long>(p.most));
      rounds += any;
      empty = any ? 0 : empty + 1;
      if (own.stop != kGoesOn) break;
      if (threadIdx.x == 0) {
        const unsigned long long best = own.near < own.waiting ? own.near : own.waiting;
        if (any) tell(best, told);
        if (empty >= kPatience) {
          tell(own.waiting, told);
          if (own.works) {
            own.works = false;
            const long long less = own.change - kWorking;
            own.change = 0;
            atomicAdd(reinterpret_cast<unsigned long long*>(&p.control->open),
                static_cast<unsigned long long>(less));
          }
          __nanosleep(kIdleNap);
        }
      }
      __syncthreads();
    }
    if (threadIdx.x != 0) return;
    if (own.stop == kGaveUp) atomicMax(&p.control->stop, kGaveUp);
    atomicMax(&p.control->longest, rounds);
  }

  __device__ void watch() const {
    __shared__ unsigned long long nearest, stop;
    FixedControl* const control = p.control;
    while (true) {
      if (threadIdx.x == 0) {
        nearest = kNoRank;
        stop = as_left(&control->stop);
        if (as_left(&control->open) == 0) stop = kDone;
      }
      __syncthreads();
      unsigned long long mine = kNoRank;
      for (unsigned k = threadIdx.x + 1; k < gridDim.x; k += blockDim.x) {
        const unsigned long long told = as_left(p.nearest + k);
        mine = told < mine ? told : mine;
      }
      mine = least_of_warp(mine);
      if (threadIdx.x % kWarp == 0 && mine != kNoRank) atomicMin(&nearest, mine);
      __syncthreads();
      const unsigned long long verdict = stop;
      if (threadIdx.x == 0) {
        if (nearest != kNoRank) {
          atomicExch(&control->threshold, Ranked<Add>::beyond(nearest, p.width));
        }
        if (verdict != kGoesOn) atomicMax(&control->stop, verdict);
        __nanosleep(kIdleNap);
      }
      __syncthreads();
      if (verdict != kGoesOn) return;
    }
  }
};

template <class Semiring, class A> __device__ void run_freely(const FixedProblem& p) {
  __shared__ FixedRange own;
  const FreeRunning<Semiring, A> search{p, own};
  if (blockIdx.x == 0) {
    search.watch();
  } else {
    search.work();
  }
}
