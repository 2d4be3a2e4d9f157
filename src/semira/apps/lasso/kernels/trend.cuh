// Steps of both solvers of the fused lasso. See trend.py.
#pragma once

namespace lasso {

// Threads of a row, and rows that they take at once.
constexpr int kLanes = 2, kRows = 2;

__device__ __forceinline__ double soft(double x, double threshold) {
  return x > threshold ? x - threshold : x < -threshold ? x + threshold : 0.0;
}

// Adds what the lanes of a row hold, in their order, as a host does.
__device__ __forceinline__ void add_in_turn(double& total, double own) {
  const unsigned group = ((1u << kLanes) - 1) << (threadIdx.x % 32 / kLanes * kLanes);
#pragma unroll
  for (int lane = 0; lane < kLanes; ++lane) total += __shfl_sync(group, own, lane, kLanes);
}

// What other threads join meanwhile is found here or there: see `join`.
template <class K>
__device__ __forceinline__ K root_of(K* key, K v) {
  volatile K* keys = key;
  for (K up = keys[v]; up != v; up = keys[v]) {
    const K above = keys[up];
    if (above != up) keys[v] = above;
    v = above;
  }
  return v;
}

// Vertices of a part often lie together: a warp of one part adds up first. -1 is no part.
__device__ __forceinline__ void add_up(long long part, long long total, long long* sums,
                                       long long* counts) {
  long long count = part >= 0 ? 1 : 0;
  const long long first = __shfl_sync(kAllLanes, part, 0);
  if (__all_sync(kAllLanes, part == first)) {
    if (first < 0) return;
    for (int step = 16; step > 0; step /= 2) {
      total += __shfl_xor_sync(kAllLanes, total, step);
      count += __shfl_xor_sync(kAllLanes, count, step);
    }
    if (threadIdx.x % 32 != 0) return;
  }
  if (part < 0) return;
  atomic_add(&sums[part], total);
  atomic_add(&counts[part], count);
}

}  // namespace lasso

template <class A, class K>
__device__ void tally(long long items, const A* active, const K* key, const long long* rest,
                      long long* sums, long long* counts) {
  const Group<1> mine;
  const long long lane = threadIdx.x % 32;
  for (long long i = mine.first - lane; i < items; i += mine.step) {
    const long long v = i + lane;
    const bool counts_in = v < items && active[v] != 0;
    lasso::add_up(counts_in ? static_cast<long long>(key[v]) : -1, counts_in ? rest[v] : 0, sums,
                  counts);
  }
}

template <class P, class I, class A, class K, class C>
__device__ void close_arcs(long long items, const P* indptr, const I* indices, const A* active,
                           const K* key, const long long* capacity, long long* room, C* closed,
                           long long* flow) {
  const Group<1> mine;
  for (long long v = mine.first; v < items; v += mine.step) {
    if (active[v] == 0) continue;
    for (P e = indptr[v]; e < indptr[v + 1]; ++e) {
      const I w = indices[e];
      if (active[w] == 0 || key[w] == key[v] || closed[e] != 0) continue;
      closed[e] = 1;
      flow[e] = capacity[e] - room[e];
      room[e] = 0;
    }
  }
}

template <class K, class F, class A>
__device__ void shift(long long items, K* key, const long long* means, const F* fresh, A* active,
                      long long* rest, long long* value) {
  const Group<1> mine;
  for (long long v = mine.first; v < items; v += mine.step) {
    if (active[v] == 0) continue;
    const K part = key[v];
    if (fresh[part] < 0) {
      active[v] = 0;
      rest[v] = 0;
    } else {
      value[v] += means[part];
      rest[v] -= means[part];
      key[v] = static_cast<K>(fresh[part]);
    }
  }
}

template <class P, class C>
__device__ void carried(long long items, const P* indptr, const long long* capacity,
                        const long long* room, const C* closed, const double* limit, double unit,
                        double* flow, const long long* units) {
  const Group<1> mine;
  for (long long v = mine.first; v < items; v += mine.step) {
    for (P e = indptr[v]; e < indptr[v + 1]; ++e) {
      const long long sent = closed[e] != 0 ? units[e] : capacity[e] - room[e];
      flow[e] = fmax(fmin(static_cast<double>(sent) * unit, limit[e]), -limit[e]);
    }
  }
}

