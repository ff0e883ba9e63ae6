// SPDX-License-Identifier: Apache-2.0
#include "session_table.hpp"

#include "../base/bounded_wait.hpp"
#include "../base/forks.hpp"
#include "thread_list.hpp"

namespace coroscope::runtime::inline writer {
namespace {

using namespace detail;

constinit session sessions[session_slots];
constinit std::atomic<std::uint32_t> global{0};
constinit own_mutex start_mutex;

constinit fork_guest table_around_forks = guest_with<start_mutex>(fork_rank::sessions);
[[gnu::constructor(101)]] void join_table() noexcept { join_forks(table_around_forks); }

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

session* find_session_of(std::uint32_t handle) noexcept {
    if (handle == 0) return nullptr;
    for (session& each : sessions) {
        if (each.live.load(std::memory_order_acquire) &&
            each.handle.load(std::memory_order_relaxed) == handle)
            return &each;
    }
    return nullptr;
}

namespace {

// Returns whether the generation is that of a live session, or of an earlier file of one.
bool goes_on(std::uint32_t generation) noexcept {
    if (generation == 0) return false;
    for (const session& each : sessions) {
        if (!each.live.load(std::memory_order_acquire)) continue;
        if (each.generation.load(std::memory_order_acquire) == generation) return true;
        for (const auto& earlier : each.earlier)
            if (earlier.load(std::memory_order_relaxed) == generation) return true;
    }
    return false;
}

}  // namespace

// A context's own session wins, also while its collection is switched off.
std::uint32_t effective_generation(const thread_state& thread) noexcept {
    const std::uint32_t carried = carried_session(thread.carried);
    if (is_left_out(carried)) [[unlikely]]
        return 0;
    std::uint32_t generation = session_generation(carried);
    const session* found = find_session(generation);
    if (found == nullptr) {
        generation = global.load(std::memory_order_acquire);
        found = find_session(generation);
    }
    return found != nullptr && found->collecting.load(std::memory_order_acquire) ? generation : 0;
}

bool is_left_out(std::uint32_t session) noexcept {
    return (session & left_out_request) != 0 && goes_on(session_generation(session));
}

bool is_left_out(const thread_state& thread) noexcept {
    return is_left_out(carried_session(thread.carried));
}

std::uint32_t outside_requests(std::uint32_t session) noexcept {
    const std::uint32_t generation = session_generation(session);
    if (generation == session) return session;
    const bool own =
        generation != global.load(std::memory_order_acquire) && find_session(generation) != nullptr;
    return own ? generation : 0;
}

session* effective_session(const thread_state& thread) noexcept {
    return find_session(effective_generation(thread));
}

bool wants(std::uint64_t feature) noexcept {
    const session* owner = effective_session(detail::this_thread);
    return owner != nullptr && (owner->features.load(std::memory_order_relaxed) & feature) != 0;
}

own_mutex& sessions_mutex() noexcept { return start_mutex; }

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

void end_binding(binding& bound) noexcept {
    const std::uint32_t generation = bound.generation.load(std::memory_order_relaxed);
    for (session& each : sessions)
        if (each.generation.load(std::memory_order_acquire) == generation)
            each.departed_losses.fetch_add(bound.lost.load(std::memory_order_relaxed),
                                           std::memory_order_relaxed);
    bound.generation.store(0, std::memory_order_release);  // pairs with the search for holders
}

void forget_sessions() noexcept {
    for (session& each : sessions) {
        if (each.generation.load(std::memory_order_relaxed) == 0) continue;
        each.live.store(false, std::memory_order_relaxed);
        each.takes_definitions.store(false, std::memory_order_relaxed);
        if (each.store != nullptr) each.store->abandon_after_fork();
        each.store = nullptr;
        each.generation.store(0, std::memory_order_relaxed);
    }
    global.store(0, std::memory_order_relaxed);
}

}  // namespace coroscope::runtime::inline writer
