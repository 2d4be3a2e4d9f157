// Runs kernels: blocks as threads of the operating system, their threads as fibres.
#include "gpu.hpp"

#include <sched.h>
#include <sys/mman.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace emulated {

__thread Here* here;

namespace {

constexpr size_t kStack = 128 << 10;
constexpr size_t kDynamic = 228 << 10;
constexpr unsigned kWarp = 32;
// Rounds in which no fibre of a block and no other block got on: they never will.
constexpr long kPatience = 2'000'000;

// The first failure of the launch; everybody gives up then.
std::atomic<bool> failed;
std::mutex message_lock;
std::string message;

void note(const char* what) {
  const std::lock_guard<std::mutex> guard(message_lock);
  if (failed.exchange(true)) return;
  message = std::string(what) + " (block " + std::to_string(here->block.x) + ", thread " +
            std::to_string(here->thread.x) + ")";
}

// A call at which lanes of a warp meet.
struct Meeting {
  Call call;
  unsigned mask, arrived, left;
  uint64_t values[kWarp];
  bool complete() const { return arrived == mask; }
};

struct Fibre {
  Here here;
  void* place;  // of its stack, while another one runs
  bool done = false;
  const Meeting* meeting = nullptr;  // it waits for
  bool at_barrier = false;
};

#if defined(__x86_64__)
extern "C" void emulated_switch(void** from, void* to);
asm(R"(
.text
.globl emulated_switch
.type emulated_switch, @function
emulated_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size emulated_switch, .-emulated_switch
)");
#else
#error "fibres of this emulation are written for x86-64"
#endif

// A kernel with its parameters by address, or one whose parameters are words of 64 bits.
struct Kernel {
  void (*typed)(void* const*);
  void* plain;
  void* const* parameters;

  void run() const {
    if (typed != nullptr) return typed(parameters);
    // Words beyond those that the kernel takes do no harm: the caller clears them away.
    using Word = int64_t;
    using Plain = void (*)(Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word,
                           Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word);
    const Word* const w = reinterpret_cast<const Word*>(parameters);
    reinterpret_cast<Plain>(plain)(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10],
                                   w[11], w[12], w[13], w[14], w[15], w[16], w[17], w[18], w[19],
                                   w[20], w[21], w[22], w[23]);
  }
};

// Stacks are kept: touching fresh pages takes longer than most kernels.
struct Stacks {
  std::mutex lock;
  std::vector<unsigned char*> free;

  unsigned char* take() {
    const std::lock_guard<std::mutex> guard(lock);
    if (!free.empty()) {
      unsigned char* const stack = free.back();
      free.pop_back();
      return stack;
    }
    void* const made = mmap(nullptr, kStack, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) abort();
    // Whoever needs more runs into it, instead of into another stack.
    mprotect(made, 4096, PROT_NONE);
    return static_cast<unsigned char*>(made);
  }
  void give(unsigned char* stack) {
    const std::lock_guard<std::mutex> guard(lock);
    free.push_back(stack);
  }
};
Stacks stacks;

struct Block {
  Kernel kernel;
  std::vector<Fibre> fibres;
  std::vector<unsigned char*> memory;
  std::vector<std::vector<std::unique_ptr<Meeting>>> meetings;  // of each warp
  void* home = nullptr;  // stack of the scheduler
  Fibre* running = nullptr;
  unsigned alive = 0, waiting = 0;
  bool any = false, was_any = false, paused = false;
};
__thread Block* block;

void leave() { emulated_switch(&block->running->place, block->home); }

extern "C" void emulated_fibre() {
  block->kernel.run();
  block->running->done = true;
  leave();
  abort();
}

void prepare(Fibre& fibre, unsigned char* stack) {
  // What `emulated_switch` pops, then the address to go on at; the stack is aligned as at a call.
  void** top = reinterpret_cast<void**>(stack + kStack);
  *--top = nullptr;
  *--top = reinterpret_cast<void*>(&emulated_fibre);
  for (int k = 0; k < 6; ++k) *--top = nullptr;
  fibre.place = top;
}

bool can_run(const Fibre& fibre) {
  if (fibre.done || fibre.at_barrier) return false;
  return fibre.meeting == nullptr || fibre.meeting->complete();
}

void release_barrier() {
  if (block->waiting == 0 || block->waiting != block->alive) return;
  for (Fibre& fibre : block->fibres) fibre.at_barrier = false;
  block->waiting = 0;
  block->was_any = block->any;
  block->any = false;
}

