// SPDX-License-Identifier: Apache-2.0
#include "interposed.hpp"

#include <dlfcn.h>

#include "../base/kept_errno.hpp"
#include "../base/report_guard.hpp"
#include "../writer/recorder.hpp"

namespace coroscope::runtime::inline scopes {
namespace {

// Returns whether the thread is inside the recorder: its registration or refill is under way.
bool is_in_recorder(const thread_state& thread) noexcept {
    return thread.record != nullptr && thread.record->refilling != nullptr;
}

// Returns whether a registered thread has an unknown gate. Then either it is in a forked child that
// has not begun to record, or it has left. A report must not begin the child's recording, because
// the child may be about to become another program.
bool waits_for_first_record(const thread_state& thread) noexcept {
    constexpr std::int32_t unknown = detail::gate_unknown & ~detail::gate_careful;
    return thread.record != nullptr && (detail::load_gate() & unknown) != 0;
}

}  // namespace

bool connect_interposed(const char* name, const void* recorder) noexcept {
    using connect_function = void (*)(const void*) noexcept;
    const auto connect = reinterpret_cast<connect_function>(::dlsym(RTLD_DEFAULT, name));
    if (connect == nullptr) return false;
    connect(recorder);
    return true;
}

bool may_report_interposed() noexcept {
    return detail::is_recording() && !is_in_recorder(this_thread) &&
           !waits_for_first_record(this_thread);
}

std::uint64_t begin_interposed(std::uint64_t feature) noexcept {
    if (!may_report_interposed()) return 0;
    const kept_errno programs;
    const report_guard outermost;
    if (!outermost || register_thread(this_thread) == nullptr) return 0;
    return wants(feature) ? now() : 0;
}

void threshold_ticks::begin(std::uint64_t length_ns) noexcept {
    length_ns_ = length_ns;
    began_ticks_ = current_ticks();
    began_ns_ = monotonic_now();
}

std::uint64_t threshold_ticks::at(std::uint64_t now_ticks) noexcept {
    constexpr std::int64_t long_enough_ns = 100'000'000;
    if (const std::uint64_t ticks = known_.load(std::memory_order_relaxed); ticks != 0)
        return ticks;
    const std::int64_t passed_ns = monotonic_now() - began_ns_;
    if (passed_ns <= 0 || now_ticks <= began_ticks_) return length_ns_;
    const double rate =
        static_cast<double>(now_ticks - began_ticks_) / static_cast<double>(passed_ns);
    const auto ticks = static_cast<std::uint64_t>(static_cast<double>(length_ns_) * rate);
    if (passed_ns >= long_enough_ns) known_.store(ticks | 1, std::memory_order_relaxed);
    return ticks;
}

}  // namespace coroscope::runtime::inline scopes
