// SPDX-License-Identifier: Apache-2.0

// A signal handler with a scope that runs after single instructions of the interrupted code: the
// processor traps after each instruction while its trap flag is set. These tests reach every time
// the moments that a storm of signals reaches by chance.

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <deque>
#include <source_location>
#include <thread>

#include <dlfcn.h>
#include <ucontext.h>

#include "../../support/skip.hpp"
#include "../support/build.hpp"
#include "../support/session_support.hpp"

using namespace coroscope;
using namespace coroscope::test;
using namespace std::chrono_literals;

namespace {

std::uint64_t traps = 0;
std::uint64_t turn = 0;  // the trap after which the handler records; 0: never
std::uint64_t records_per_turn = 1;
std::uint64_t handled = 0;

void record_here() {
    COROSCOPE("in a handler");
    ++handled;
}

void record_turn() {
    for (std::uint64_t each = 0; each < records_per_turn; ++each) record_here();
    if (records_per_turn != 1) std::this_thread::sleep_for(10ms);  // chunks are sealed meanwhile
}

void (*on_turn)() = record_turn;

#if defined(__x86_64__)
constexpr greg_t trap_flag = 0x100;

void on_trap(int, siginfo_t*, void* context) {
    if (++traps != turn) return;
    on_turn();
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~trap_flag;
}

// The red zone below the stack pointer may be in use.
[[gnu::always_inline]] inline void set_trap_flag() {
    asm volatile("lea -128(%%rsp), %%rsp; pushfq; orq %0, (%%rsp); popfq; lea 128(%%rsp), %%rsp"
                 :
                 : "i"(trap_flag)
                 : "memory", "cc");
}
[[gnu::always_inline]] inline void clear_trap_flag() {
    asm volatile("lea -128(%%rsp), %%rsp; pushfq; andq %0, (%%rsp); popfq; lea 128(%%rsp), %%rsp"
                 :
                 : "i"(~trap_flag)
                 : "memory", "cc");
}
#else
void on_trap(int, siginfo_t*, void*) {}
void set_trap_flag() {}
void clear_trap_flag() {}
#endif

class trap_handler {
public:
    trap_handler() {
        struct sigaction action{};
        action.sa_sigaction = on_trap;
        action.sa_flags = SA_SIGINFO;
        REQUIRE(::sigaction(SIGTRAP, &action, nullptr) == 0);
    }
    trap_handler(const trap_handler&) = delete;
    trap_handler& operator=(const trap_handler&) = delete;
    ~trap_handler() { ::signal(SIGTRAP, SIG_DFL); }
};

// Runs `work` with the handler's turn after `instructions` instructions. Returns false if `work`
// has fewer.
template <class Work>
bool interrupt_after(std::uint64_t instructions, Work work) {
    const trap_handler installed;
    traps = 0;
    turn = instructions;
    set_trap_flag();
    work();
    clear_trap_flag();
    return traps == turn;
}

// Returns the next instruction after which the handler interrupts. It interrupts after each
// instruction of the short paths, which come first, and later after some.
std::uint64_t next_turn(std::uint64_t at) { return at + at / 128 + 1; }

// Runs `work` again and again, with a later turn of the handler each time. Returns the number of
// runs.
template <class Before, class Work>
std::uint64_t interrupt_everywhere(Before before, Work work) {
    std::uint64_t done = 0;
    bool met = true;
    for (std::uint64_t at = 1; met; at = next_turn(at), ++done) {
        before();
        met = interrupt_after(at, work);
    }
    return done;
}

task<int> nested(std::uint64_t number) {
    step(number);
    co_return 1;
}
task<int> outer(std::uint64_t number) { co_return co_await nested(number); }

bool can_step() {
    if (sanitized) {
        COROSCOPE_SKIP("a sanitizer keeps signals back, and has pthread_sigmask for itself");
        return false;
    }
    const profile session{{.all_threads = true}};
    steps(5);
    record_here();
    sync_wait(outer(0));
    interrupt_after(0, [] {});
    if (traps == 0)
        COROSCOPE_SKIP("this processor, or what emulates it, does not trap after each instruction");
    handled = 0;
    records_per_turn = 1;
    on_turn = record_turn;
    return traps != 0;
}

void check_nothing_is_missing(const analysis::trace& trace, std::uint64_t done) {
    CHECK(count_steps(trace) == done);
    CHECK(count(trace, "in a handler") + trace.health.dropped_newest == handled);
    CHECK(handled != 0);
}

// Runs sessions one after another, each with `in_peace` steps without interruption and two more.
void interrupt_sessions(std::uint64_t in_peace) {
    bool met = true;
    for (std::uint64_t at = 1; met; at = next_turn(at)) {
        profile session{{.all_threads = true, .limit_bytes = 1U << 20, .chunk_bytes = 4096}};
        steps(in_peace);
        handled = 0;
        met = interrupt_after(at, [] { steps(2); });
        const analysis::trace trace = load(session.stop());
        if (met) check_nothing_is_missing(trace, in_peace + 2);
    }
}

// Another thread, which at each turn records a scope of a new site.
class newcomer {
public:
    newcomer() { wait(); }
    newcomer(const newcomer&) = delete;
    newcomer& operator=(const newcomer&) = delete;
    ~newcomer() {
        wait();
        asked_ = leave;
    }

