// Steps of a diffusion on all vertices, and of a sweep over most of them. See whole.py.
#pragma once

template <class P>
__device__ void take_all(long long items, const P* indptr, double keep, double least,
                         long long* rest, long long* kept, long long* share) {
  const Group<1> mine;
  for (long long v = mine.first; v < items; v += mine.step) {
    const long long degree = indptr[v + 1] - indptr[v];
    long long left = rest[v], part = 0;
    if (degree > 0 && static_cast<double>(left) >= least * static_cast<double>(degree)) {
      const long long stays = min(static_cast<long long>(static_cast<double>(left) * keep), left);
      left -= stays;
      kept[v] += stays;
      part = left / degree;
      rest[v] = left - part * degree;
    }
    share[v] = part;
  }
}

template <class P>
__device__ void slopes_all(long long items, const P* indptr, const long long* sums, const double* y,
                           const double* shared, double alpha, double* slopes) {
  const Group<1> mine;
  for (long long v = mine.first; v < items; v += mine.step) {
    const double degree = static_cast<double>(indptr[v + 1] - indptr[v]);
    double slope = 0;
    if (degree > 0) {
      const double around =
          __dmul_rn(static_cast<double>(sums[v]), 1.734723475976807e-18) / degree;
      slope = __dmul_rn((1.0 + alpha) * 0.5, y[v]) - __dmul_rn((1.0 - alpha) * 0.5, around) -
              shared[v] / degree;
    }
    slopes[v] = slope;
  }
}

__device__ inline void step_all(long long items, const double* slopes, long long steps, bool ends,
                                double threshold, double alpha, double* x, double* y,
                                long long* units) {
  const double beta = (1.0 - sqrt(alpha)) / (1.0 + sqrt(alpha));
  const Group<1> mine;
  for (long long v = mine.first; v < items; v += mine.step) {
    if (ends) {
      y[v] = x[v];
    } else {
      const double z = y[v] - slopes[v];
      const double fresh = z >= threshold ? z - threshold : z <= -threshold ? z + threshold : 0;
      y[v] = steps == 0 ? fresh : fresh + __dmul_rn(beta, fresh - x[v]);
      x[v] = fresh;
    }
    units[v] = static_cast<long long>(__dmul_rn(y[v], 576460752303423488.0));
  }
}

// A warp for each vertex.
template <class V, class P, class I>
__device__ void earlier(long long items, const V* vertices, const P* indptr, const I* indices,
                        const long long* rank, long long bound, long long* found) {
  const Group<32> mine;
  for (long long i = mine.first; i < items; i += mine.step) {
    const long long v = vertices[i], limit = bound > 0 ? bound : i;
    long long count = 0;
    for (P e = indptr[v] + mine.lane; e < indptr[v + 1]; e += 32) {
      count += rank[indices[e]] < limit ? 1 : 0;
    }
    for (int step = 16; step > 0; step /= 2) count += __shfl_xor_sync(kAllLanes, count, step);
    if (mine.lane == 0) found[i] = count;
  }
}
