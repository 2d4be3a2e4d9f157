// Diffusion from seeds: a block for each problem. See diffuse.py for what it means.
#pragma once
#include "semira.apps.local_clustering.kernels:block.cuh"

// What the threads of a block share of a problem.
struct Touching {
  int count;  // touched vertices
  int full;   // 1: they have no room
  int found;  // vertices listed for the next round
};

// A vertex, the first slot where it may be, and what that held when it was read.
struct Seen {
  long long vertex, slot, key;
};

// The hash table of a block: pairs of ((degree << 32) + vertex + 1, sum).
struct Touched {
  long long* table;
  int* list;
  long long mask, limit;

  __device__ long long key(long long slot) const {
    return *const_cast<volatile long long*>(&table[2 * slot]);
  }
  __device__ long long& sum(long long slot) const { return table[2 * slot + 1]; }
  __device__ static long long vertex_of(long long key) { return (key & 0xffffffffll) - 1; }

  __device__ Seen look(long long v) const {
    const long long slot = (v * 2654435761ll >> 15) & mask;
    return Seen{v, slot, key(slot)};
  }

  // Returns the slot of a vertex, which is entered if need be; -1 where there is no room.
  template <class P>
  __device__ long long enter(Touching& shared, const P* indptr, const Seen& seen) const {
    const long long v = seen.vertex;
    long long slot = seen.slot, held = seen.key;
    while (true) {
      if (held == 0) {
        if (*const_cast<volatile int*>(&shared.count) >= limit) {
          shared.full = 1;
          return -1;
        }
        const long long fresh = (static_cast<long long>(indptr[v + 1] - indptr[v]) << 32) + v + 1;
        held = static_cast<long long>(
            atomicCAS(reinterpret_cast<unsigned long long*>(&table[2 * slot]), 0ull,
                      static_cast<unsigned long long>(fresh)));
        if (held == 0) {
          const int at = atomicAdd(&shared.count, 1);
          if (at >= limit) {
            shared.full = 1;
            return -1;
          }
          list[at] = static_cast<int>(slot);
          return slot;
        }
      }
      if (vertex_of(held) == v) return slot;
      slot = (slot + 1) & mask;
      held = key(slot);
    }
  }

  __device__ long long add(long long slot, long long units) const {
    return atomic_add(&sum(slot), units);
  }

  // All threads: free the slots; of those beyond the list nobody knows.
  __device__ void clear(const Touching& shared) const {
    if (shared.full == 1) {
      for (long long k = threadIdx.x; k < 2 * (mask + 1); k += blockDim.x) table[k] = 0;
    } else {
      for (int i = threadIdx.x; i < shared.count; i += blockDim.x) {
        table[2ll * list[i]] = 0;
        sum(list[i]) = 0;
      }
    }
  }
};

// One thread: takes room for `size` entries; -1 where the pool is too small.
__device__ inline long long room_in(long long* cursor, long long size, long long most) {
  const long long place = atomic_add(cursor, size);
  return place + size <= most ? place : -1;
}

