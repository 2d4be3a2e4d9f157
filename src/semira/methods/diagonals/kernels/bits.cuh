// How rows are kept as bits: distances between columns and their rows, in rising order, room for
// kMostDiagonals; then the bits of each row, which of them it has: a byte if there are at most
// kNarrowDiagonals, else a word, up to a whole word of rows.
#pragma once

constexpr int kMostDiagonals = 32, kNarrowDiagonals = 8;
