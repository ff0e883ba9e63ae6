// SPDX-License-Identifier: Apache-2.0

// Threads' gates: which sessions they open for, and how they are closed.

#include <mutex>

#include "bounded_wait.hpp"
#include "clock.hpp"
#include "registry.hpp"

namespace coroscope::runtime {
namespace {

// A gate with no session left is closed but for what asks for none, and has a sign where something else has.
std::int32_t settled(std::int32_t gate) noexcept {
    using namespace detail;
    constexpr std::int32_t apart = gate_live | (gate_observed & ~gate_careful);
    constexpr std::int32_t careful =
        (gate_observed | gate_stacks | gate_slow_clock | gate_unknown) & ~gate_careful;
    if ((gate & (gate_local | gate_global)) == 0) gate &= apart;
    return (gate & careful) != 0 ? gate | gate_careful : gate & ~gate_careful;
}

}  // namespace

void change_gate(thread_state& thread, std::int32_t set, std::int32_t clear) noexcept {
    std::int32_t gate = __atomic_load_n(&thread.gate, __ATOMIC_RELAXED);
    std::int32_t changed = 0;
    do {
        changed = settled((gate | set) & ~clear);
    } while (!__atomic_compare_exchange_n(&thread.gate, &gate, changed, true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
}

std::int32_t clock_gate() noexcept {
    return tick_source() == trace::clock_source::monotonic_ns ? detail::gate_slow_clock : 0;
}

std::int32_t session_gate(const session& recording) noexcept {
    const bool stacks =
        (recording.features.load(std::memory_order_relaxed) & trace::feature_stacks) != 0;
    return (recording.task_table ? detail::gate_task_table : 0) |
           (stacks ? detail::gate_stacks : 0) |
           (recording.devices.load(std::memory_order_acquire) ? detail::gate_devices : 0) |
           clock_gate();
}

bool wants(std::uint64_t feature) noexcept {
    const session* owner = effective_session(detail::this_thread);
    return owner != nullptr && (owner->features.load(std::memory_order_relaxed) & feature) != 0;
}

// Which threads carry a session of one thread is theirs to know: one that does not closes its gate at its
// next record.
void open_gates(const session& recording, bool all_threads) noexcept {
    const std::lock_guard lock(registry_mutex());
    const std::int32_t bits =
        session_gate(recording) | (all_threads ? detail::gate_global : detail::gate_local);
    for (thread_record* record = first_thread(); record != nullptr; record = record->next)
        change_gate(*record->state, bits, 0);
}

void cut_off(std::uint32_t generation) noexcept {
    const std::lock_guard lock(registry_mutex());
    for (thread_record* record = first_thread(); record != nullptr; record = record->next) {
        thread_state& thread = *record->state;
        if (generation == global_generation().load(std::memory_order_relaxed))
            change_gate(thread, 0, detail::gate_global);
        __atomic_store_n(&thread.limit, nullptr, __ATOMIC_SEQ_CST);  // pairs with set_limit()
    }
}

void take_limits() noexcept {
    const std::lock_guard lock(registry_mutex());
    for (thread_record* record = first_thread(); record != nullptr; record = record->next)
        // pairs with set_limit()
        __atomic_store_n(&record->state->limit, nullptr, __ATOMIC_SEQ_CST);
}

bool is_used(std::uint32_t generation, const thread_record* but) noexcept {
    for (const thread_record* record = first_thread(); record != nullptr; record = record->next) {
        // Sequentially consistent: pairs with store_use.
        if (record != but && record->busy.load(std::memory_order_seq_cst) == generation)
            return true;
    }
    return false;
}

void wait_until_unused(std::uint32_t generation) noexcept {
    wait_bounded([generation] {
        const std::lock_guard lock(registry_mutex());
        return !is_used(generation, detail::this_thread.record);
    });
}

}  // namespace coroscope::runtime