// Every fibre in turn goes on until it waits. `backwards`: the last one first.
void run_block(bool backwards) {
  const size_t count = block->fibres.size();
  long idle = 0;
  while (block->alive > 0 && !failed.load(std::memory_order_relaxed)) {
    bool moved = false;
    block->paused = false;
    for (size_t k = 0; k < count; ++k) {
      Fibre& fibre = block->fibres[backwards ? count - 1 - k : k];
      if (!can_run(fibre)) continue;
      moved = true;
      block->running = &fibre;
      here = &fibre.here;
      emulated_switch(&block->home, fibre.place);
      if (fibre.done) --block->alive;
      if (failed.load(std::memory_order_relaxed)) return;
    }
    release_barrier();
    if (block->paused) sched_yield();
    idle = moved && !block->paused ? 0 : idle + 1;
    if (!moved && idle > 1) return note("threads of a block wait for each other for ever");
    if (idle > kPatience) return note("a block waits for others for ever");
  }
}

struct Launch {
  Kernel kernel;
  unsigned blocks, threads;
  bool backwards;
};

void run_one(const Launch& launch, unsigned number, unsigned char* dynamic) {
  Block mine;
  block = &mine;
  mine.kernel = launch.kernel;
  mine.fibres.resize(launch.threads);
  mine.meetings.resize((launch.threads + kWarp - 1) / kWarp);
  mine.alive = launch.threads;
  memset(dynamic, 0xA5, kDynamic);
  for (unsigned k = 0; k < launch.threads; ++k) {
    Fibre& fibre = mine.fibres[k];
    fibre.here = {{k, 0, 0}, {number, 0, 0}, {launch.threads, 1, 1}, {launch.blocks, 1, 1}, dynamic};
    mine.memory.push_back(stacks.take());
    prepare(fibre, mine.memory.back());
  }
  run_block(launch.backwards);
  for (unsigned char* stack : mine.memory) stacks.give(stack);
  block = nullptr;
}

unsigned char* dynamic_memory() {
  void* made = nullptr;
  if (posix_memalign(&made, 128, kDynamic) != 0) abort();
  return static_cast<unsigned char*>(made);
}

}  // namespace

void fail(const char* what) {
  note(what);
  leave();
  abort();
}

void meet_lanes(Call call, unsigned mask, uint64_t mine, uint64_t (&all)[32]) {
  const unsigned lane = here->thread.x % kWarp;
  if (!(mask >> lane & 1)) fail("a lane is not in the mask of its own call");
  auto& open = block->meetings[here->thread.x / kWarp];
  Meeting* meeting = nullptr;
  for (auto& each : open) {
    if (!each->complete() && each->mask == mask && !(each->arrived >> lane & 1)) meeting = each.get();
  }
  if (meeting == nullptr) {
    // Some may meet while the others wait for them elsewhere, but not if they need one of those.
    for (auto& each : open) {
      if (!each->complete() && (each->mask >> lane & 1) && (each->arrived & mask)) {
        fail("lanes of a warp meet at calls with masks that overlap");
      }
    }
    open.push_back(std::make_unique<Meeting>(Meeting{call, mask, 0, 0, {}}));
    meeting = open.back().get();
  }
  if (meeting->call != call) fail("lanes of a warp meet at different calls");
  meeting->values[lane] = mine;
  meeting->arrived |= 1u << lane;
  if (!meeting->complete()) {
    Fibre* const self = block->running;
    self->meeting = meeting;
    leave();
    self->meeting = nullptr;
  }
  memcpy(all, meeting->values, sizeof(all));
  meeting->left |= 1u << lane;
  if (meeting->left == mask) {
    for (auto each = open.begin(); each != open.end(); ++each) {
      if (each->get() == meeting) {
        open.erase(each);
        break;
      }
    }
  }
}

bool meet_block(bool any) {
  block->any = block->any || any;
  block->waiting += 1;
  block->running->at_barrier = true;
  leave();
  return block->was_any;
}

void pause() {
  block->paused = true;
  leave();
}

}  // namespace emulated

using namespace emulated;

// Runs a kernel to its end; what went wrong, or null. A cooperative one has all blocks at once.
extern "C" const char* emulated_launch(void (*typed)(void* const*), void* plain,
                                       void* const* parameters, unsigned blocks, unsigned threads,
                                       int cooperative, int backwards) {
  failed = false;
  const Launch launch{{typed, plain, parameters}, blocks, threads, backwards != 0};
  std::atomic<unsigned> next{0};
  auto work = [&] {
    unsigned char* const dynamic = dynamic_memory();
    for (unsigned k = next++; k < blocks && !failed; k = next++) {
      run_one(launch, backwards ? blocks - 1 - k : k, dynamic);
    }
    free(dynamic);
  };
  const unsigned workers = cooperative || blocks < 2 ? blocks : 2;
  std::vector<std::thread> others;
  for (unsigned k = 0; k < workers; ++k) others.emplace_back(work);
  for (auto& each : others) each.join();
  return failed ? message.c_str() : nullptr;
}
