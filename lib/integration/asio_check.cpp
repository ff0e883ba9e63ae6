// SPDX-License-Identifier: Apache-2.0

// Is Asio tracked in this program? Asked without a header of Asio: a program that uses it has a certain
// object of it, and one that tracks it has an object of asio.hpp. Both are weak references here, which the
// linker resolves where the program or one of its libraries defines them.
//
// Where only parts of a program are tracked, the linker takes Asio's inline functions from any of them. The
// constructor of Asio's scheduler is one of these: a tracked one says so (HANDLER_TRACKING_INIT), and
// a tracked operation without such a scheduler comes from a program that is mixed.

#include <atomic>

#include <coroscope/integration/asio.hpp>

#include "../runtime/program_faults.hpp"
#include "asio_operations.hpp"

#define COROSCOPE_WEAK_OBJECT(name, symbol)                                                        \
    extern "C" __attribute__((weak)) const char name __asm__(symbol)

// service_base<scheduler>::id, which an io_context of either Asio defines.
COROSCOPE_WEAK_OBJECT(coroscope_boost_asio_used,
                      "_ZN5boost4asio6detail30execution_context_service_baseINS1_9schedulerEE2idE");
COROSCOPE_WEAK_OBJECT(coroscope_asio_used,
                      "_ZN4asio6detail30execution_context_service_baseINS0_9schedulerEE2idE");
COROSCOPE_WEAK_OBJECT(coroscope_asio_is_tracked, "coroscope_asio_tracked");

namespace coroscope::asio {

namespace {

constinit std::atomic<bool> mixture_seen{false};

}  // namespace

constinit std::atomic<bool> scheduler_seen{false};

void scheduler_created() noexcept { scheduler_seen.store(true, std::memory_order_relaxed); }

void scheduler_missing() noexcept {
    if (mixture_seen.exchange(true, std::memory_order_relaxed)) return;
    runtime::tell_asio_tracking(trace::asio_tracking::mixed);
}

}  // namespace coroscope::asio

namespace coroscope::runtime {

trace::asio_tracking asio_tracking() noexcept {
    if (asio::mixture_seen.load(std::memory_order_relaxed)) return trace::asio_tracking::mixed;
    const bool used = &coroscope_boost_asio_used != nullptr || &coroscope_asio_used != nullptr;
    const bool untracked = used && &coroscope_asio_is_tracked == nullptr;
    return untracked ? trace::asio_tracking::missing : trace::asio_tracking::in_order;
}

const char* message_of(trace::asio_tracking state) noexcept {
    switch (state) {
        case trace::asio_tracking::missing:
            return "Asio is used and not tracked: its operations are not recorded.";
        case trace::asio_tracking::mixed:
            return "Asio is tracked in parts of the program only: operations may be missing.";
        case trace::asio_tracking::in_order: break;
    }
    return "";
}

}  // namespace coroscope::runtime
