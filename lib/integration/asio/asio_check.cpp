// SPDX-License-Identifier: Apache-2.0

// If only parts of a program are tracked, the linker takes Asio's inline functions from any of
// them. The constructor of Asio's scheduler is such a function: a tracked one calls us
// (HANDLER_TRACKING_INIT). A tracked operation without such a scheduler therefore comes from a
// mixed program.
//
// Asio's promises find out at run time whether a co_spawn follows a known protocol
// (asio_entry.hpp).

#include "asio_check.hpp"

#include <coroscope/integration/asio.hpp>

#include "../../runtime/sessions/program_faults.hpp"
#include "../../runtime/writer/executors.hpp"

namespace coroscope::asio {

namespace {

using trace::asio_tracking;

constinit std::atomic<asio_tracking> found{asio_tracking::in_order};

// A mixed program explains any other state, so that state stays.
void find(asio_tracking state) noexcept {
    asio_tracking before = found.load(std::memory_order_relaxed);
    while (before != state && before != asio_tracking::mixed)
        if (found.compare_exchange_weak(before, state, std::memory_order_relaxed))
            return runtime::tell_asio_tracking(state);
}

}  // namespace

constinit std::atomic<bool> scheduler_seen{false};

void scheduler_created(const void* context) noexcept {
    scheduler_seen.store(true, std::memory_order_relaxed);
    if (context != nullptr) runtime::forget_context(context);
}

void scheduler_missing() noexcept { find(asio_tracking::mixed); }

void protocol_unrecognised() noexcept { find(asio_tracking::unrecognised); }

asio_tracking reported_fault() noexcept { return found.load(std::memory_order_relaxed); }

}  // namespace coroscope::asio
