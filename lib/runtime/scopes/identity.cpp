// SPDX-License-Identifier: Apache-2.0
#include <coroscope/identity.hpp>

#include "../writer/recorder.hpp"

namespace coroscope {

using namespace runtime;

namespace {

// The current task and thread; 0 without a session, when tasks come and go unnoticed.
std::uint64_t current_mark() noexcept {
    return register_thread(this_thread) != nullptr && detail::is_recording() ? this_thread.mark : 0;
}

}  // namespace

task_identity current_task() noexcept { return {task_of(current_mark())}; }

request_identity current_request() noexcept {
    const std::uint64_t mark = current_mark();
    if (mark == 0) return {};
    return {task_of(mark), this_thread.record->id, monotonic_now()};
}

}  // namespace coroscope
