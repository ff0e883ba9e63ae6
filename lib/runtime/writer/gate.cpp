// SPDX-License-Identifier: Apache-2.0
#include "gate.hpp"

#include <atomic>
#include <mutex>

#include "../base/clock.hpp"
#include "ended_threads.hpp"
#include "thread_list.hpp"
#include "thread_record.hpp"

namespace coroscope::runtime::inline writer {
namespace {

// Closes a gate without sessions, except for the bits that need no session. Sets the gate's sign if
// it has one of the bits that ask for the slow path. The gate of a thread whose forked process
// has yet to start a session stays unknown.
std::int32_t settled(std::int32_t gate) noexcept {
    using namespace detail;
    constexpr std::int32_t apart = gate_live | ((gate_observed | gate_unknown) & ~gate_careful);
    constexpr std::int32_t careful =
        (gate_open | gate_observed | gate_stacks | gate_slow_clock | gate_unknown) & ~gate_careful;
    if ((gate & (gate_local | gate_global)) == 0) gate &= apart;
    return (gate & careful) != 0 ? gate | gate_careful : gate & ~gate_careful;
}

constinit std::atomic<std::int32_t> standing{0};

}  // namespace

void change_gate(thread_state& thread, std::int32_t set, std::int32_t clear) noexcept {
    std::int32_t gate = __atomic_load_n(&thread.gate, __ATOMIC_RELAXED);
    std::int32_t changed = 0;
    do {
        changed = settled((gate | set) & ~clear);
    } while (!__atomic_compare_exchange_n(&thread.gate, &gate, changed, true, __ATOMIC_SEQ_CST,
                                          __ATOMIC_RELAXED));  // pairs with reopen_gate()
}

std::int32_t clock_gate() noexcept {
    return tick_source() == trace::clock_source::monotonic_ns ? detail::gate_slow_clock : 0;
}

std::int32_t session_gate(const session& recording) noexcept {
    const std::uint64_t features = recording.features.load(std::memory_order_relaxed);
    return (recording.task_table ? detail::gate_task_table : 0) |
           ((features & trace::feature_stacks) != 0 ? detail::gate_stacks : 0) |
           ((features & trace::feature_open_scopes) != 0 ? detail::gate_open : 0) |
           (recording.devices.load(std::memory_order_acquire) ? detail::gate_devices : 0) |
           (recording.samples.load(std::memory_order_relaxed) ? detail::gate_sampling : 0) |
           clock_gate();
}

std::int32_t standing_gate() noexcept { return standing.load(std::memory_order_relaxed); }

void change_standing_gate(std::int32_t set, std::int32_t clear) noexcept {
    standing.store(settled((standing_gate() | set) & ~clear), std::memory_order_relaxed);
}

void change_all_gates(std::int32_t set, std::int32_t clear) noexcept {
    for (thread_record* record = first_living_thread(); record != nullptr; record = record->next)
        change_gate(*record->state, set, clear);
}

// Opens the gates of all threads even for a thread-local session, because only each thread can read
// its own context. A thread that does not carry the session closes its gate at its next record.
void open_gates(const session& recording, bool all_threads) noexcept {
    const std::lock_guard lock(registry_mutex());
    const std::int32_t bits =
        session_gate(recording) | (all_threads ? detail::gate_global : detail::gate_local);
    change_all_gates(bits, 0);
}

void cut_off(std::uint32_t generation) noexcept {
    const std::lock_guard lock(registry_mutex());
    for (thread_record* record = first_living_thread(); record != nullptr; record = record->next) {
        thread_state& thread = *record->state;
        if (generation == global_generation().load(std::memory_order_relaxed))
            change_gate(thread, 0, detail::gate_global);
        __atomic_store_n(&thread.limit, nullptr, __ATOMIC_SEQ_CST);  // pairs with set_limit()
    }
}

void take_limits() noexcept {
    const std::lock_guard lock(registry_mutex());
    for (thread_record* record = first_living_thread(); record != nullptr; record = record->next)
        // pairs with set_limit()
        __atomic_store_n(&record->state->limit, nullptr, __ATOMIC_SEQ_CST);
}

}  // namespace coroscope::runtime::inline writer
