// SPDX-License-Identifier: Apache-2.0
#pragma once

// Converts CUPTI's records to those of a trace. Not thread-safe: its owner must pass one buffer at
// a time.

#include <cstddef>
#include <cstdint>

#include <coroscope/detail/device_recorder.hpp>
#include <coroscope/integration/cuda.hpp>

#include "activity_names.hpp"
#include "call_moments.hpp"
#include "call_tasks.hpp"
#include "clock_line.hpp"
#include "collected_periods.hpp"
#include "cupti_library.hpp"
#include "device_table.hpp"

namespace coroscope::cuda {

/// The id that identifies a task to CUPTI. It contains the period of collection, so that an id of
/// an earlier period belongs to no task.
inline constexpr unsigned external_task_bits = 64 - collected_periods::number_bits;
constexpr std::uint64_t external_id(std::uint32_t period, std::uint64_t task) noexcept {
    return task == 0 ? 0 : std::uint64_t{period} << external_task_bits | task;
}
constexpr std::uint32_t period_of_external(std::uint64_t id) noexcept {
    return static_cast<std::uint32_t>(id >> external_task_bits);
}
constexpr std::uint64_t task_of_external(std::uint64_t id) noexcept {
    return id & ((std::uint64_t{1} << external_task_bits) - 1);
}

class activity_reader {
public:
    /// Starts a session whose ids have the number `period`. Activities that ended before
    /// `start_ticks` are left out. `moments` has the starts of calls on the session's clock if
    /// CUPTI's records have another clock; else null.
    void begin(const cupti_functions& cupti, const clock_line& clock, const call_moments* moments,
               std::uint32_t period, std::uint64_t start_ticks) noexcept;

    /// After pause(), activities that begin later are left out. After resume() they are taken
    /// again, with ids of the number `period`.
    void pause(std::uint64_t ticks) noexcept { collected_.pause(ticks); }
    void resume(std::uint64_t ticks, std::uint32_t period) noexcept {
        collected_.resume(ticks, period);
    }

    bool is_paused() const noexcept { return collected_.is_paused(); }

    /// Writes the records of the buffer. Returns the number of lost records: their work was still
    /// in flight, at the end or when collection was switched off, or CUPTI could not time it.
    std::uint64_t read(std::uint8_t* buffer, std::size_t bytes,
                       detail::device_delivery& to) noexcept;

    /// Names a device that has no name yet.
    void name_device(std::uint32_t device, const char* name, detail::device_delivery& to) noexcept {
        if (!devices_.knows(device)) devices_.name(device, name, to);
    }

    /// The totals of kernels, copies and sets since begin().
    const recorded_work& work() const noexcept { return work_; }

private:
    struct activity;
    void read_one(const CUpti_Activity& record, detail::device_delivery& to) noexcept;
    std::uint64_t task_of(const activity& what, std::uint64_t start, std::uint64_t end) noexcept;
    void write(const activity& what, detail::device_delivery& to) noexcept;
    void write_call(const CUpti_Activity& record, detail::device_delivery& to) noexcept;
    void mend_clock(std::uint32_t correlation, std::uint64_t start_ns) noexcept;
    void write_kernel(const CUpti_Activity& record, detail::device_delivery& to) noexcept;
    template <class Record>
    void write_moved(trace::device_activity what, const Record& moved, std::uint32_t name,
                     detail::device_delivery& to) noexcept;
    template <class Record>
    void write_copy(const Record& copy, detail::device_delivery& to) noexcept;
    void write_synchronization(const CUpti_Activity& record, detail::device_delivery& to) noexcept;
    void write_overhead(const CUpti_Activity& record, detail::device_delivery& to) noexcept;
    void write_memory(const CUpti_Activity& record, detail::device_delivery& to) noexcept;
    void read_name(const CUpti_Activity& record, detail::device_delivery& to) noexcept;

    const cupti_functions* cupti_ = nullptr;
    clock_line clock_;
    const call_moments* moments_ = nullptr;
    collected_periods collected_;
    std::uint64_t start_ticks_ = 0;
    std::uint64_t lost_ = 0;
    recorded_work work_;
    call_tasks tasks_;
    activity_names names_;
    device_table devices_;
};

}  // namespace coroscope::cuda
