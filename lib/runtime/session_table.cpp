// SPDX-License-Identifier: Apache-2.0
#include "session_table.hpp"

#include "live_tasks.hpp"
#include "observer_registry.hpp"
#include "registry.hpp"

namespace coroscope::runtime {
namespace {

using namespace detail;

constinit session sessions[session_slots];
constinit std::atomic<std::uint32_t> global{0};

}  // namespace

session* session_table() noexcept { return sessions; }
std::atomic<std::uint32_t>& global_generation() noexcept { return global; }

session* find_session(std::uint32_t generation) noexcept {
    if (generation == 0) return nullptr;
    for (session& each : sessions) {
        if (each.generation.load(std::memory_order_acquire) == generation &&
            each.live.load(std::memory_order_acquire))
            return &each;
    }
    return nullptr;
}

bool is_enabled(const thread_state& thread) noexcept {
    return find_session(carried_session(thread.carried)) != nullptr ||
           find_session(global.load(std::memory_order_acquire)) != nullptr || observer_holds_slot();
}

// A context's own session wins, also while its collection is switched off.
std::uint32_t effective_generation(const thread_state& thread) noexcept {
    std::uint32_t generation = carried_session(thread.carried);
    const session* found = find_session(generation);
    if (found == nullptr) {
        generation = global.load(std::memory_order_acquire);
        found = find_session(generation);
    }
    return found != nullptr && found->collecting.load(std::memory_order_acquire) ? generation : 0;
}

session* effective_session(const thread_state& thread) noexcept {
    return find_session(effective_generation(thread));
}

store_use::store_use(thread_record& record, std::uint32_t generation) noexcept
    : record_(record), before_(record.busy.load(std::memory_order_relaxed)) {
    // In a signal handler that interrupted another stay: that one must stay visible.
    if (before_ != 0 && before_ != generation) return;
    // Sequentially consistent, as a stop is: either it sees us and waits, or we see that it began.
    record.busy.store(generation, std::memory_order_seq_cst);
    for (session& each : sessions) {
        if (each.generation.load(std::memory_order_seq_cst) != generation) continue;
        if (each.live.load(std::memory_order_seq_cst)) owner_ = &each;
        return;
    }
}

store_use::~store_use() {
    record_.busy.store(before_, std::memory_order_release);  // pairs with is_used()
}

void forget_sessions() noexcept {
    for (session& each : sessions) {
        if (each.generation.load(std::memory_order_relaxed) == 0) continue;
        each.live.store(false, std::memory_order_relaxed);
        each.takes_definitions.store(false, std::memory_order_relaxed);
        if (each.tracks_live.exchange(false, std::memory_order_relaxed))
            set_live_tracking(live_reason::needed, false);
        if (each.store != nullptr) each.store->abandon_after_fork();
        each.store = nullptr;
        each.generation.store(0, std::memory_order_relaxed);
    }
    global.store(0, std::memory_order_relaxed);
}

}  // namespace coroscope::runtime
