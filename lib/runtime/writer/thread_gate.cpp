// SPDX-License-Identifier: Apache-2.0
#include "thread_gate.hpp"

#include "thread_guests.hpp"

namespace coroscope::runtime::inline writer {

using namespace detail;

namespace {

// Closes the gate of a thread that goes on with a request that is left out. The thread stays bound
// to its session, because it will come back. Without a limit, the short paths of transitions call
// refill(), which does nothing.
bool close_for_left_out(thread_state& thread) noexcept {
    if (!is_left_out(thread)) return false;
    change_gate(thread, 0, gate_local | gate_global);
    clear_limit(thread);
    return true;
}

// Opens a gate that was closed for a request, for the session of all threads. That session may end
// meanwhile, and clear the bit before this thread sets it. All these accesses are sequentially
// consistent, so either the stop sees the bit or this thread sees the stop.
void reopen_gate(thread_state& thread) noexcept {
    if ((load_gate() & gate_global) != 0) return;
    const session* all = find_session(global_generation().load(std::memory_order_acquire));
    if (all == nullptr || !all->collecting.load(std::memory_order_acquire)) return;
    change_gate(thread, gate_global | session_gate(*all), 0);
    if (!all->live.load(std::memory_order_seq_cst) ||
        !all->collecting.load(std::memory_order_seq_cst))
        change_gate(thread, 0, gate_global);
}

// Returns the session of the thread's context; null if it has ended, or is that of all threads.
const session* own_session(const thread_state& thread) noexcept {
    const std::uint32_t generation = session_generation(carried_session(thread.carried));
    return generation == global_generation().load(std::memory_order_acquire)
               ? nullptr
               : find_session(generation);
}

void open_gate(thread_state& thread, const session* own) noexcept {
    if (own != nullptr && own->collecting.load(std::memory_order_acquire))
        return change_gate(thread, gate_local | session_gate(*own), 0);
    change_gate(thread, 0, gate_local);
    reopen_gate(thread);
}

void leave_other_session(thread_state& thread, const session* own) noexcept {
    if (own == nullptr) own = find_session(global_generation().load(std::memory_order_acquire));
    if (own != nullptr && own->generation.load(std::memory_order_relaxed) == thread.bound_session)
        return;
    leave_binding(thread, *thread.record);
}

}  // namespace

void update_gate(thread_state& thread) noexcept {
    if (register_thread(thread) == nullptr) return;
    const std::int32_t before = load_gate();
    const session* own = own_session(thread);
    const bool closed = close_for_left_out(thread);
    if (!closed) open_gate(thread, own);
    if (((before | load_gate()) & gate_devices) != 0) tell_guests<&thread_guest::follow>();
    if (!closed) leave_other_session(thread, own);
}

}  // namespace coroscope::runtime::inline writer
