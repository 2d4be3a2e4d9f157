// Statements that write where positions point: assign to a region, scatter, and copies for both.
#pragma once
#include "common/atomics.cuh"
#include "common/control.cuh"
#include "ewise/cells.cuh"
#include "reduce/reduce.cuh"
#include "region/sources.cuh"

// Writes a source to a plane, every word of it: for a source that also reads what is written.
template <class Source, class Out>
SEMIRA_PHASE void fill_plane(
    const Team& team, const Source source, const Plane<Out> plane, unsigned size) {
  const unsigned num_words = (size + kWarp - 1) / kWarp;
  for (unsigned w = team.warp; w < num_words; w += team.warps) {
    const unsigned place = w * kWarp + team.lane;
    typename Source::Value z{};
    const bool got = place < size && source.get(static_cast<Index>(place), z);
    if (got) plane.values[place] = cast<Out>(z);
    const unsigned word = __ballot_sync(kAllLanes, got);
    if (team.lane == 0) plane.words[w] = word;
  }
}

// out[region]<mask> accum= source. No position stands in the region twice. With kSubmask the
// mask counts positions inside the region; else kReplace is the business of a later phase.
template <class Accum, bool kReplace, bool kSubmask, class RegionT, class Source, class Out,
    class MaskT>
SEMIRA_PHASE void assign_region(const Team& team, const RegionT region, const Source source,
    const Vector<Out>& out, const MaskT mask, Counters* counters) {
  const Plane<Out> plane = out.here;
  Count inserted = 0, deleted = 0;
  for (unsigned k = team.thread; k < region.count; k += team.threads) {
    const Index i = region.at(k), inside = region.rank(k);
    const bool had = plane.has(i);
    bool stays = had;
    if (!mask.allows(kSubmask ? inside : i)) {
      stays = had && !(kReplace && kSubmask);
    } else {
      typename Source::Value z{};
      const bool got = source.get(inside, z);
      if constexpr (Accum::kAccumulates) {
        if (got && had) {
          using T = typename Accum::T;
          plane.values[i] = cast<Out>(Accum::apply(cast<T>(plane.values[i]), cast<T>(z), i, 0, 0));
        } else if (got) {
          plane.values[i] = cast<Out>(z);
        }
        stays = had || got;
      } else {
        if (got) plane.values[i] = cast<Out>(z);
        stays = got;
      }
    }
    if (stays == had) continue;
    const unsigned bit = 1u << (static_cast<unsigned>(i) % kWarp);
    unsigned* word = &plane.words[static_cast<unsigned>(i) / kWarp];
    if (stays) {
      atomicOr(word, bit);
      ++inserted;
    } else {
      atomicAnd(word, ~bit);
      ++deleted;
    }
  }
  add_over_block<2>({inserted, deleted}, {&counters->inserted, &counters->deleted});
}

// Lanes of a warp with the same target from which on they add up among themselves first, and how
// many targets are looked at.
constexpr int kCrowd = 4, kTargets = 4;

// Adds up what the lanes of `sent` send to the same target, for a few of the targets: the first
// lane of such a crowd gets the sum, and the others send nothing. Returns who still sends.
template <class Add>
SEMIRA_INLINE bool join_crowds(unsigned sent, bool sends, Index to, typename Add::T& x) {
  const int lane = static_cast<int>(threadIdx.x % kWarp);
#pragma unroll
  for (int k = 0; k < kTargets && sent != 0; ++k) {
    const int first = __ffs(sent) - 1;
    const Index target = __shfl_sync(kAllLanes, to, first);
    const unsigned crowd = __ballot_sync(kAllLanes, to == target) & sent;
    sent &= ~crowd;
    if (__popc(crowd) < kCrowd) continue;
    const bool is_in = crowd >> lane & 1u;
    Partial<Add> sum{x, is_in};
    add_over_lanes(sum);
    if (lane == first) {
      x = sum.value;
    } else if (is_in) {
      sends = false;
    }
  }
  return sends;
}