template <class P, class I>
__device__ void push(long long items, const P* indptr, const I* indices, const long long* seed_ptr,
                     const long long* seeds, double keep, double least, long long slots,
                     long long limit, long long most, int* pool_v, double* pool_x,
                     long long* cursor, long long* facts, double* residual, long long* table,
                     long long* kept, int* lists) {
  constexpr long long kOne = 1ll << 61;
  __shared__ Touching shared;
  __shared__ long long place;
  int* const touched = lists;
  int* const active = lists + limit;
  long long* const share = table + 2 * slots;
  const Touched all{table, touched, slots - 1, limit};
  for (long long item = block_number(); item < items; item += gridDim.x) {
    const long long first = seed_ptr[item], number = seed_ptr[item + 1] - first;
    if (threadIdx.x == 0) shared = Touching{0, 0, 0};
    __syncthreads();
    for (long long k = threadIdx.x; k < number; k += blockDim.x) {
      const long long mass = kOne / number + (k < kOne % number ? 1 : 0);
      const long long slot = all.enter(shared, indptr, all.look(seeds[first + k]));
      all.add(slot, mass);
      if (static_cast<double>(mass) >= least * static_cast<double>(all.key(slot) >> 32)) {
        active[atomicAdd(&shared.found, 1)] = static_cast<int>(slot);
      }
    }
    __syncthreads();
    long long edges = 0, rounds = 0, now = 0;
    int ready = shared.found;
    while (ready > 0 && shared.full == 0) {
      ++rounds;
      __syncthreads();
      if (threadIdx.x == 0) shared.found = 0;
      for (int i = threadIdx.x; i < ready; i += blockDim.x) {
        const long long slot = active[now + i], degree = all.key(slot) >> 32;
        long long rest = all.sum(slot);
        const long long take = min(static_cast<long long>(static_cast<double>(rest) * keep), rest);
        rest -= take;
        const long long part = rest / degree;
        kept[slot] += take;
        share[i] = part;
        all.sum(slot) = rest - part * degree;
      }
      __syncthreads();
      const long long other = limit - now;
      edges += each_entry(
          indptr, ready, shared.full,
          [&](int i) { return Touched::vertex_of(all.key(active[now + i])); },
          [&](long long entry) { return all.look(indices[entry]); },
          [&](int i, const Seen& seen) {
            const long long slot = all.enter(shared, indptr, seen);
            if (slot < 0) return;
            const long long before = all.add(slot, share[i]);
            const double bound = least * static_cast<double>(all.key(slot) >> 32);
            if (static_cast<double>(before) < bound &&
                static_cast<double>(before + share[i]) >= bound) {
              active[other + atomicAdd(&shared.found, 1)] = static_cast<int>(slot);
            }
          });
      now = other;
      ready = shared.found;
    }
    __syncthreads();
    const int count = shared.full == 1 ? 0 : shared.count;
    double highest = 0;
    long long size = 0, mass = 0;
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
      const long long slot = touched[i];
      mass += all.sum(slot) + kept[slot];
      size += kept[slot] > 0 ? 1 : 0;
      highest = max(highest, static_cast<double>(all.sum(slot)) /
                           (least * static_cast<double>(all.key(slot) >> 32)));
    }
    size = sum_over_block(size);
    mass = sum_over_block(mass);
    highest = most_over_block(highest);
    if (threadIdx.x == 0) {
      place = shared.full == 1 ? 0 : room_in(cursor, size, most);
      if (place < 0) shared.full = 2;
      shared.found = 0;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
      const long long slot = touched[i];
      if (kept[slot] > 0 && shared.full == 0) {
        const long long at = place + atomicAdd(&shared.found, 1);
        pool_v[at] = static_cast<int>(Touched::vertex_of(all.key(slot)));
        pool_x[at] = static_cast<double>(kept[slot]) * 4.336808689942018e-19;
      }
      kept[slot] = 0;
    }
    if (shared.full == 1) {
      for (long long k = threadIdx.x; k < slots; k += blockDim.x) kept[k] = 0;
    }
    __syncthreads();
    all.clear(shared);
    if (threadIdx.x == 0) {
      long long* mine = facts + 6 * item;
      mine[0] = place;
      mine[1] = size;
      mine[2] = shared.full;
      mine[3] = rounds;
      mine[4] = edges;
      mine[5] = mass;
      residual[item] = highest;
    }
    __syncthreads();
  }
}

// The gradient at `y`, both per root of the degree; no product is fused with a sum.
__device__ inline double slope(const Touched& all, long long slot, double y, double alpha,
                               double shared) {
  const double degree = static_cast<double>(all.key(slot) >> 32);
  const double around =
      __dmul_rn(static_cast<double>(all.sum(slot)), 1.734723475976807e-18) / degree;
  return __dmul_rn((1.0 + alpha) * 0.5, y) - __dmul_rn((1.0 - alpha) * 0.5, around) -
         shared / degree;
}

