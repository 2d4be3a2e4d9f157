// `*address = Add(*address, x)`, atomically, for every monoid and every dtype.
#pragma once
#include "common/vector.cuh"

constexpr unsigned kLocks = 4096;
template <class T> __device__ unsigned locks_of[kLocks];  // 1: held

// Runs `body` while no other thread has the lock of `address`. Lanes of a warp may want the same
// lock: each tries once a round, and whoever got it gives it back before the next round. So no
// lane waits for another one that waits for it, however the compiler lays out the loop.
template <class T, class Body> SEMIRA_INLINE void with_lock(const T* address, Body body) {
  const unsigned long long place = reinterpret_cast<unsigned long long>(address) / sizeof(T);
  unsigned* lock = &locks_of<T>[place % kLocks];
  const unsigned together = __activemask();
  bool done = false;
  do {
    if (!done && atomicCAS(lock, 0u, 1u) == 0u) {
      // What the last holder wrote is seen, and what is written here is seen by the next one.
      __threadfence();
      body();
      __threadfence();
      atomicExch(lock, 0u);
      done = true;
    }
  } while (__any_sync(together, !done));
}

// Compare-and-swap on the aligned word that holds the value: 1- and 2-byte dtypes share one.
template <class Add, class Word, class T> SEMIRA_INLINE void swap_accumulate(T* address, T x) {
  const unsigned long long place = reinterpret_cast<unsigned long long>(address);
  Word* word = reinterpret_cast<Word*>(place & ~static_cast<unsigned long long>(sizeof(Word) - 1));
  const int shift = 8 * static_cast<int>(place & (sizeof(Word) - 1));
  const Word field = (~static_cast<Word>(0) >> (8 * (sizeof(Word) - sizeof(T)))) << shift;
  Word old = *const_cast<volatile Word*>(word);
  while (true) {
    Word bits = (old & field) >> shift;
    const T next = Add::apply(*reinterpret_cast<T*>(&bits), x);
    Word next_bits = 0;
    *reinterpret_cast<T*>(&next_bits) = next;
    const Word wanted = (old & ~field) | (next_bits << shift);
    // Read first: min, max and the like are mostly settled before the last writer comes.
    if (wanted == old) return;
    const Word found = atomicCAS(word, old, wanted);
    if (found == old) return;
    old = found;
  }
}

template <class T> SEMIRA_INLINE void hardware_add(T* address, T x) {
  if constexpr (kIsComplex<T>) {
    atomicAdd(&address->real, x.real);
    atomicAdd(&address->imag, x.imag);
  } else if constexpr (kIsFloat<T>) {
    atomicAdd(address, x);
  } else if constexpr (sizeof(T) == 8) {
    atomicAdd(reinterpret_cast<unsigned long long*>(address), static_cast<unsigned long long>(x));
  } else {
    atomicAdd(reinterpret_cast<unsigned*>(address), static_cast<unsigned>(x));
  }
}

// The least or greatest of *address and x, by one atomic; returns what was there. Numbers of one sign
// are ordered like the integers that their bits are, those below zero the other way round. The
// identity is a NaN whose bits lose against every number's: positive for the least, negative for
// the greatest.
template <bool kLeast, class T> SEMIRA_INLINE T hardware_extreme(T* address, T x) {
  using Signed = Choose<sizeof(T) == 8, long long, int>;
  using Unsigned = Choose<sizeof(T) == 8, unsigned long long, unsigned>;
  if constexpr (kIsFloat<T>) {
    const Signed bits = *reinterpret_cast<Signed*>(&x);
    if (bits >= 0) {
      Signed old = hardware_extreme<kLeast>(reinterpret_cast<Signed*>(address), bits);
      return *reinterpret_cast<T*>(&old);
    }
    Unsigned* const word = reinterpret_cast<Unsigned*>(address);
    Unsigned old = hardware_extreme<!kLeast>(word, static_cast<Unsigned>(bits));
    return *reinterpret_cast<T*>(&old);
  } else {
    using Word = Choose<kIsSigned<T>, Signed, Unsigned>;
    Word* const word = reinterpret_cast<Word*>(address);
    const Word given = static_cast<Word>(x);
    return static_cast<T>(kLeast ? atomicMin(word, given) : atomicMax(word, given));
  }
}

// To a place that holds a value, or the identity. `seen`: a value, which may be better already.
template <class Add, class T>
SEMIRA_INLINE void atomic_accumulate(T* address, T x, bool seen = true) {
  if constexpr (Add::kMethod == Method::kSum) {
    hardware_add(address, x);
  } else if constexpr (Add::kMethod == Method::kLeast || Add::kMethod == Method::kGreatest) {
    constexpr bool kLeast = Add::kMethod == Method::kLeast;
    // A NaN wins against nothing.
    if (x != x) return;
    if (seen) {
      const T old = *const_cast<volatile T*>(address);
      if (kLeast ? old <= x : old >= x) return;
    }
    hardware_extreme<kLeast>(address, x);
  } else if constexpr (Add::kMethod == Method::kLock || (sizeof(T) & (sizeof(T) - 1)) != 0 ||
                       sizeof(T) > 8) {
    with_lock(address, [&] { *address = Add::apply(*address, x); });
  } else if constexpr (sizeof(T) == 8) {
    swap_accumulate<Add, unsigned long long>(address, x);
  } else {
    swap_accumulate<Add, unsigned>(address, x);
  }
}

