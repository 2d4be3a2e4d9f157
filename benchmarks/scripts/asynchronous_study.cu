// Minima that spread along edges until nothing changes, as one kernel under three schedules. For
// benchmarks/scripts/asynchronous_study.py, which says what is compared. Distances are the bits of floats: of floats
// that are not negative these compare as the floats do, and a minimum of unsigned numbers is one of the
// hardware's. With `labels` a vertex offers what it has, and begins with its own number.
//
//   synchronous   a list of vertices an iteration, a barrier of the grid behind each (Bellman-Ford)
//   local_rounds  every block relaxes what is open in its own range, again and again, up to so many
//                 rounds; then a barrier of the grid
//   free_running  no barrier: a block takes what is open in its range until nothing is open anywhere
//
// In the last two a block owns a range of vertices. `dirty` has a bit for every vertex whose distance
// has fallen since its owner took it; anybody sets bits, the owner alone clears them. What lies beyond
// the threshold waits in a bitmap of the owner's.
//
// No kernel hangs: whoever waits or goes round looks at the clock, and gives up for all.

constexpr int kList = 4096, kBatch = 4, kWarp = 32, kMostBlocks = 4096;
// Words that a thread looks at together.
constexpr int kLooks = 8;
constexpr unsigned kInfinite = 0x7f800000u, kEveryLane = 0xffffffffu;
// What a block that may have taken vertices adds to the number of open ones.
constexpr long long kWorking = 1ll << 40;
// Looks without a finding before a block says that it is idle; ns between two looks of an idle one.
constexpr int kPatience = 4;
constexpr unsigned kNap = 100;
// Why a kernel ended.
constexpr unsigned kGoesOn = 0, kDone = 1, kGaveUp = 2;

// What all blocks share; CONTROL_BYTES in asynchronous_study.py is its size, all 0 at the start.
struct Control {
  unsigned arrived, pad0[31];          // at the barrier, ever
  unsigned stop, threshold, pad1[30];  // read in every round
  long long open, pad2[15];            // dirty or waiting vertices of free_running, blocks that work
  // By the number of the phase modulo 3: length of the list, blocks that did something, nearest vertex.
  unsigned length[3], active[3], nearest[3], pad3[23];
  unsigned long long edges, vertices, rounds;  // relaxed; of all blocks
  unsigned long long longest, phases;          // rounds of the block that had most; barriers
};

// All members have 8 bytes; PROBLEM in asynchronous_study.py spells the same.
struct Problem {
  const int* indptr;
  const int* indices;
  const float* weights;
  unsigned* distance;
  unsigned* dirty;    // a bit a vertex, whole words for each block
  unsigned* nearest;  // of each block, room for kMostBlocks
  unsigned* claimed;  // the iteration that has put a vertex on its list
  int* lists;         // two of all vertices
  Control* control;
  long long vertices, source;
  long long words;  // of a block's range
  long long rounds, width, labels;
  long long ask;     // whether a distance is read before it is lowered
  long long fences;  // whether bits and distances are ordered as the model of memory asks
  long long limit;   // clocks
};

// A value as others have left it, past L1.
template <class T>
__device__ __forceinline__ T fresh(const T* at) {
  return *static_cast<const volatile T*>(at);
}
__device__ __forceinline__ unsigned arrived_at(unsigned* counter) {
  unsigned seen;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
  return seen;
}
__device__ __forceinline__ unsigned beyond(unsigned nearest, long long width) {
  if (width <= 0) return kInfinite;
  return __float_as_int(__int_as_float(nearest) + static_cast<float>(width));
}

// ------------------------------------------------------------------------------------ of all kernels
struct Tally {
  unsigned long long edges, vertices;
};

struct Clock {
  long long began, limit;
  __device__ explicit Clock(long long given) : began(clock64()), limit(given) {}
  __device__ __forceinline__ bool is_over(int times = 1) const {
    return clock64() - began > times * limit;
  }
};

// A barrier of the grid as the engine's (common/grid.cuh), which gives up after twice the limit.
struct Barrier {
  unsigned target = 0;
  __device__ __forceinline__ void meet(Control* control, const Clock& clock) {
    __syncthreads();
    if (threadIdx.x == 0) {
      target += gridDim.x;
      unsigned* const arrived = &control->arrived;
      asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(arrived) : "memory");
      while (static_cast<int>(arrived_at(arrived) - target) < 0) {
        if (clock.is_over(2)) {
          atomicMax(&control->stop, kGaveUp);
          break;
        }
      }
      asm volatile("fence.acq_rel.gpu;" ::: "memory");
    }
    __syncthreads();
  }
};

