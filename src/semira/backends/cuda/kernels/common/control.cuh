// What the host and a running program tell each other.
#pragma once
#include "common/clock.cuh"
#include "common/grid.cuh"

// One row of the trace, in the host's layout.
struct TraceRow {
  long long iteration, statement_method, frontier, touched, produced;
  long long written_ns;  // by the GPU's clock
};

struct LoopReport {
  long long iterations, stopped_by;  // 0: condition, 1: limit, 2: interrupted, 3: default limit
};

// Written by the device into host memory, read after the one synchronisation.
struct Result {
  long long num_reports, num_rows;
  long long limit_reached;  // iterations of a loop that reached its default limit; -1: none did
  long long empty_scalar;   // statement that needed the value of an empty scalar; -1: none did
  long long bad_index;      // statement whose index vector names a position that is not; -1
  long long bad_position;   // such a position, or limit
  long long bad_limit;      // of a loop: 1: below 1, 2: an empty scalar; 0: none
  long long completed;      // iterations of the last loop that stands in no other
  long long solo;           // iterations that one block ran alone
  long long begun_ns;       // of the first row's time; by the GPU's clock
  LoopReport reports[1];
};

// Sums of one statement. Three copies take turns, so that one is zeroed while another is read.
struct Counters {
  Count inserted, deleted, touched, edges, driver_edges, queued, listed;
  Count unlisted;  // not zero: the list of what was inserted is not complete
};

// What a launch writes for itself, followed by the counters of its statements. A launch finds
// everything but the barrier zero, and leaves it so.
struct Progress {
  BarrierCounter barrier;
  long long stop;          // written by the host
  long long stop_seen[3];  // published by one thread, read after the next barrier
};

struct Control {
  Progress* progress;
  long long counter_words;  // behind `progress`
  Result* result;
  TraceRow* rows;                           // on the device; a ring
  TraceRow* host_rows;                      // in host memory
  long long row_capacity, report_capacity;  // the first one is a power of two
};

// One thread of each block calls it, before the first phase; later it would take registers away.
SEMIRA_INLINE void start_clock(const Control& control) {
  if (block_number() == 0) control.result->begun_ns = clock_ns();
}

// Rows and reports of this launch; every thread counts alike, the first one writes.
struct Journal {
  const Control* control;  // a copy in shared memory
  long long num_rows, num_reports;

  __device__ explicit Journal(const Control* copy) : control(copy), num_rows(0), num_reports(0) {}

  // The last rows stay: later ones take the places of the first.
  SEMIRA_INLINE void row(const Team& team, long long iteration, int statement, int method,
      Index frontier, Count touched, Index produced) {
    if (team.thread == 0) {
      control->rows[num_rows & (control->row_capacity - 1)] =
          TraceRow{iteration, static_cast<long long>(statement) << 8 | method, frontier,
              static_cast<long long>(touched), produced, clock_ns()};
    }
    ++num_rows;
  }

  // Of a loop that stands in no other.
  __device__ void loop(const Team& team, long long iterations, int stopped_by) {
    if (team.thread == 0 && num_reports < control->report_capacity) {
      control->result->reports[num_reports] = LoopReport{iterations, stopped_by};
    }
    ++num_reports;
  }

  __device__ void limit_reached(const Team& team, long long iterations) const {
    if (team.thread == 0) control->result->limit_reached = iterations;
  }

  // The most iterations of a loop: a scalar that may hold anything. 0: the program ends here.
  template <class X> __device__ Count limit(const Team& team, const X& most) const {
    if (most.has && most.value >= 1) return static_cast<Count>(most.value);
    if (team.thread == 0) {
      control->result->bad_limit = most.has ? 1 : 2;
      control->result->bad_position = static_cast<long long>(most.value);
    }
    return 0;
  }

  // A statement needed a value that is not there: the program ends before it.
  __device__ void missing_value(const Team& team, int statement) const {
    if (team.thread == 0) control->result->empty_scalar = statement;
  }

  // An index vector names a position that is not there: the program ends before the statement.
  __device__ void bad_index(const Team& team, int statement) const {
    if (team.thread == 0) control->result->bad_index = statement;
  }

  // After a barrier: copy the rows to the host, all threads together.
  __device__ void close(const Team& team, long long completed) const {
    const long long kept = num_rows < control->row_capacity ? num_rows : control->row_capacity;
    const long long words = kept * static_cast<long long>(sizeof(TraceRow) / sizeof(long long));
    const long long* from = reinterpret_cast<const long long*>(control->rows);
    long long* to = reinterpret_cast<long long*>(control->host_rows);
    for (long long k = team.thread; k < words; k += team.threads) to[k] = from[k];
    if (team.thread == 0) {
      control->result->num_reports = num_reports;
      control->result->num_rows = num_rows;
      control->result->completed = completed;
    }
  }
};

// After the last barrier, when nobody reads a counter any more: leaves them zero.
SEMIRA_INLINE void close_progress(
    const Team& team, const Control& control, const GridBarrier& barrier) {
  long long* counters = reinterpret_cast<long long*>(control.progress + 1);
  for (long long k = team.thread; k < control.counter_words; k += team.threads) counters[k] = 0;
  barrier.close(team);
}

// The copy whose turn was passed on before the last barrier.
SEMIRA_INLINE const Counters& last_of(const Counters* copies, int turn) {
  __builtin_assume(__isGlobal(copies));
  return copies[turn == 0 ? 2 : turn - 1];
}

// Zeroes the copy whose turn comes next.
SEMIRA_INLINE void zero_next(const Team& team, Counters* copies, int turn) {
  if (team.thread == 0) copies[turn == 2 ? 0 : turn + 1] = Counters{};
}
