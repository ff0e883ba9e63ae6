// SPDX-License-Identifier: Apache-2.0
#include "program_faults.hpp"

#include "../writer/session_table.hpp"

namespace coroscope::runtime::inline sessions {

const char* message_of(trace::asio_tracking state) noexcept {
    switch (state) {
        case trace::asio_tracking::missing:
            return "Asio is used and not tracked: its operations are not recorded.";
        case trace::asio_tracking::mixed:
            return "Asio is tracked in parts of the program only: operations may be missing.";
        case trace::asio_tracking::untried:
            return "The program's Asio is of a version that this Coroscope was not tried with: "
                   "the records of its tasks may be incomplete.";
        case trace::asio_tracking::unrecognised:
            return "The program's Asio ends a co_spawn in a way that this Coroscope does not know: "
                   "the awaiter of a co_spawn may be shown as waiting without a wake.";
        case trace::asio_tracking::in_order: break;
    }
    return "";
}

void tell_asio_tracking(trace::asio_tracking state) noexcept {
    detail::thread_state& thread = detail::this_thread;
    if (thread.record == nullptr) return;
    const store_use use(*thread.record, effective_generation(thread));
    if (use.owner() != nullptr)
        __atomic_store_n(&use.owner()->store->header().asio, static_cast<std::uint64_t>(state),
                         __ATOMIC_RELAXED);
}

}  // namespace coroscope::runtime::inline sessions
