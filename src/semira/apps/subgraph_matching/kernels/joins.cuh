// Matches of part of a pattern, made longer by one vertex. See joins.py.
#pragma once

template <class P, class I, class V>
struct Graph {
  const P* indptr;
  const I* indices;
  const V* values;
  bool has_values;

  __device__ long long length(long long i) const { return indptr[i + 1] - indptr[i]; }
  __device__ bool is_as_wanted(long long i, long long j, bool needs, bool forbids, V value) const {
    if (!needs && !forbids) return true;
    const long long end = indptr[i + 1];
    const long long at = lower_bound<I, long long>(indices, indptr[i], end, static_cast<I>(j));
    const bool is_there = at < end && indices[at] == j;
    if (forbids) return !is_there;
    return is_there && (!has_values || values[at] == value);
  }
};

template <class L, class V>
struct Kind {
  const L* labels;
  long long label;
  bool has_label;
  long long degree, loop;
  V wanted;

  template <class G>
  __device__ bool fits(const G& graph, long long x) const {
    if (has_label && labels[x] != label) return false;
    if (graph.length(x) < degree) return false;
    return graph.is_as_wanted(x, x, loop == 1, loop == 2, wanted);
  }
};

template <class P, class I, class V, class L>
__device__ void begin(long long n, const P* indptr, const I* indices, const V* values,
                      bool has_values, const L* labels, long long label, bool has_label,
                      long long degree, long long loop, const V* wanted, bool* out) {
  const Graph<P, I, V> graph{indptr, indices, values, has_values};
  const Kind<L, V> kind{labels, label, has_label, degree, loop, wanted[0]};
  const Group<1> mine;
  for (long long x = mine.first; x < n; x += mine.step) out[x] = kind.fits(graph, x);
}

template <class G, class I, class V>
__device__ bool is_match(const G& graph, const I* match, int depth, const long long* rules,
                         const V* wanted, int anchor, bool is_row, long long x) {
  for (int j = 0; j < depth; ++j) {
    const long long y = match[j], rule = rules[j];
    if (x == y || ((rule & 16) && x < y) || ((rule & 32) && x > y)) return false;
    const bool led = j == anchor && !graph.has_values;
    if (!graph.is_as_wanted(x, y, (rule & 1) && !(led && !is_row), rule & 4, wanted[2 * j]) ||
        !graph.is_as_wanted(y, x, (rule & 2) && !(led && is_row), rule & 8, wanted[2 * j + 1])) {
      return false;
    }
  }
  return true;
}

// A warp for each match; its lanes try the neighbours of one vertex.
template <class I, class P, class J, class Q, class K, class V, class L>
__device__ void extend(long long items, long long depth_given, long long n, const I* table,
                       const P* indptr, const J* indices, const Q* columns_ptr, const K* columns,
                       bool has_columns, const V* values, bool has_values, const L* labels,
                       long long label, bool has_label, long long degree, long long loop,
                       const long long* rules, const V* wanted, long long* starts, bool is_writing,
                       I* out) {
  const int depth = static_cast<int>(depth_given);
  const Graph<P, J, V> graph{indptr, indices, values, has_values};
  const Kind<L, V> kind{labels, label, has_label, degree, loop, wanted[2 * depth]};
  const Group<32> mine;
  for (long long i = mine.first; i < items; i += mine.step) {
    const I* match = table + i * depth;
    int anchor = -1;
    bool is_row = true;
    long long length = n, begins = 0;
    for (int j = 0; j < depth; ++j) {
      const long long y = match[j];
      if ((rules[j] & 2) && graph.length(y) < length) {
        begins = indptr[y];
        length = graph.length(y);
        anchor = j;
        is_row = true;
      }
      if (has_columns && (rules[j] & 1) && columns_ptr[y + 1] - columns_ptr[y] < length) {
        begins = columns_ptr[y];
        length = columns_ptr[y + 1] - columns_ptr[y];
        anchor = j;
        is_row = false;
      }
    }
    const long long start = is_writing ? starts[i] : 0;
    long long found = 0;
    for (long long base = 0; base < length; base += 32) {
      const long long p = begins + base + mine.lane;
      long long x = p;
      bool is_found = base + mine.lane < length;
      if (is_found) {
        if (anchor >= 0) {
          x = is_row ? static_cast<long long>(indices[p]) : static_cast<long long>(columns[p]);
        }
        is_found = kind.fits(graph, x) &&
                   is_match(graph, match, depth, rules, wanted, anchor, is_row, x);
      }
      const unsigned who = __ballot_sync(kAllLanes, is_found);
      if (is_writing && is_found) {
        I* row = out + (start + found + __popc(who & ((1u << mine.lane) - 1))) * (depth + 1);
        for (int j = 0; j < depth; ++j) row[j] = match[j];
        row[depth] = static_cast<I>(x);
      }
      found += __popc(who);
    }
    if (!is_writing && mine.lane == 0) starts[i] = found;
  }
}
