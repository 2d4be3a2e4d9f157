// Stripes: neighbouring entries of a matrix, a few a lane, that a warp multiplies and adds up
// together, whichever of 32 rows they belong to.
//
// Columns come in one load a lane, all values of the vector are asked for before the first is
// used, and sums are made by a segmented scan: within the lane, then over the lanes. Each row
// fetches its sum from where its last entry is. A row that covers a stripe is added up lane by
// lane until it ends.
#pragma once
#include "common/pack.cuh"
#include "vxm/pull.cuh"

// Sums and products take the registers here: the matrix stays in shared memory.
template <class Semiring, class U, class A>
using SharedGather = Gather<Semiring, U, A, const Compressed<A>&>;

// Neighbouring entries of a lane: few where values are large, which leaves the others registers.
template <class T> constexpr int kLaneItems = sizeof(T) <= 8 ? 4 : 2;

// Columns are read once and leave L1 to the values of the vector.
SEMIRA_INLINE Pack<int, 4> load_once(const Pack<int, 4>* place) {
  Pack<int, 4> p;
  asm("ld.global.nc.L1::no_allocate.v4.s32 {%0, %1, %2, %3}, [%4];"
      : "=r"(p.items[0]), "=r"(p.items[1]), "=r"(p.items[2]), "=r"(p.items[3])
      : "l"(place));
  return p;
}
template <class V, int kItems>
SEMIRA_INLINE Pack<V, kItems> load_once(const Pack<V, kItems>* place) {
  return *in_global(place);
}

// Elements array[0], array[1], ...: together if all are there and aligned, else the first `count`.
template <int kItems, class V>
SEMIRA_INLINE void load_items(const V* array, bool together, int count, V (&items)[kItems]) {
  if (together) {
    const auto pack = load_once(reinterpret_cast<const Pack<V, kItems>*>(array));
    SEMIRA_UNROLLED(k, kItems) items[k] = pack.items[k];
  } else {
    SEMIRA_UNROLLED(k, kItems) items[k] = k < count ? in_global(array)[k] : V{};
  }
}

// Lane whose share of the warp's items holds item `e`, given where each lane's share ends.
SEMIRA_INLINE int owner_of(int e, int running) {
  int owner = 0;
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) {
    if (__shfl_sync(kAllLanes, running, owner + step - 1) <= e) owner += step;
  }
  return owner;
}

// left + right, where `left` is there and `right` may be missing.
template <class Add>
SEMIRA_INLINE typename Add::T joined(typename Add::T left, bool has_right, typename Add::T right) {
  return has_right ? Add::apply(left, right) : left;
}

// 32 rows, one a lane, and where the stripe in hand lies. Entries are counted from `origin` on,
// which is a multiple of the entries of a lane, so that every lane's lie at one.
struct Rows {
  Offset origin;
  int whole;       // entries that may be loaded together end here
  Index first;     // row of lane 0
  int begin, end;  // entries of this lane's row
  bool live;       // the row has entries and is wanted
  int lane;

  // Bit k: a row begins at entry k of this lane, in the stripe from `base` on.
  template <int kItems> SEMIRA_INLINE unsigned heads(int base, int low, int stop) const {
    constexpr int kLanes = kWarp / kItems;
    const bool begins = live && begin >= low && begin < stop;
    const int place = begin - base;
    const unsigned bit = begins ? 1u << (place % kWarp) : 0u;
    unsigned mine = 0;
    SEMIRA_UNROLLED(j, kItems) {
      const unsigned word = __reduce_or_sync(kAllLanes, place / kWarp == j ? bit : 0u);
      if (lane / kLanes == j) mine = word;
    }
    return mine >> (lane % kLanes * kItems) & ((1u << kItems) - 1);
  }
};

// Dynamic shared memory, and its size.
SEMIRA_INLINE unsigned char* shared_table() {
  extern __shared__ __align__(16) unsigned char semira_dynamic[];
  return semira_dynamic;
}
SEMIRA_INLINE unsigned shared_table_bytes() {
  unsigned bytes;
  asm("mov.u32 %0, %dynamic_smem_size;" : "=r"(bytes));
  return bytes;
}

// What a stripe reads of the vector. With kHot a column may name a value in a table of shared memory
// (the variant `hot_columns` of a pull).
template <bool kHot, class U> struct StripeSource;

// Where no column is hot: columns as they are.
template <class U> struct StripeSource<false, U> {
  const unsigned* present;
  const U* u;

  template <class A>
  SEMIRA_INLINE StripeSource(const unsigned* p, const U* v, const Compressed<A>&)
      : present(p), u(v) {}

  static SEMIRA_INLINE unsigned place(Index column) { return static_cast<unsigned>(column); }
  SEMIRA_INLINE U value(Index column) const { return in_global(u)[column]; }
  SEMIRA_INLINE unsigned word(Index column) const {
    return in_global(present)[place(column) / kWarp];
  }
};

