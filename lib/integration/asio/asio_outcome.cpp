// SPDX-License-Identifier: Apache-2.0
#include <coroscope/integration/asio_outcome.hpp>

#include <cerrno>
#include <cstring>

#include "../../runtime/tasks/task_recording.hpp"
#include "asio_thread.hpp"

namespace coroscope::asio {

await_outcome failure_of(int value, const char* category) noexcept {
    constexpr int channel_cancelled = 2;
    const bool is_system =  // Boost's name, and standalone Asio's
        std::strcmp(category, "system") == 0 || std::strcmp(category, "asio.system") == 0;
    const bool cancelled =
        (value == ECANCELED && is_system) ||
        (value == channel_cancelled && std::strcmp(category, "asio.channel") == 0);
    return cancelled ? await_outcome::cancelled : await_outcome::error;
}

// Keeps a failure that the operation's results showed: it is more exact than the exception.
void replace_outcome(tracked_task& resumed, await_outcome outcome) noexcept {
    if (resumed.outcome > static_cast<std::uint8_t>(await_outcome::value)) return;
    if (load_gate() == 0 || !resumed.is(detail::task_installed)) return;
    if (resumed.mixes_awaits) outcome = await_outcome::unknown;
    resumed.outcome = static_cast<std::uint8_t>(outcome);
    if (detail::is_recording()) detail::record_outcome(resumed.task, outcome);
}

}  // namespace coroscope::asio