    /// Asks the thread for a record and waits a while. The thread may have to wait for a lock that
    /// the caller holds.
    void record() {
        const int number = ++asked_;
        for (int look = 0; look < 1000 && done_ < number; ++look) std::this_thread::sleep_for(50us);
    }

    void wait() const {
        while (done_ < asked_) std::this_thread::sleep_for(50us);
    }

private:
    static constexpr int leave = -1;

    void run() {
        while (asked_ != leave) {
            if (done_ < asked_) record_new();
            std::this_thread::sleep_for(10us);
        }
    }

    void record_new() {
        constexpr auto here = std::source_location::current();
        site& where = sites_.emplace_back("new", here, site_kind::scope);
        const detail::begun_scope begun(where);
        if (detail::was_begun(begun)) detail::end_scope(where, &begun);
        ++done_;
    }

    std::deque<site> sites_;
    std::atomic<int> asked_{1};
    std::atomic<int> done_{0};
    std::jthread thread_{[this] { run(); }};
};

newcomer* beside = nullptr;

// Runs and stops sessions one after another, and checks that each trace describes all its records.
// After the stop has taken the chunks away, no more records are written. Before that, a turn of the
// other thread may fail to record because of a lock.
void stop_beside_a_newcomer() {
    std::uint64_t in_vain = 0;
    bool met = true;
    for (std::uint64_t at = 1; met && in_vain < 64; at = next_turn(at)) {
        profile session{{.all_threads = true, .limit_bytes = 1U << 20, .chunk_bytes = 4096}};
        beside->record();  // gives the thread a chunk
        trace::buffer bytes;
        met = interrupt_after(at, [&] { bytes = session.stop(); });
        beside->wait();
        const std::size_t recorded = count(load(bytes), "new");
        CHECK(recorded >= 1);
        in_vain = recorded == 1 ? in_vain + 1 : 0;
        handled += recorded - 1;
    }
    CHECK(handled != 0);
}

}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Replaces the system's function, for the library, too, which blocks signals under its locks: a
// trap cannot be blocked.
extern "C" int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
    static const auto real = reinterpret_cast<int (*)(int, const sigset_t*, sigset_t*)>(
        ::dlsym(RTLD_NEXT, "pthread_sigmask"));
    if (set == nullptr) return real(how, set, before);
    sigset_t passed = *set;
    sigdelset(&passed, SIGTRAP);
    return real(how, &passed, before);
}
#endif

TEST_SUITE("stepped") {
    TEST_CASE("a handler may record after any instruction of a thread that takes a chunk") {
        if (!can_step()) return;
        interrupt_sessions(244);  // a chunk has room for 245 records
    }

    TEST_CASE("a handler may record after any instruction of a thread that continues in another "
              "session") {
        if (!can_step()) return;
        interrupt_sessions(0);
    }

    TEST_CASE("a handler may fill chunks, and pause, before the record that it interrupts") {
        if (!can_step()) return;
        profile session{{.all_threads = true, .chunk_bytes = 4096}};
        records_per_turn = 300;
        const std::uint64_t done = interrupt_everywhere([] {}, [] { step(0); });
        check_nothing_is_missing(load(session.stop()), done);
    }

    TEST_CASE("a record that another thread makes during any instruction of a stop has a name in "
              "the trace") {
        if (!can_step()) return;
        newcomer other;
        beside = &other;
        on_turn = [] { beside->record(); };
        stop_beside_a_newcomer();
    }

    TEST_CASE("a handler may record after any instruction of tasks") {
        if (!can_step()) return;
        profile session{{.all_threads = true, .chunk_bytes = 4096}};
        const std::uint64_t done = interrupt_everywhere([] {}, [] { sync_wait(outer(0)); });
        const analysis::trace trace = load(session.stop());
        check_nothing_is_missing(trace, done);
        CHECK(trace.tasks.size() == 2 * done);
        for (const analysis::task_info& each : trace.tasks)
            CHECK(each.state == analysis::task_state::finished);
    }
}
