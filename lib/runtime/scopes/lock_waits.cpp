// SPDX-License-Identifier: Apache-2.0
#include "lock_waits.hpp"

#include "../../trace/interposed_locks.hpp"
#include "../base/kept_errno.hpp"
#include "../base/report_guard.hpp"
#include "../writer/recorder.hpp"
#include "interposed.hpp"

namespace coroscope::runtime::inline scopes {
namespace {

using trace::interposed_wait;
using trace::lock_moment;

// A notified thread takes about this long to run. If the mutex was free by then, the thread did not
// wait for it.
constexpr std::uint64_t wake_up_ns = 50'000;
constinit threshold_ticks wake_up{};

std::uint64_t begin_wait() noexcept { return begin_interposed(trace::feature_locks); }

// If the thread does not record, only the time is known. Inside a report nothing is known.
lock_moment moment_now() noexcept {
    const kept_errno programs;
    const report_guard outermost;
    if (!outermost) return {0, 0};
    const bool records = may_report_interposed() && register_thread(this_thread) != nullptr;
    return {current_ticks(), records ? this_thread.mark : 0};
}

bool is_wake_up_alone(const interposed_wait& wait) noexcept {
    return wait.kind == trace::lock_kind::condition &&
           wait.released.ticks - wait.began < wake_up.at(wait.released.ticks);
}

void end_wait(const interposed_wait& wait) noexcept {
    const kept_errno programs;
    const report_guard outermost;
    if (!outermost || is_wake_up_alone(wait) || !wants(trace::feature_locks)) return;
    const std::uint64_t end = now();
    if (end < wait.began) return;
    const bool is_within = wait.released.ticks > wait.began && wait.released.ticks <= end;
    const lock_moment released = is_within ? wait.released : lock_moment{};
    write_fact(wait.began, trace::make_lock_wait_id(wait.kind, wait.bits),
               trace::lock_wait_body{end - wait.began, released.ticks,
                                     reinterpret_cast<std::uintptr_t>(wait.lock), this_thread.mark,
                                     released.mark, wait.holder, 0});
}

constexpr trace::lock_recorder lock_calls{begin_wait, moment_now, end_wait};

}  // namespace

bool watch_lock_waits() noexcept {
    wake_up.begin(wake_up_ns);
    return connect_interposed(trace::connect_locks_name, &lock_calls);
}

}  // namespace coroscope::runtime::inline scopes