// What some edges of a vertex have lowered.
struct Lowered {
  int to[kBatch];
  bool is[kBatch];
};

// Lowers the distances that the edges of `v` lower, and calls `found` for each batch. What a batch asks
// of the memory is asked for together; a load or an atomic whose answer decided about the next one would
// make them wait for each other.
template <class Found>
__device__ __forceinline__ void relax(const Problem& p, int v, unsigned bits, Tally& tally,
                                      Found found) {
  const float length = __int_as_float(bits);
  const int first = p.indptr[v], end = p.indptr[v + 1];
  for (int edge = first; edge < end; edge += kBatch) {
    Lowered lowered;
    unsigned offer[kBatch], held[kBatch];
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      const int at = min(edge + k, end - 1);
      lowered.to[k] = p.indices[at];
      offer[k] = p.labels ? bits : __float_as_int(length + p.weights[at]);
      held[k] = kInfinite;
    }
    if (p.ask) {
#pragma unroll
      for (int k = 0; k < kBatch; ++k) held[k] = fresh(p.distance + lowered.to[k]);
    }
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      // Nothing is lower than 0: whoever offers nothing has lowered nothing.
      const bool offers = edge + k < end && offer[k] < held[k];
      held[k] = offers ? atomicMin(p.distance + lowered.to[k], offer[k]) : 0;
    }
    bool any = false;
#pragma unroll
    for (int k = 0; k < kBatch; ++k) any |= lowered.is[k] = offer[k] < held[k];
    if (!any) continue;
    if (p.fences) __threadfence();
    found(lowered);
  }
  tally.edges += end - first;
  ++tally.vertices;
}

// Adds what the threads of a block have counted to what all have.
__device__ void count_up(Control* control, Tally tally, unsigned long long rounds,
                         unsigned long long phases) {
  __shared__ unsigned long long edges, vertices;
  if (threadIdx.x == 0) edges = vertices = 0;
  for (int step = kWarp / 2; step > 0; step /= 2) {
    tally.edges += __shfl_down_sync(kEveryLane, tally.edges, step);
    tally.vertices += __shfl_down_sync(kEveryLane, tally.vertices, step);
  }
  __syncthreads();
  if (threadIdx.x % kWarp == 0) {
    atomicAdd(&edges, tally.edges);
    atomicAdd(&vertices, tally.vertices);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(&control->edges, edges);
    atomicAdd(&control->vertices, vertices);
    atomicAdd(&control->rounds, rounds);
    atomicMax(&control->longest, rounds);
    if (blockIdx.x == 0) control->phases = phases;
  }
}

// Nothing has been reached but the source, which is open; or every vertex by itself.
extern "C" __global__ void prepare(const Problem* given) {
  const Problem p = *given;
  const long long size = p.vertices, words = (size + 31) / 32;
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  const long long rank = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (long long k = rank; k < size; k += step) {
    p.distance[k] = p.labels ? static_cast<unsigned>(k) : k == p.source ? 0 : kInfinite;
    p.lists[k] = static_cast<int>(p.labels ? k : p.source);
    p.claimed[k] = 0;
  }
  for (long long k = rank; k < words; k += step) {
    const unsigned last = size - 32 * k < 32 ? (1u << size % 32) - 1 : kEveryLane;
    p.dirty[k] = p.labels ? last : k == p.source / 32 ? 1u << p.source % 32 : 0;
  }
  for (long long k = rank; k < kMostBlocks; k += step) p.nearest[k] = kInfinite;
  if (rank != 0) return;
  p.control->length[0] = p.labels ? static_cast<unsigned>(size) : 1;
  p.control->open = p.labels ? size : 1;
  p.control->threshold = beyond(0, p.width);
  for (unsigned& each : p.control->nearest) each = kInfinite;
}

