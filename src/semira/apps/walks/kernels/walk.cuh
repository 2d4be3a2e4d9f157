// Walks: a thread for each walker, which makes all of its moves. See walk.py for what they mean.
#pragma once

// A random number from 0 to 1, 1 excluded.
__device__ __forceinline__ double share(long long draw, long long walker, long long step,
                                        long long seed) {
  return static_cast<double>(philox(draw, walker, step, seed) >> 11) * (1.0 / 9007199254740992.0);
}

// An entry drawn by weight, or -1.
template <class R>
__device__ long long entry_of(long long begin, long long end, const R* running, long long walker,
                              long long step, long long seed, long long draw) {
  using Word = unsigned long long;  // running totals wrap
  const Word base = running[begin], total = static_cast<Word>(running[end]) - base;
  if (total == 0) return -1;
  const Word mark = philox(draw, walker, step, seed, total);
  long long low = begin, high = end - 1;
  while (low < high) {
    const long long middle = (low + high) / 2;
    if (static_cast<Word>(running[middle + 1]) - base > mark) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

template <class I>
__device__ __forceinline__ long long entry_at(long long begin, long long end, const I* indices,
                                              long long vertex) {
  const long long at = lower_bound<I, long long>(indices, begin, end, static_cast<I>(vertex));
  return at < end && indices[at] == vertex ? at : -1;
}

// A warp for each row.
template <class P, class I, class S, class T>
__device__ void best_neighbours(long long items, const P* indptr, const I* indices,
                                const S* scores, T* best) {
  const Group<32> mine;
  for (long long i = mine.first; i < items; i += mine.step) {
    long long found = -1, place = 0;
    double top = 0;
    for (long long p = indptr[i] + mine.lane; p < indptr[i + 1]; p += 32) {
      const double score = scores[indices[p]];
      if (found < 0 || score > top) {
        found = indices[p];
        place = p;
        top = score;
      }
    }
    for (int bits = 16; bits > 0; bits /= 2) {
      const long long other = __shfl_xor_sync(kAllLanes, found, bits);
      const long long where = __shfl_xor_sync(kAllLanes, place, bits);
      const double score = __shfl_xor_sync(kAllLanes, top, bits);
      if (other >= 0 && (found < 0 || score > top || (score == top && where < place))) {
        found = other;
        place = where;
        top = score;
      }
    }
    if (mine.lane == 0) best[i] = static_cast<T>(found);
  }
}

// What a walker leaves: its path or its end, how long it is, what it saw.
template <class T, class L, class N>
struct Trail {
  T* out;
  L* lengths;
  N* seen;
  long long length;
  bool keep;
  __device__ void mark(long long i, long long step, long long at) const {
    if (keep) out[i * length + step] = static_cast<T>(at);
  }
  __device__ void end(long long i, long long made, long long at, long long met) const {
    if (keep) {
      for (long long step = made; step < length; ++step) out[i * length + step] = -1;
    } else {
      out[i] = static_cast<T>(at);
    }
    lengths[i] = static_cast<L>(made);
    seen[i] = met;
  }
};

template <class S, class P, class I, class R, class B, class T, class L, class N>
__device__ void walk(long long items, long long first, long long length, const S* starts,
                     long long num_starts, const P* indptr, const I* indices, const R* running,
                     const B* best, long long mode, bool fallback, double restart, long long seed,
                     bool keep, T* out, L* lengths, N* seen) {
  const Trail<T, L, N> trail{out, lengths, seen, length, keep};
  const Group<1> mine;
  for (long long i = mine.first; i < items; i += mine.step) {
    const long long walker = first + i, home = starts[walker % num_starts];
    long long at = home, met = 0, step = 1;
    trail.mark(i, 0, at);
    for (; step < length; ++step) {
      long long begin = indptr[at], chosen = -1;
      const long long end = indptr[at + 1];
      const bool returns = restart > 0 && share(1ll << 40, walker, step, seed) < restart;
      if (!returns && end > begin) {
        if (mode == 1) {
          chosen = entry_of(begin, end, running, walker, step, seed, 0);
          if (chosen < 0 && !fallback) begin = end;
        }
        if (begin < end) {
          met += end - begin;
          if (mode == 2) {
            at = best[at];
            chosen = begin;
          } else {
            if (chosen < 0) {
              chosen = begin + static_cast<long long>(philox(0, walker, step, seed, end - begin));
            }
            at = indices[chosen];
          }
        }
      }
      if (chosen < 0) {
        if (restart == 0) break;
        at = home;
      }
      trail.mark(i, step, at);
    }
    trail.end(i, step, at, met);
  }
}

template <class S, class P, class I, class R, class T, class L, class N>
__device__ void node2vec(long long items, long long first, long long length, const S* starts,
                         long long num_starts, const P* indptr, const I* indices, const R* running,
                         bool weighted, double to_last, double far, double restart, long long seed,
                         bool keep, T* out, L* lengths, N* seen) {
  using Word = unsigned long long;
  const Trail<T, L, N> trail{out, lengths, seen, length, keep};
  const double most = far > 1.0 ? far : 1.0;
  const Group<1> mine;
  for (long long i = mine.first; i < items; i += mine.step) {
    const long long walker = first + i, home = starts[walker % num_starts];
    long long at = home, last = -1, met = 0, step = 1;
    trail.mark(i, 0, at);
    for (; step < length; ++step) {
      const long long begin = indptr[at], end = indptr[at + 1];
      const long long total =
          weighted ? static_cast<long long>(static_cast<Word>(running[end]) - running[begin])
                   : end - begin;
      const bool returns = restart > 0 && share(1ll << 40, walker, step, seed) < restart;
      if (returns || total == 0) {
        if (restart == 0) break;
        at = home;
        last = -1;
      } else {
        met += end - begin;
        // No sum of products may be contracted: other devices round twice.
        const double body = __dmul_rn(static_cast<double>(total), most);
        double extra = 0;
        if (last >= 0 && to_last > most) {
          const long long place = entry_at(begin, end, indices, last);
          if (place >= 0) {
            const long long weight =
                weighted
                    ? static_cast<long long>(static_cast<Word>(running[place + 1]) - running[place])
                    : 1;
            extra = __dmul_rn(static_cast<double>(weight), to_last - most);
          }
        }
        const double area = body + extra;
        long long target = -1;
        for (long long draw = 0; target < 0; draw += 1024) {
          if (extra > 0 && __dmul_rn(share(draw + 256, walker, step, seed), area) >= body) {
            target = last;
            continue;
          }
          const long long chosen =
              weighted ? entry_of(begin, end, running, walker, step, seed, draw)
                       : begin + static_cast<long long>(philox(draw, walker, step, seed, total));
          const long long tried = indices[chosen];
          if (last < 0) {
            target = tried;
            continue;
          }
          const double height = __dmul_rn(share(draw + 512, walker, step, seed), most);
          bool taken;
          if (tried == last) {
            taken = height < to_last;
          } else if ((height < 1.0) == (height < far)) {
            taken = height < far;
          } else {
            const bool near = entry_at(indptr[last], indptr[last + 1], indices, tried) >= 0;
            taken = near == (height < 1.0);
          }
          if (taken) target = tried;
        }
        last = at;
        at = target;
      }
      trail.mark(i, step, at);
    }
    trail.end(i, step, at, met);
  }
}

template <class P, class I, class S, class T, class N>
__device__ void false_moves(long long items, long long length, const P* indptr, const I* indices,
                            const S* homes, long long num_starts, bool returns, const T* paths,
                            N* out) {
  const Group<1> mine;
  for (long long i = mine.first; i < items; i += mine.step) {
    long long wrong = 0;
    for (long long step = 1; step < length; ++step) {
      const long long a = paths[i * length + step - 1], b = paths[i * length + step];
      if (b < 0) continue;
      const bool right = a >= 0 && (entry_at(indptr[a], indptr[a + 1], indices, b) >= 0 ||
                                    (returns && b == homes[i % num_starts]));
      wrong += right ? 0 : 1;
    }
    out[i] = wrong;
  }
}
