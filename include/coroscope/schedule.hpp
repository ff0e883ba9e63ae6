// SPDX-License-Identifier: Apache-2.0
#pragma once

// schedule: the steps of a program that a scheduled_profile records (torch: profiler.schedule).
//
//   coroscope::schedule plan({.wait = 1, .warmup = 1, .active = 2, .repeat = 2, .skip_first = 2});
//   plan(4) == coroscope::profiler_action::record
//
// A cycle has `wait` steps without recording, `warmup` steps whose recording is thrown away, and
// `active` steps that are recorded, the last of which saves. A schedule is a plain constant value:
// any thread may use it, and it allocates nothing. Nothing throws. status() names an error in the
// options; a schedule with an error never records.

#include <cstdint>

namespace coroscope {

/// The action for a step.
enum class profiler_action : std::uint8_t { none, warmup, record, record_and_save };

/// Numbers of steps. None may be negative, and `active` must be at least 1.
struct schedule_options {
    int wait = 0;
    int warmup = 0;
    int active = 0;
    int repeat = 0;           ///< cycles; 0: unlimited
    int skip_first = 0;       ///< steps before the first cycle
    int skip_first_wait = 0;  ///< not 0: the first cycle does not wait
};

/// The validity of a schedule's options.
enum class schedule_state : std::uint8_t { good, warning, error };

/// The validity of a schedule's options, with the reason of an error or a warning.
struct schedule_status {
    schedule_state state = schedule_state::good;
    const char* message = "";  ///< the error or the doubt: a literal; else empty
};

/// A plan of the steps to record; see above.
class schedule {
public:
    /// Records every step, from the first to the last.
    constexpr schedule() noexcept = default;
    constexpr explicit schedule(const schedule_options& options) noexcept
        : options_(options), by_cycles_(true) {}

    /// Checks the options.
    constexpr schedule_status status() const noexcept {
        const schedule_options& o = options_;
        if (!by_cycles_) return {};
        if (o.wait < 0 || o.warmup < 0 || o.repeat < 0 || o.skip_first < 0 ||
            o.skip_first_wait < 0 || o.active <= 0)
            return {schedule_state::error,
                    "Invalid profiler schedule arguments: none may be negative, and active must be "
                    "positive."};
        if (o.warmup == 0)
            return {schedule_state::warning,
                    "Profiler won't be using warmup, this can skew profiler results"};
        return {};
    }

    /// Whether the schedule has cycles. Then each recorded step is in a range "ProfilerStep#N".
    constexpr bool divides_steps() const noexcept { return by_cycles_; }

    /// Returns the action for a step, counted from 0.
    constexpr profiler_action operator()(std::uint64_t step) const noexcept {
        if (!by_cycles_) return profiler_action::record;
        if (status().state == schedule_state::error) return profiler_action::none;
        const schedule_options& o = options_;
        if (step < natural(o.skip_first)) return profiler_action::none;
        step -= natural(o.skip_first);
        if (o.skip_first_wait != 0) step += natural(o.wait);
        const std::uint64_t cycle = natural(o.wait) + natural(o.warmup) + natural(o.active);
        if (o.repeat > 0 && step / cycle >= natural(o.repeat)) return profiler_action::none;
        const std::uint64_t place = step % cycle;
        if (place < natural(o.wait)) return profiler_action::none;
        if (place < natural(o.wait) + natural(o.warmup)) return profiler_action::warmup;
        return place + 1 == cycle ? profiler_action::record_and_save : profiler_action::record;
    }

private:
    static constexpr std::uint64_t natural(int count) noexcept {
        return static_cast<std::uint64_t>(count);
    }

    schedule_options options_{};
    bool by_cycles_ = false;
};

}  // namespace coroscope
