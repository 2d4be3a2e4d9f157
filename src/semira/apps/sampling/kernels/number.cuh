// Vertices that batches meet get numbers. See number.py.
#pragma once

// Item of a slot: 32 bits suffice, as a slot has to fit into a place of the table.
__device__ __forceinline__ int row_of(long long slot, long long k) {
  return static_cast<int>(static_cast<unsigned>(slot) / static_cast<unsigned>(k));
}

template <class I, class B, class T>
__device__ void meet(long long items, long long k, long long n, const I* found, const B* batch,
                     T* table) {
  const Group<1> mine;
  for (long long slot = mine.first; slot < items; slot += mine.step) {
    if (found[slot] < 0) continue;
    const long long at = batch[row_of(slot, k)] * n + found[slot];
    // Most vertices that are known need no atomic.
    if (table[at] < 0) atomicMax(&table[at], static_cast<T>(-1 - slot));
  }
}

template <class I, class B, class T, class M>
__device__ void mark(long long items, long long k, long long n, const I* found, const B* batch,
                     const T* table, M* marks) {
  const Group<1> mine;
  for (long long slot = mine.first; slot < items; slot += mine.step) {
    M value = 0;
    if (found[slot] >= 0) {
      const long long at = batch[row_of(slot, k)] * n + found[slot];
      value = table[at] == -1 - slot ? (1ll << 32) + 1 : 1;
    }
    marks[slot + 1] = value;
  }
}

template <class I, class P, class B, class L, class S, class M, class T, class N>
__device__ void place(long long items, long long k, long long n, const I* found, const P* entries,
                      const B* batch, const L* local, const S* shift, const M* totals, T* table,
                      N* targets, N* e_id, N* edge_batch, N* vertices, N* new_batch,
                      N* new_local) {
  const Group<1> mine;
  for (long long slot = mine.first; slot < items; slot += mine.step) {
    if (found[slot] < 0) continue;
    const int row = row_of(slot, k);
    const M total = totals[slot];
    const long long edge = total & 0xffffffffll, fresh = total >> 32, of = batch[row];
    targets[edge] = local[row];
    e_id[edge] = entries[slot];
    edge_batch[edge] = of;
    if (totals[slot + 1] >> 32 > fresh) {
      const long long number = fresh + shift[of];
      vertices[fresh] = found[slot];
      new_batch[fresh] = of;
      new_local[fresh] = number;
      table[of * n + found[slot]] = static_cast<T>(number);
    }
  }
}

template <class I, class B, class M, class T, class N>
__device__ void look_up(long long items, long long k, long long n, const I* found, const B* batch,
                        const M* totals, const T* table, N* sources) {
  const Group<1> mine;
  for (long long slot = mine.first; slot < items; slot += mine.step) {
    if (found[slot] < 0) continue;
    sources[totals[slot] & 0xffffffffll] = table[batch[row_of(slot, k)] * n + found[slot]];
  }
}