// The reads of several rows are on their way at once, and where the next ones lie.
template <class P, class I>
__device__ void step(long long items, long long n, long long arcs, const P* indptr,
                     const I* indices, const double* limit, long long varies, const int* degree,
                     const double* lengths, const double* y, double threshold, double* x,
                     double* flow, const double* betas, long long at) {
  using namespace lasso;
  const Group<kLanes> mine;
  const long long here = at % 2, there = 1 - here;
  const double beta = betas[at], later = betas[at + 1];
  const double *values = x + here * n, *now = flow + here * arcs;
  double* other = flow + there * arcs;
  P next[kRows], end[kRows];
#pragma unroll
  for (int k = 0; k < kRows; ++k) {
    const long long v = mine.first + k * mine.step;
    next[k] = v < items ? indptr[v] : 0;
    end[k] = v < items ? indptr[v + 1] : 0;
  }
  for (long long first = mine.first; first < items; first += kRows * mine.step) {
    P e[kRows], last[kRows];
    int size[kRows];
    double own[kRows], given[kRows], total[kRows] = {};
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      const long long v = first + k * mine.step, after = v + kRows * mine.step;
      e[k] = next[k];
      last[k] = end[k];
      size[k] = static_cast<int>(last[k] - e[k]);
      own[k] = v < items ? values[v] : 0;
      given[k] = v < items ? y[v] : 0;
      next[k] = after < items ? indptr[after] : 0;
      end[k] = after < items ? indptr[after + 1] : 0;
    }
    bool goes_on = true;
    while (goes_on) {
      goes_on = false;
      I w[kRows] = {};
      double old[kRows] = {}, before[kRows] = {}, most[kRows] = {}, value[kRows], length[kRows];
#pragma unroll
      for (int k = 0; k < kRows; ++k) {
        const P arc = e[k] + mine.lane;
        if (arc >= last[k]) continue;
        w[k] = indices[arc];
        old[k] = now[arc];
        before[k] = other[arc];
        most[k] = limit[arc * varies];
      }
#pragma unroll
      for (int k = 0; k < kRows; ++k) {
        value[k] = values[w[k]];
        length[k] = lengths[size[k] + degree[w[k]]];
      }
#pragma unroll
      for (int k = 0; k < kRows; ++k) {
        const P arc = e[k] + mine.lane;
        double left = 0;
        if (arc < last[k]) {
          double fresh = old[k] + __dmul_rn(beta, old[k] - before[k]) +
                         __dmul_rn(own[k] - value[k], length[k]);
          fresh = fmax(fmin(fresh, most[k]), -most[k]);
          other[arc] = fresh;
          left = fresh + __dmul_rn(later, fresh - old[k]);
        }
        add_in_turn(total[k], left);
        e[k] += kLanes;
        goes_on |= e[k] < last[k];
      }
    }
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      const long long v = first + k * mine.step;
      if (mine.lane == 0 && v < items) x[there * n + v] = soft(given[k] - total[k], threshold);
    }
  }
}

template <class P, class K>
__device__ void settle(long long items, const P* indptr, const double* flow, const double* y,
                       double threshold, double* rest, double* fits, K* key,
                       long long* sums, long long* counts, const long long* state,
                       long long often) {
  using namespace lasso;
  if (state[1] % often != 0) return;
  const Group<kLanes> mine;
  for (long long v = mine.first; v < items; v += mine.step) {
    const P last = indptr[v + 1];
    double total = 0;
    for (P first = indptr[v]; first < last; first += kLanes) {
      add_in_turn(total, first + mine.lane < last ? flow[first + mine.lane] : 0);
    }
    if (mine.lane != 0) continue;
    const double left = y[v] - total;
    rest[v] = fmax(fmin(left, 1.0), -1.0);
    fits[v] = soft(left, threshold);
    key[v] = static_cast<K>(v);
    sums[v] = 0;
    counts[v] = 0;
  }
}

// A root is joined to a lesser one by the minimum of both. If it was none any more, what it was
// joined to meanwhile is to be joined as well.
template <class P, class I, class K>
__device__ void join(long long items, const P* indptr, const I* indices, const double* limit,
                     long long varies, const double* flow, K* key, const long long* state,
                     long long often) {
  using namespace lasso;
  if (state[1] % often != 0) return;
  const Group<kLanes> mine;
  for (long long v = mine.first; v < items; v += mine.step) {
    const P last = indptr[v + 1];
    for (P e = indptr[v] + mine.lane; e < last; e += kLanes) {
      const I w = indices[e];
      if (w >= v || fabs(flow[e]) >= limit[e * varies]) continue;
      K a = root_of(key, static_cast<K>(w)), b = root_of(key, static_cast<K>(v));
      while (a != b) {
        const K less = a < b ? a : b, more = a < b ? b : a;
        const K old = atomicMin(&key[more], less);
        b = old == more ? less : root_of(key, old);
        a = root_of(key, less);
      }
    }
  }
}