// -------------------------------------------------------------------------------------- synchronous
extern "C" __global__ void __launch_bounds__(1024) synchronous(const Problem* given) {
  __shared__ int found[kList];
  __shared__ int count, start;
  __shared__ unsigned length;
  const Problem p = *given;
  Control* const control = p.control;
  const Clock clock(p.limit);
  Barrier barrier;
  Tally tally{};
  const unsigned rank = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
  unsigned phase = 0;
  if (threadIdx.x == 0) {
    count = 0;
    length = fresh(control->length);
  }
  __syncthreads();
  while (length > 0) {
    const int* const list = p.lists + (phase % 2) * p.vertices;
    int* const next = p.lists + ((phase + 1) % 2) * p.vertices;
    unsigned* const end = control->length + (phase + 1) % 3;
    for (unsigned k = rank; k < length; k += step) {
      const int v = list[k];
      relax(p, v, fresh(p.distance + v), tally, [&](const Lowered& lowered) {
        unsigned before[kBatch];
#pragma unroll
        for (int k = 0; k < kBatch; ++k) {
          before[k] = phase + 1;
          if (lowered.is[k]) before[k] = atomicExch(p.claimed + lowered.to[k], phase + 1);
        }
#pragma unroll
        for (int k = 0; k < kBatch; ++k) {
          if (before[k] == phase + 1) continue;
          const int at = atomicAdd(&count, 1);
          if (at < kList) {
            found[at] = lowered.to[k];
          } else {
            next[atomicAdd(end, 1u)] = lowered.to[k];
          }
        }
      });
    }
    __syncthreads();
    const int kept = min(count, kList);
    if (threadIdx.x == 0) {
      if (kept > 0) start = atomicAdd(end, static_cast<unsigned>(kept));
      // Nobody reads the list of the phase before any more, nor writes that of the phase behind yet.
      if (blockIdx.x == 0) control->length[(phase + 2) % 3] = 0;
      if (blockIdx.x == 0 && clock.is_over()) atomicMax(&control->stop, kGaveUp);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < kept; k += blockDim.x) next[start + k] = found[k];
    barrier.meet(control, clock);
    if (threadIdx.x == 0) {
      const unsigned stop = fresh(&control->stop), size = fresh(end);
      length = stop == kGoesOn ? size : 0;
      count = 0;
    }
    __syncthreads();
    ++phase;
  }
  count_up(control, tally, phase, phase);
  if (rank == 0) atomicMax(&control->stop, kDone);
}

// ------------------------------------------------------------------------------------ ranges of blocks
// What a block knows of its range.
struct Range {
  int list[kList];
  int count;
  unsigned threshold, stop;
  unsigned waiting;  // the nearest of those that wait
  unsigned near;     // the nearest that the last round relaxed
  int change;        // open vertices more than when `open` was told last
  bool works;
};
extern __shared__ __align__(16) unsigned char range_bits[];

__device__ void open_range(const Problem& p, Range& own) {
  unsigned* const waits = reinterpret_cast<unsigned*>(range_bits);
  for (int k = threadIdx.x; k < p.words; k += blockDim.x) waits[k] = 0;
  if (threadIdx.x == 0) {
    own.waiting = own.near = kInfinite;
    own.threshold = beyond(0, p.width);
    own.stop = kGoesOn;
    own.change = 0;
    own.works = false;
  }
  __syncthreads();
}

// Puts vertices of a word on the list; those that find no room are dirty as before.
__device__ __forceinline__ void list_word(Range& own, unsigned* dirty, int vertex, unsigned bits) {
  int at = atomicAdd(&own.count, __popc(bits));
  while (bits != 0 && at < kList) {
    own.list[at++] = vertex + __ffs(static_cast<int>(bits)) - 1;
    bits &= bits - 1;
  }
  // Who became dirty again meanwhile was counted twice.
  if (bits != 0) atomicAdd(&own.change, -__popc(bits & atomicOr(dirty, bits)));
}

