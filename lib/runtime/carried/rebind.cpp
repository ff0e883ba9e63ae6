// SPDX-License-Identifier: Apache-2.0

// Makes the thread carry another session and other attributes.

#include <coroscope/detail/task_state.hpp>

#include "../writer/thread_gate.hpp"
#include "../writer/thread_guests.hpp"
#include "attribute_nodes.hpp"

namespace coroscope::detail {

namespace {

// Returns whether work under both sessions of contexts is recorded alike: no request that is left
// out, and the same session.
bool record_alike(std::uint32_t one, std::uint32_t other) noexcept {
    if (one == other) return true;
    if (((one | other) & left_out_request) != 0) return false;
    const std::uint32_t all = runtime::global_generation().load(std::memory_order_relaxed);
    const auto own = [all](std::uint32_t session) {
        const std::uint32_t generation = session_generation(session);
        return generation == all ? 0 : generation;
    };
    return own(one) == own(other);
}

}  // namespace

// A thread that has not called the runtime yet is registered by update_gate().
void rebind(std::uint64_t carried) noexcept {
    const std::uint32_t before = carried_session(this_thread.carried);
    const std::uint32_t session = carried_session(carried);
    this_thread.carried = carried;
    const bool registers = this_thread.record == nullptr && session != 0;
    if (registers || !record_alike(before, session)) runtime::update_gate(this_thread);
    if (runtime::contexts_carry_observers()) [[unlikely]]
        runtime::tell_guests<&runtime::thread_guest::look_at_context>();
}

}  // namespace coroscope::detail