template <class K>
__device__ void gather(long long items, double scale, const double* rest, K* key, K* parts,
                       long long* sums, long long* counts, const long long* state,
                       long long often) {
  using namespace lasso;
  if (state[1] % often != 0) return;
  const Group<1> mine;
  const long long lane = threadIdx.x % 32;
  for (long long i = mine.first - lane; i < items; i += mine.step) {
    const long long v = i + lane;
    long long part = -1, units = 0;
    if (v < items) {
      const K root = root_of(key, static_cast<K>(v));
      parts[v] = root;
      part = root;
      units = static_cast<long long>(floor(__dmul_rn(rest[v], scale) + 0.5));
    }
    add_up(part, units, sums, counts);
  }
}

template <class K>
__device__ void level(long long items, long long n, double scale, double threshold, const K* parts,
                      const long long* sums, const long long* counts, double* fits,
                      const long long* state, long long often) {
  if (state[1] % often != 0) return;
  const Group<1> mine;
  for (long long v = mine.first; v < items; v += mine.step) {
    const K part = parts[v];
    const double mean = static_cast<double>(sums[part]) / static_cast<double>(counts[part]);
    fits[n + v] = lasso::soft(mean / scale, threshold);
  }
}

// A thread sums a range of vertices: the order is the same on every device.
template <class P, class I>
__device__ void energies(long long items, long long n, long long count, const P* indptr,
                         const I* indices, const double* limit, long long varies,
                         const double* flow, const double* y, double threshold,
                         const double* fits, double* parts, const long long* state,
                         long long often) {
  using namespace lasso;
  if (state[1] % often != 0) return;
  const Group<1> mine;
  for (long long part = mine.first; part < items; part += mine.step) {
    double objective[2] = {0, 0}, gap[2] = {0, 0};
    for (long long v = part * n / count; v < (part + 1) * n / count; ++v) {
      double total = 0, jumps[2] = {0, 0};
      const double x[2] = {fits[v], fits[n + v]};
      for (P e = indptr[v]; e < indptr[v + 1]; ++e) {
        const I w = indices[e];
        const double most = limit[e * varies];
        total += flow[e];
        jumps[0] += __dmul_rn(most, fabs(x[0] - fits[w]));
        jumps[1] += __dmul_rn(most, fabs(x[1] - fits[n + w]));
      }
      const double drawn = soft(y[v] - total, threshold);
      const double dual = __dmul_rn(0.5, __dmul_rn(y[v], y[v]) - __dmul_rn(drawn, drawn));
      for (int fit = 0; fit < 2; ++fit) {
        const double off = x[fit] - y[v];
        const double own = __dmul_rn(__dmul_rn(0.5, off), off) +
                           __dmul_rn(threshold, fabs(x[fit])) + __dmul_rn(0.5, jumps[fit]);
        objective[fit] += own;
        gap[fit] += own - dual;
      }
    }
    for (int fit = 0; fit < 2; ++fit) {
      parts[4 * part + 2 * fit] = objective[fit];
      parts[4 * part + 2 * fit + 1] = gap[fit];
    }
  }
}

__device__ inline void fold(long long items, long long count, long long groups,
                            const double* parts, double* folded, const long long* state,
                            long long often) {
  if (state[1] % often != 0) return;
  const Group<1> mine;
  for (long long at = mine.first; at < items; at += mine.step) {
    const long long group = at / 4;
    double total = 0;
    for (long long part = group * count / groups; part < (group + 1) * count / groups; ++part) {
      total += parts[4 * part + at % 4];
    }
    folded[at] = total;
  }
}

__device__ inline void judge(long long items, long long groups, const double* folded,
                             long long* state, double* pace, double* betas, long long steps,
                             long long often, long long most, double tolerance) {
  const Group<1> mine;
  if (mine.first >= items) return;
  if (state[1] % often == 0) {
    double sums[4] = {0, 0, 0, 0};
    for (long long at = 0; at < groups; ++at) {
      for (int kind = 0; kind < 4; ++kind) sums[kind] += folded[4 * at + kind];
    }
    const double dual = sums[0] - sums[1];
    const int better = sums[2] < sums[0] ? 1 : 0;
    const double objective = sums[2 * better], gap = sums[2 * better + 1];
    state[2] = better;
    pace[1] = objective;
    pace[2] = gap;
    if (gap <= __dmul_rn(tolerance, objective) || state[1] >= most) state[0] = 1;
    if (dual < pace[3]) {
      pace[0] = 1;
      ++state[3];
    }
    pace[3] = dual;
  }
  betas[0] = betas[steps];
  for (long long at = 0; at < steps; ++at) {
    const double t = pace[0];
    const double after = __dmul_rn(0.5, 1.0 + sqrt(1.0 + __dmul_rn(__dmul_rn(4.0, t), t)));
    betas[at + 1] = (t - 1.0) / after;
    pace[0] = after;
  }
  state[1] += steps;
}