// One round of a block: takes what is open in its range and relaxes what is near. Returns whether
// there was anything to take; the same for all threads. With kFree others end it, move the threshold,
// and have to know that it works before it takes anything.
template <bool kFree>
__device__ bool run_round(const Problem& p, Range& own, const Clock& clock, Tally& tally) {
  Control* const control = p.control;
  unsigned* const waits = reinterpret_cast<unsigned*>(range_bits);
  const int base = static_cast<int>((blockIdx.x - kFree) * p.words);
  const int total = static_cast<int>((p.vertices + 31) / 32);
  const int words = max(0, min(static_cast<int>(p.words), total - base));
  unsigned* const dirty = p.dirty + base;
  const bool again = own.waiting < own.threshold;
  unsigned stop = kGoesOn, threshold = own.threshold;
  if (threadIdx.x == 0) {
    if (kFree) {
      stop = fresh(&control->stop);
      threshold = fresh(&control->threshold);
    }
    if (clock.is_over(kFree ? 2 : 1)) stop = kGaveUp;
  }
  // Bit k: there is something in the k-th word of this thread; the last one stands for all others.
  unsigned hits = 0;
  for (int first = threadIdx.x, k = 0; first < words; first += kLooks * blockDim.x) {
    unsigned seen[kLooks];
#pragma unroll
    for (int j = 0; j < kLooks; ++j) {
      seen[j] = fresh(dirty + min(first + j * static_cast<int>(blockDim.x), words - 1));
    }
#pragma unroll
    for (int j = 0; j < kLooks; ++j, k += k < 31) {
      const int word = first + j * static_cast<int>(blockDim.x);
      if (word < words && (seen[j] != 0 || (again && waits[word] != 0))) hits |= 1u << k;
    }
  }
  const bool any = __syncthreads_or(hits != 0);
  if (threadIdx.x == 0) {
    own.stop = stop;
    own.threshold = threshold;
    own.count = 0;
    own.near = kInfinite;
    if (again) own.waiting = kInfinite;
    if (kFree && any && !own.works) {
      own.works = true;
      // The answer has to be there: only then has it happened.
      if (atomicAdd(reinterpret_cast<unsigned long long*>(&control->open),
                    static_cast<unsigned long long>(kWorking)) == 0) {
        atomicMax(&control->stop, kGaveUp);
      }
      if (p.fences) __threadfence();
    }
  }
  __syncthreads();
  if (!any || own.stop != kGoesOn) return false;

  for (int word = threadIdx.x, k = 0; word < words; word += blockDim.x, k += k < 31) {
    if (!(hits >> k & 1)) continue;
    const unsigned taken = atomicExch(dirty + word, 0u);
    unsigned bits = taken;
    if (again) {
      // Who is dirty and waits was counted twice.
      atomicAdd(&own.change, -__popc(taken & waits[word]));
      bits |= waits[word];
      waits[word] = 0;
    }
    if (bits != 0) list_word(own, dirty + word, 32 * (base + word), bits);
  }
  if (p.fences && hits != 0) __threadfence();
  __syncthreads();

  const int count = min(own.count, kList);
  int change = 0;
  unsigned near = kInfinite, waiting = kInfinite;
  for (int k = threadIdx.x; k < count; k += blockDim.x) {
    const int v = own.list[k];
    const unsigned length = fresh(p.distance + v);
    if (length >= own.threshold) {
      const unsigned bit = 1u << v % 32;
      change -= (atomicOr(waits + (v / 32 - base), bit) & bit) != 0;
      waiting = min(waiting, length);
      continue;
    }
    near = min(near, length);
    --change;
    relax(p, v, length, tally, [&](const Lowered& lowered) {
      unsigned before[kBatch];
#pragma unroll
      for (int j = 0; j < kBatch; ++j) {
        const int u = lowered.to[j];
        before[j] = lowered.is[j] ? atomicOr(p.dirty + u / 32, 1u << u % 32) : kEveryLane;
      }
#pragma unroll
      for (int j = 0; j < kBatch; ++j) change += (before[j] >> lowered.to[j] % 32 & 1) == 0;
    });
  }
  if (threadIdx.x / kWarp * kWarp < count) {
    change = static_cast<int>(__reduce_add_sync(kEveryLane, static_cast<unsigned>(change)));
    near = __reduce_min_sync(kEveryLane, near);
    waiting = __reduce_min_sync(kEveryLane, waiting);
    if (threadIdx.x % kWarp == 0) {
      if (change != 0) atomicAdd(&own.change, change);
      if (near < kInfinite) atomicMin(&own.near, near);
      if (waiting < kInfinite) atomicMin(&own.waiting, waiting);
    }
  }
  __syncthreads();
  return true;
}