// Makes entry i of a plane present; true if it was not. `seen`: its presence was read already.
template <class T> SEMIRA_INLINE bool claim_entry(const Plane<T>& out, Index i, bool seen) {
  const unsigned bit = 1u << (static_cast<unsigned>(i) % kWarp);
  // Reading first spares most atomics; the old bit decides who owns the entry.
  return !seen && !(atomicOr(&out.words[static_cast<unsigned>(i) / kWarp], bit) & bit);
}

// The same of several entries where open[b]: all are asked for before the first answer is needed,
// and `meanwhile` is called in between.
template <int kItems, class T, class Meanwhile>
SEMIRA_INLINE void claim_entries(const Plane<T>& out, const Index (&i)[kItems],
    const bool (&open)[kItems], const bool (&seen)[kItems], bool (&fresh)[kItems],
    Meanwhile meanwhile) {
  unsigned old[kItems];
  SEMIRA_UNROLLED(b, kItems) {
    const unsigned place = static_cast<unsigned>(i[b]);
    old[b] = ~0u;
    if (open[b] && !seen[b]) {
      old[b] = atomicOr(&in_global(out.words)[place / kWarp], 1u << (place % kWarp));
    }
  }
  meanwhile();
  SEMIRA_UNROLLED(b, kItems) {
    fresh[b] = !(old[b] >> (static_cast<unsigned>(i[b]) % kWarp) & 1u);
  }
}

// The least or greatest of out.values[i[b]] and x[b] where open[b]; fresh[b] if the entry is new.
//
// The values tell what is there: absent ones are the identity, so presence is claimed where one is
// read, and only there. All are read before the first is compared.
template <class Add, int kItems, class T>
SEMIRA_INLINE void accumulate_extremes(const Plane<T>& out, const Index (&i)[kItems],
    const T (&x)[kItems], const bool (&open)[kItems], bool (&fresh)[kItems]) {
  constexpr bool kLeast = Add::kMethod == Method::kLeast;
  T old[kItems];
  bool seen[kItems];
  SEMIRA_UNROLLED(b, kItems) {
    old[b] = open[b] ? *const_cast<volatile T*>(in_global(out.values) + i[b]) : x[b];
  }
  SEMIRA_UNROLLED(b, kItems) {
    // The identity of floats is a NaN.
    seen[b] = kIsFloat<T> ? old[b] == old[b] : old[b] != Add::identity();
  }
  claim_entries(out, i, open, seen, fresh, [] {});
  SEMIRA_UNROLLED(b, kItems) {
    const bool settled = seen[b] && (kLeast ? old[b] <= x[b] : old[b] >= x[b]);
    // A NaN wins against nothing.
    if (open[b] && !settled && x[b] == x[b]) {
      hardware_extreme<kLeast>(&in_global(out.values)[i[b]], x[b]);
    }
  }
}

// Whether the values of a plane tell which entries it has, so that nobody needs to look before.
template <class Add>
constexpr bool kTellsPresence = Add::kMethod == Method::kLeast || Add::kMethod == Method::kGreatest;

// Adds x[b] to entry i[b] of a plane where open[b], for any monoid but `any`; fresh[b] if the entry
// is new. `seen` says that presence was read already, unless values tell it. Absent entries hold the
// identity, but under a lock the first value is stored as it is: presence changes under the same lock.
//
// All presence is asked for before the first answer is needed, then all values are sent off.
template <class Add, int kItems, class T>
SEMIRA_INLINE void accumulate_entries(const Plane<T>& out, const Index (&i)[kItems],
    const T (&x)[kItems], const bool (&open)[kItems], const bool (&seen)[kItems],
    bool (&fresh)[kItems]) {
  if constexpr (Add::kMethod == Method::kLock) {
    SEMIRA_UNROLLED(b, kItems) {
      fresh[b] = false;
      if (!open[b]) continue;
      with_lock(&out.values[i[b]], [&] {
        fresh[b] = claim_entry(out, i[b], false);
        out.values[i[b]] = fresh[b] ? x[b] : Add::apply(out.values[i[b]], x[b]);
      });
    }
  } else if constexpr (kTellsPresence<Add>) {
    accumulate_extremes<Add>(out, i, x, open, fresh);
  } else {
    claim_entries(out, i, open, seen, fresh, [] {});
    SEMIRA_UNROLLED(b, kItems) {
      if (open[b]) atomic_accumulate<Add>(&out.values[i[b]], x[b], seen[b]);
    }
  }
}