// plane[to] (+)= x for the lanes that send, while others do the same. `whole`: the plane has every
// entry, and x is compared with what is there first, for most values are no better.
template <class Add, bool kCrowds>
SEMIRA_INLINE void send_value(
    const Plane<typename Add::T>& plane, bool whole, bool sends, Index to, typename Add::T x) {
  using T = typename Add::T;
  if (whole && sends) {
    const T old = *const_cast<volatile T*>(&plane.values[to]);
    sends = !(Add::kMethod == Method::kLeast ? old <= x : old >= x);
  }
  if constexpr (kCrowds) {
    const unsigned sent = __ballot_sync(kAllLanes, sends);
    if (sent == 0) return;
    sends = join_crowds<Add>(sent, sends, to, x);
  }
  if (!sends) return;
  if (!whole) claim_entry(plane, to, plane.has(to));
  atomic_accumulate<Add>(&plane.values[to], x, false);
}

// The same for one position, to the place that its index names; all lanes take part. A place that
// is not there gets nothing.
template <class Add, class I, class Source>
SEMIRA_INLINE void send_there(const Plane<typename Add::T>& plane, bool whole, bool live, Index i,
    const Cell<I>& place, Index size, const Source source) {
  typename Source::Value z{};
  const bool sends =
      live && place.present && is_position(place.values.value, size) && source.get(i, z);
  const Index to = sends ? static_cast<Index>(place.values.value) : 0;
  send_value<Add, true>(plane, whole, sends, to, cast<typename Add::T>(z));
}

// To the position itself.
template <class Add, class Source>
SEMIRA_INLINE void send_here(
    const Plane<typename Add::T>& plane, bool whole, Index i, const Source source) {
  typename Source::Value z{};
  const bool sends = source.get(i, z);
  send_value<Add, false>(plane, whole, sends, i, cast<typename Add::T>(z));
}

// out (+)= what was sent to the plane because `out` lacks entries; empties the plane.
template <class Add, class Accum>
SEMIRA_PHASE void merge_sent(const Team& team, const Vector<typename Add::T>& out,
    const Plane<typename Add::T>& plane, Counters* counters) {
  using T = typename Add::T;
  Changes changes = {};
  walk_words(team, out.size, [&](auto, const Index i, const bool live) {
    Cell<T> sent = open_cell(plane, i, live);
    if (!__any_sync(kAllLanes, sent.present)) return;
    Cell<T> cell = open_cell(out.here, i, live);
    fetch(cell, out.here, i);
    fetch(sent, plane, i);
    if (live) update<Accum, false>(i, cell, VectorSource<Cell<T>>{sent}, NoMask{});
    store_word(team, out.here, i, cell, changes);
    reset_cell<false>(team, plane, i, sent, Add::identity());
  });
  add_over_block<1>({changes.inserted}, {&counters->inserted});
}

// plane[index_i] (+)= u_i. Absent values of the plane: see accumulate_entries.
//
// Where many positions lead to one place, as to the root of a large component, their atomics would
// follow one another: lanes that go to the same place send one sum.
template <class Add, class U, class I>
SEMIRA_PHASE void scatter_entries(const Team& team, const Plane<U> u, const Vector<I>& index,
    const Plane<typename Add::T> plane, Counters* counters) {
  using T = typename Add::T;
  Count inserted = 0;
  auto at = [&](auto by_list, const Index i, bool live) {
    if constexpr (!decltype(by_list)::kOn) live = live && index.has(i);
    live = live && u.has(i);
    const Index to[1] = {live ? static_cast<Index>(index.here.values[i]) : 0};
    const unsigned sent = __ballot_sync(kAllLanes, live);
    if (sent == 0) return;
    bool fresh[1] = {false};
    if constexpr (Add::kIsAny) {
      fresh[0] = live && claim_entry(plane, to[0], plane.has(to[0]));
      if (fresh[0]) plane.values[to[0]] = cast<T>(u.values[i]);
    } else {
      T x[1] = {live ? cast<T>(u.values[i]) : T{}};
      if constexpr (sizeof(T) <= 16) live = join_crowds<Add>(sent, live, to[0], x[0]);
      const bool open[1] = {live}, seen[1] = {!kTellsPresence<Add> && live && plane.has(to[0])};
      accumulate_entries<Add>(plane, to, x, open, seen, fresh);
    }
    inserted += fresh[0] ? 1 : 0;
  };
  if (index.listed) {
    walk_list(team, index.here.list, index.nvals, at);
  } else {
    walk_words(team, index.size, at);
  }
  add_over_block<1>({inserted}, {&counters->inserted});
}
