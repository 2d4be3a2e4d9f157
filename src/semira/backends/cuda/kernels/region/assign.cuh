// Statements that write where positions point: assign to a region, scatter, and copies for both.
#pragma once
#include "common/atomics.cuh"
#include "common/control.cuh"
#include "region/sources.cuh"

// Writes a source to a plane, every word of it: for a source that also reads what is written.
template <class Source, class Out>
SEMIRA_PHASE void fill_plane(const Team& team, const Source source, const Plane<Out> plane,
                             unsigned size) {
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
          plane.values[i] =
              cast<Out>(Accum::apply(cast<T>(plane.values[i]), cast<T>(z), i, 0, 0));
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
  const Count values[2] = {inserted, deleted};
  Count* const sums[2] = {&counters->inserted, &counters->deleted};
  add_over_block(values, sums);
}

// Calls `body(i)` for every entry of a vector, one thread an entry.
template <class V, class Body>
__device__ __forceinline__ void for_each_entry(const Team& team, const Vector<V>& v, Body body) {
  if (v.listed) {
    for (unsigned k = team.thread; k < static_cast<unsigned>(v.nvals); k += team.threads) {
      body(v.here.list[k]);
    }
  } else {
    for_each_word(team, v.here.words, v.num_words(), [&](unsigned w, unsigned word) {
      if (word >> team.lane & 1u) body(static_cast<Index>(w * kWarp + team.lane));
    });
  }
}

// plane[index_i] = (+) u_i: empty before; absent values: see accumulate_entry.
template <class Add, class U, class I>
SEMIRA_PHASE void scatter_entries(const Team& team, const Plane<U> u, const Vector<I>& index,
                                  const Plane<typename Add::T> plane, Counters* counters) {
  using T = typename Add::T;
  Count inserted = 0;
  for_each_entry(team, index, [&](Index i) {
    if (!u.has(i)) return;
    const unsigned to = static_cast<unsigned>(index.here.values[i]);
    const unsigned bit = 1u << (to % kWarp);
    const bool seen = plane.words[to / kWarp] & bit;
    bool fresh = false;
    if constexpr (Add::kIsAny) {
      if (!seen) fresh = !(atomicOr(&plane.words[to / kWarp], bit) & bit);
      if (fresh) plane.values[to] = cast<T>(u.values[i]);
    } else {
      fresh = accumulate_entry<Add>(plane, static_cast<Index>(to), cast<T>(u.values[i]), seen);
    }
    inserted += fresh ? 1 : 0;
  });
  const Count values[1] = {inserted};
  Count* const sums[1] = {&counters->inserted};
  add_over_block(values, sums);
}