extern "C" __global__ void __launch_bounds__(1024) local_rounds(const Problem* given) {
  __shared__ Range own;
  const Problem p = *given;
  Control* const control = p.control;
  const Clock clock(p.limit);
  Barrier barrier;
  Tally tally{};
  open_range(p, own);
  unsigned long long rounds = 0;
  unsigned phase = 0;
  while (true) {
    const unsigned slot = phase % 3;
    unsigned near = kInfinite;
    long long round = 0;
    while (round < p.rounds && run_round<false>(p, own, clock, tally)) {
      ++round;
      near = own.near;
    }
    rounds += round;
    if (threadIdx.x == 0) {
      near = min(near, own.waiting);
      if (near < kInfinite) atomicMin(control->nearest + slot, near);
      if (round > 0) atomicAdd(control->active + slot, 1u);
      if (blockIdx.x == 0) {
        control->active[(phase + 1) % 3] = 0;
        control->nearest[(phase + 1) % 3] = kInfinite;
      }
      if (own.stop == kGaveUp || clock.is_over()) atomicMax(&control->stop, kGaveUp);
    }
    barrier.meet(control, clock);
    ++phase;
    if (threadIdx.x == 0) {
      const unsigned nearest = fresh(control->nearest + slot), stop = fresh(&control->stop);
      const bool is_done = nearest == kInfinite && fresh(control->active + slot) == 0;
      own.stop = stop != kGoesOn ? kGaveUp : is_done ? kDone : kGoesOn;
      if (nearest < kInfinite) own.threshold = beyond(nearest, p.width);
    }
    __syncthreads();
    if (own.stop != kGoesOn) break;
  }
  count_up(control, tally, rounds, phase);
  if (blockIdx.x == 0 && threadIdx.x == 0) atomicMax(&control->stop, kDone);
}

// The first block of free_running: moves the threshold with the nearest open vertex, as far as blocks
// have told, and ends all when nothing is open and nobody works.
__device__ unsigned long long keep_watch(const Problem& p, const Clock& clock) {
  __shared__ unsigned nearest, stop;
  Control* const control = p.control;
  for (unsigned long long looks = 1;; ++looks) {
    if (threadIdx.x == 0) {
      nearest = kInfinite;
      stop = fresh(&control->open) == 0 ? kDone : clock.is_over() ? kGaveUp : kGoesOn;
    }
    __syncthreads();
    unsigned mine = kInfinite;
    for (unsigned k = threadIdx.x; k + 1 < gridDim.x; k += blockDim.x) {
      mine = min(mine, fresh(p.nearest + k));
    }
    mine = __reduce_min_sync(kEveryLane, mine);
    if (threadIdx.x % kWarp == 0 && mine < kInfinite) atomicMin(&nearest, mine);
    __syncthreads();
    const unsigned verdict = stop;
    if (threadIdx.x == 0) {
      if (nearest < kInfinite) atomicExch(&control->threshold, beyond(nearest, p.width));
      if (verdict != kGoesOn) atomicMax(&control->stop, verdict);
      __nanosleep(kNap);
    }
    __syncthreads();
    if (verdict != kGoesOn) return looks;
  }
}

// Tells the others where a block stands.
__device__ __forceinline__ void tell(const Problem& p, unsigned nearest, unsigned& told) {
  if (nearest == told) return;
  told = nearest;
  atomicExch(p.nearest + blockIdx.x - 1, nearest);
}

extern "C" __global__ void __launch_bounds__(1024) free_running(const Problem* given) {
  __shared__ Range own;
  const Problem p = *given;
  const Clock clock(p.limit);
  Tally tally{};
  unsigned long long rounds = 0, looks = 0;
  if (blockIdx.x == 0) {
    looks = keep_watch(p, clock);
  } else {
    open_range(p, own);
    // As `prepare` and the host left it.
    unsigned told = kInfinite;
    int empty = 0;
    while (true) {
      const bool any = run_round<true>(p, own, clock, tally);
      rounds += any;
      empty = any ? 0 : empty + 1;
      if (own.stop != kGoesOn) break;
      if (threadIdx.x == 0) {
        if (any) tell(p, min(own.near, own.waiting), told);
        if (empty >= kPatience) {
          tell(p, own.waiting, told);
          if (own.works) {
            own.works = false;
            const long long less = own.change - kWorking;
            own.change = 0;
            atomicAdd(reinterpret_cast<unsigned long long*>(&p.control->open),
                      static_cast<unsigned long long>(less));
          }
          __nanosleep(kNap);
        }
      }
      __syncthreads();
    }
    if (threadIdx.x == 0 && own.stop == kGaveUp) atomicMax(&p.control->stop, kGaveUp);
  }
  count_up(p.control, tally, rounds, looks);
}