template <class P, class I>
__device__ void fista(long long items, const P* indptr, const I* indices, const long long* seed_ptr,
                      const long long* seeds, double alpha, double threshold, double tolerance,
                      long long most_steps, long long slots, long long limit, long long most,
                      int* pool_v, double* pool_x, long long* cursor, long long* facts,
                      double* residual, long long* table, int* touched, double* vectors) {
  __shared__ Touching shared;
  __shared__ long long place;
  double* const x = vectors;
  double* const y = vectors + limit;
  double* const slopes = vectors + 2 * limit;
  long long* const units = table + 2 * slots;
  const Touched all{table, touched, slots - 1, limit};
  const double beta = (1.0 - sqrt(alpha)) / (1.0 + sqrt(alpha));
  const double limit_slope = __dmul_rn(threshold, 1.0 + tolerance);
  for (long long item = block_number(); item < items; item += gridDim.x) {
    const long long first = seed_ptr[item], number = seed_ptr[item + 1] - first;
    const double part = alpha / static_cast<double>(number);
    if (threadIdx.x == 0) {
      shared = Touching{0, 0, 0};
      // In this order: the first of the list are the seeds.
      for (long long k = 0; k < number; ++k) all.enter(shared, indptr, all.look(seeds[first + k]));
    }
    __syncthreads();
    int known = 0;
    long long steps = 0, edges = 0, stopped = 0;
    while (true) {
      const int count = shared.count;
      double steepest = 0;
      for (int i = threadIdx.x; i < count; i += blockDim.x) {
        if (i >= known) x[i] = y[i] = 0;
        const long long slot = touched[i];
        slopes[i] = slope(all, slot, y[i], alpha, i < number ? part : 0.0);
        all.sum(slot) = 0;
        steepest = max(steepest, fabs(slopes[i]));
      }
      known = count;
      steepest = most_over_block(steepest);
      if (steps > 1 && steepest <= limit_slope) stopped = 1;
      const bool ends = stopped == 1 || steps == most_steps;
      for (int i = threadIdx.x; i < known; i += blockDim.x) {
        if (ends) {
          y[i] = x[i];
        } else {
          const double z = y[i] - slopes[i];
          const double fresh = z >= threshold ? z - threshold : z <= -threshold ? z + threshold : 0;
          y[i] = steps == 0 ? fresh : fresh + __dmul_rn(beta, fresh - x[i]);
          x[i] = fresh;
        }
        units[i] = static_cast<long long>(__dmul_rn(y[i], 576460752303423488.0));
      }
      __syncthreads();
      edges += each_entry(
          indptr, known, shared.full,
          [&](int i) { return units[i] == 0 ? -1ll : Touched::vertex_of(all.key(touched[i])); },
          [&](long long entry) { return all.look(indices[entry]); },
          [&](int i, const Seen& seen) {
            const long long slot = all.enter(shared, indptr, seen);
            if (slot >= 0) all.add(slot, units[i]);
          });
      if (ends || shared.full == 1) break;
      ++steps;
    }
    __syncthreads();
    const int count = shared.full == 1 ? 0 : shared.count;
    double worst = 0;
    long long size = 0;
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
      if (i >= known) x[i] = 0;
      const double g = slope(all, touched[i], x[i], alpha, i < number ? part : 0.0);
      const double off = x[i] > 0   ? fabs(g + threshold)
                         : x[i] < 0 ? fabs(g - threshold)
                                    : fabs(g) - threshold;
      worst = max(worst, off);
      size += x[i] != 0 ? 1 : 0;
    }
    size = sum_over_block(size);
    worst = most_over_block(worst);
    if (threadIdx.x == 0) {
      place = shared.full == 1 ? 0 : room_in(cursor, size, most);
      if (place < 0) shared.full = 2;
      shared.found = 0;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
      if (x[i] != 0 && shared.full == 0) {
        const long long key = all.key(touched[i]);
        const long long at = place + atomicAdd(&shared.found, 1);
        pool_v[at] = static_cast<int>(Touched::vertex_of(key));
        pool_x[at] = fabs(x[i]) * static_cast<double>(key >> 32);
      }
    }
    __syncthreads();
    all.clear(shared);
    if (threadIdx.x == 0) {
      long long* mine = facts + 6 * item;
      mine[0] = place;
      mine[1] = size;
      mine[2] = shared.full;
      mine[3] = steps;
      mine[4] = edges;
      mine[5] = stopped;
      residual[item] = worst / threshold;
    }
    __syncthreads();
  }
}

template <class V, class X>
__device__ void gather(long long items, const long long* starts, const long long* sizes,
                       const long long* targets, const V* vertices, const X* values, V* new_v,
                       X* new_x) {
  for (long long item = block_number(); item < items; item += gridDim.x) {
    const long long start = starts[item], target = targets[item];
    for (long long k = threadIdx.x; k < sizes[item]; k += blockDim.x) {
      new_v[target + k] = vertices[start + k];
      new_x[target + k] = values[start + k];
    }
  }
}
