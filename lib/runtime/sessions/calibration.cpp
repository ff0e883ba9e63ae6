// SPDX-License-Identifier: Apache-2.0
#include "calibration.hpp"

#include <algorithm>
#include <mutex>

#include <coroscope/detail/task_transitions.hpp>
#include <coroscope/scope.hpp>

#include "../base/own_mutex.hpp"
#include "../writer/recorder.hpp"

namespace coroscope::runtime::inline sessions {
namespace {

constexpr int repetitions = 15;
constexpr int per_repetition = 64;
constexpr std::size_t scratch_bytes = 8192;

constinit own_mutex measured_mutex;
constinit bool measured = false;
constinit recording_cost measured_cost{};
constinit site calibration_site{"", std::source_location(), site_kind::scope};

// Makes the site look registered, without a definition in any trace.
void prepare_site() noexcept {
    calibration_site.tag = make_tag(record_kind::scope, 0, 0);
    calibration_site.duration_limit = site::registered_limit;
}

// The thread records into scratch memory while this lives.
class scratch_recording {
public:
    scratch_recording() noexcept : cursor_(this_thread.cursor), limit_(load_limit()) {
        aim(memory_, memory_ + scratch_bytes - limit_distance);
        change_gate(this_thread, detail::gate_local | clock_gate(), detail::gate_live);
    }
    ~scratch_recording() {
        change_gate(this_thread, standing_gate() & detail::gate_live, detail::gate_local);
        aim(cursor_, limit_);
    }
    scratch_recording(const scratch_recording&) = delete;
    scratch_recording& operator=(const scratch_recording&) = delete;
    void rewind() noexcept { this_thread.cursor = memory_; }

private:
    static void aim(char* cursor, char* limit) noexcept {
        this_thread.cursor = cursor;
        __atomic_store_n(&this_thread.limit, limit, __ATOMIC_RELAXED);
    }
    char* cursor_;
    char* limit_;
    alignas(64) char memory_[scratch_bytes];
};

void record_scope() noexcept {
    detail::scope_start start{0, this_thread.mark};
    start.ticks = now();
    detail::end_scope(calibration_site, &start);
}

void record_await() noexcept {
    detail::task_state task{};
    task.task = detail::new_task_id();
    task.announced = static_cast<std::uint16_t>(this_thread.bound_session);
    task.carried = this_thread.carried;
    const detail::resumer outside = detail::current_resumer();
    task.before = outside;
    detail::install_task(task);
    detail::departure leaving;
    detail::suspend_active(task, leaving);
    detail::resume_active(task);
    detail::restore(outside);
}

template <class Step>
std::uint32_t ticks_256_per(Step step, scratch_recording& scratch) noexcept {
    std::uint64_t best = ~std::uint64_t{0};
    for (int repetition = 0; repetition < repetitions; ++repetition) {
        scratch.rewind();
        const std::uint64_t begin = now();
        for (int at = 0; at < per_repetition; ++at) step();
        best = std::min(best, now() - begin);
    }
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(best * 256 / per_repetition, ~std::uint32_t{0}));
}

}  // namespace

recording_cost measure_recording_cost() noexcept {
    const std::lock_guard lock(measured_mutex);
    if (measured) return measured_cost;
    prepare_site();
    scratch_recording scratch;
    measured_cost = {ticks_256_per(record_scope, scratch), ticks_256_per(record_await, scratch)};
    measured = true;
    return measured_cost;
}

}  // namespace coroscope::runtime::inline sessions