// Columns as the walk reads them: the hot ones negative, if it knows them.
template <bool kHot, class A> SEMIRA_INLINE const Index* columns_of(const Compressed<A>& matrix) {
  return kHot ? matrix.coded : matrix.indices;
}

// The products of this lane's entries low <= e < stop of the stripe from `base` on; returns a bit
// for each that there is. All lanes load, position 0 where they have nothing to do, so that the
// loads of all entries follow one another without a branch. With kHot the table of hot columns is
// in shared memory.
template <bool kOwners, bool kHot, int kItems, class Semiring, class U, class A>
SEMIRA_INLINE unsigned multiply_stripe(const SharedGather<Semiring, U, A>& gather, const Rows& rows,
    int base, int low, int stop, SumOf<Semiring> (&z)[kItems]) {
  using T = SumOf<Semiring>;
  const Compressed<A>& matrix = gather.matrix;
  const StripeSource<kHot, U> source(gather.present, gather.u, matrix);
  const int first = base + kItems * rows.lane;
  const Offset at = rows.origin + first;
  const bool together = base + kItems * kWarp <= rows.whole;
  Index column[kItems], row[kItems] = {};
  bool hit[kItems];
  load_items(columns_of<kHot>(matrix) + at, together, stop - first, column);
  A a[kItems] = {};
  if constexpr (kReadsMatrix<Semiring>) {
    if (matrix.value_stride == 0) {
      SEMIRA_UNROLLED(k, kItems) a[k] = in_global(matrix.values)[0];
    } else {
      load_items(matrix.values + at, together, stop - first, a);
    }
  }
  SEMIRA_UNROLLED(k, kItems) {
    hit[k] = first + k >= low && first + k < stop;
    if (!hit[k]) column[k] = 0;
    if constexpr (kOwners) {
      row[k] = rows.first + owner_of(first + k < stop ? first + k : stop - 1, rows.end);
    }
  }
  if (gather.present != nullptr) {
    unsigned word[kItems];
    SEMIRA_UNROLLED(k, kItems) word[k] = source.word(column[k]);
    SEMIRA_UNROLLED(k, kItems) {
      hit[k] = hit[k] && (word[k] >> (source.place(column[k]) % kWarp) & 1u);
      if (!hit[k]) column[k] = 0;
    }
  }
  U x[kItems] = {};
  if constexpr (kReadsU<Semiring>) {
    SEMIRA_UNROLLED(k, kItems) x[k] = source.value(column[k]);
  }
  unsigned hits = 0;
  SEMIRA_UNROLLED(k, kItems) {
    z[k] = T{};
    if (hit[k]) z[k] = multiply_values<Semiring>(x[k], a[k], column[k], row[k]);
    hits |= hit[k] ? 1u << k : 0u;
  }
  return hits;
}

// `tail` of each lane becomes the sum of those of the lanes from `start` on; `tails` has a bit for
// each that there is. Without kGaps there are all.
template <bool kGaps, class Add>
SEMIRA_INLINE void add_tails(int lane, int start, typename Add::T& tail, unsigned& tails) {
#pragma unroll
  for (int step = 1; step < kWarp; step *= 2) {
    const int other = lane >= step ? lane - step : lane;
    const typename Add::T left = shuffle(tail, other);
    const bool joins = lane - step >= start && (tails >> other & 1u);
    if (joins) tail = joined<Add>(left, tails >> lane & 1u, tail);
    if constexpr (kGaps) tails |= __ballot_sync(kAllLanes, joins);
  }
}

