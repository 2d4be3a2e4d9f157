// Iterations that the first block runs alone: __syncthreads takes the place of the grid barrier,
// and the other blocks wait at one until there is more to do.
//
// At the head of an iteration every thread knows how much the iteration will walk, alike in all
// blocks. To go alone, all meet; then the first block goes on with a team of one and the others
// wait. To be joined again, the first block writes what all blocks have alike into device memory
// (`Alike`, generated with the program) and meets the others, who take it over.
#pragma once
#include "common/vector.cuh"

// Items that walking a vector's entries takes.
template <class T> SEMIRA_INLINE Count entries_walked(const Vector<T>& v) {
  return static_cast<Count>(v.nvals) + (v.listed ? 0 : v.num_words());
}

// What the head of an iteration asks for.
enum class Turn { kStay, kEnter, kLeave };

// `work` is that of the coming iteration, if the loop `goes_on`. The thresholds lie apart, so that
// an iteration of about that size does not call the others for nothing.
SEMIRA_INLINE Turn next_turn(
    const GridBarrier& barrier, bool goes_on, Count work, Count enter, Count leave) {
  if (barrier.is_alone()) return goes_on && work <= leave ? Turn::kStay : Turn::kLeave;
  return goes_on && work < enter && gridDim.x > 1 ? Turn::kEnter : Turn::kStay;
}
