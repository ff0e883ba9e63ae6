// SPDX-License-Identifier: Apache-2.0

// Finds the line that relates CUPTI's clock to the session's clock.

#include <ctime>

#include "cupti_recorder.hpp"

namespace coroscope::cuda {
namespace {

using detail::device_message;

std::uint64_t CUPTIAPI timestamp() { return the_recorder().now_ns(); }

// Long enough for a rate that is exact to 0.001 %.
constexpr std::int64_t apart_ns = 5'000'000;

clock_line measure_line() noexcept {
    const trace::clock_point first = detail::session_clock_point();
    const timespec nap{0, apart_ns};
    ::nanosleep(&nap, nullptr);
    trace::clock_point second = detail::session_clock_point();
    while (second.ticks <= first.ticks || second.monotonic_ns <= first.monotonic_ns)
        second = detail::session_clock_point();
    return clock_line::through(first, second);
}

}  // namespace

bool cupti_recorder::set_clock(device_message& message) noexcept {
    if (!has_clock_) clock_ = measure_line();
    has_clock_ = true;
    record_line_ = clock_;
    if (cupti_->set_thread_id_type != nullptr)
        cupti_->set_thread_id_type(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    notes_moments_.store(false);
    if (cupti_->register_timestamp != nullptr &&
        cupti_->register_timestamp(timestamp) == CUPTI_SUCCESS)
        return true;
    return read_clock(message);
}

// If CUPTI cannot use our clock, we read its own clock beside ours, now and at each call for which
// it calls us back.
bool cupti_recorder::read_clock(device_message& message) noexcept {
    // Takes the narrowest of several readings, because the thread may lose its processor during one
    // of them.
    constexpr int readings = 8;
    std::uint64_t narrowest = ~std::uint64_t{0};
    for (int reading = 0; reading < readings; ++reading) {
        std::uint64_t ns = 0;
        const std::uint64_t before = detail::session_ticks();
        const CUptiResult result = cupti_->timestamp(&ns);
        const std::uint64_t width = detail::session_ticks() - before;
        if (result != CUPTI_SUCCESS) return fail(message, "cuptiGetTimestamp", result);
        if (width >= narrowest) continue;
        narrowest = width;
        record_line_.base_ns = ns;
        record_line_.base_ticks = before + width / 2;
    }
    moments_.forget();
    if (cupti_->enable_domain != nullptr)
        for (const CUpti_CallbackDomain domain :
             {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API})
            if (cupti_->enable_domain(1, subscriber_, domain) == CUPTI_SUCCESS)
                notes_moments_.store(true);
    return true;
}

}  // namespace coroscope::cuda