// Adds up the products of a stripe that more than one row has a part of; each row that ends here
// gets its sum. `z` becomes the sums since the last beginning of a row, `hits` says which of them
// there are: with kGaps some may be missing.
template <bool kGaps, class Add, int kItems>
SEMIRA_INLINE void add_stripe(const Rows& rows, int base, int low, int stop,
    typename Add::T (&z)[kItems], unsigned& hits, Partial<Add>& sum) {
  using T = typename Add::T;
  const int lane = rows.lane;
  const unsigned heads = rows.heads<kItems>(base, low, stop);
  if constexpr (!kGaps) hits = (1u << kItems) - 1;
#pragma unroll
  for (int k = 1; k < kItems; ++k) {
    if ((heads >> k & 1u) || !(hits >> (k - 1) & 1u)) continue;
    z[k] = joined<Add>(z[k - 1], hits >> k & 1u, z[k]);
    hits |= 1u << k;
  }
  // Over the lanes: what each one's last row has from the lane on in which it began.
  const unsigned with_head = __ballot_sync(kAllLanes, heads != 0);
  const unsigned before = with_head & (kAllLanes >> (kWarp - 1 - lane));
  const int start = before == 0 ? 0 : kWarp - 1 - __clz(before);
  unsigned tails = kAllLanes;
  if constexpr (kGaps) tails = __ballot_sync(kAllLanes, hits >> (kItems - 1) & 1u);
  T tail = z[kItems - 1];
  add_tails<kGaps, Add>(lane, start, tail, tails);
  const int left = lane > 0 ? lane - 1 : 0;
  const T carry = shuffle(tail, left);
  if (lane > 0 && (tails >> left & 1u)) {
    SEMIRA_UNROLLED(k, kItems) {
      if (heads & ((2u << k) - 1)) continue;
      z[k] = joined<Add>(carry, hits >> k & 1u, z[k]);
      hits |= 1u << k;
    }
  }
  const bool ends = rows.live && rows.end > low && rows.end <= stop;
  const int at = ends ? rows.end - 1 - base : 0;
  const int source = at / kItems;
  T total = shuffle(z[0], source);
#pragma unroll
  for (int k = 1; k < kItems; ++k) {
    const T other = shuffle(z[k], source);
    if (at % kItems == k) total = other;
  }
  bool has = true;
  if constexpr (kGaps) has = __shfl_sync(kAllLanes, hits, source) >> (at % kItems) & 1u;
  if (ends) sum = Partial<Add>{total, has};
}

// Sums 32 rows, whose entries begin at `from`; each lane gets its row's. With kMasked not every
// row is live, with kOwners the multiplication may ask for the row it belongs to.
template <bool kMasked, bool kOwners, bool kHot, class Semiring, class U, class A>
SEMIRA_INLINE Partial<typename Semiring::Add> sum_rows(
    const SharedGather<Semiring, U, A>& gather, const Rows& rows, int from) {
  using Add = typename Semiring::Add;
  using T = typename Add::T;
  constexpr int kItems = kLaneItems<T>, kStripe = kItems * kWarp;
  const int upto = __shfl_sync(kAllLanes, rows.end, kWarp - 1);
  // `hub` is what earlier stripes have of the row that goes on here, shared out over the lanes.
  Partial<Add> sum{T{}, false}, hub{T{}, false};
  bool goes_on = false;
  for (int base = upto > from ? from - from % kItems : upto; base < upto; base += kStripe) {
    int low = base > from ? base : from;
    int stop = base + kStripe < upto ? base + kStripe : upto;
    const unsigned here =
        __ballot_sync(kAllLanes, rows.live && rows.end > low && rows.begin < stop);
    if (kMasked && here == 0) continue;
    const int first = __ffs(here) - 1;
    const int first_end = __shfl_sync(kAllLanes, rows.end, first);
    if constexpr (kMasked) {
      // Nothing is asked for before the first and behind the last row that is wanted.
      const int first_begin = __shfl_sync(kAllLanes, rows.begin, first);
      const int last_end = __shfl_sync(kAllLanes, rows.end, kWarp - 1 - __clz(here));
      low = low > first_begin ? low : first_begin;
      stop = stop < last_end ? stop : last_end;
    }
    T z[kItems];
    unsigned hits = multiply_stripe<kOwners, kHot>(gather, rows, base, low, stop, z);
    if (first_end >= stop) {
      SEMIRA_UNROLLED(k, kItems) {
        if (hits >> k & 1u) hub.add(z[k]);
      }
      goes_on = first_end > stop;
      if (!goes_on) {
        add_over_lanes(hub);
        if (rows.lane == first) sum = hub;
        hub = Partial<Add>{T{}, false};
      }
      continue;
    }
    if (goes_on) {
      add_over_lanes(hub);
      if (rows.lane == 0 && hub.has) {
        z[0] = joined<Add>(hub.value, hits & 1u, z[0]);
        hits |= 1u;
      }
    }
    if (gather.present == nullptr) {
      add_stripe<false, Add>(rows, base, low, stop, z, hits, sum);
    } else {
      add_stripe<true, Add>(rows, base, low, stop, z, hits, sum);
    }
    goes_on = __any_sync(kAllLanes, rows.live && rows.begin < stop && rows.end > stop);
    const bool is_last = goes_on && rows.lane == kWarp - 1;
    hub = Partial<Add>{z[kItems - 1], is_last && (hits >> (kItems - 1) & 1u)};
  }
  return sum;
}
