// SPDX-License-Identifier: Apache-2.0
#include "cost_budget.hpp"

#include <algorithm>
#include <ctime>

#include "store_parts.hpp"

namespace coroscope::runtime::inline store {
namespace {

// Periods are this long at least, so that the bytes of one chunk are a small part of a period.
constexpr std::int64_t shortest_period_ns = 100'000'000;
constexpr std::int64_t least_process_ns = 50'000'000;

// Bytes of the records whose costs the calibration measures.
constexpr double scope_bytes = trace::record_unit_bytes;
constexpr double await_bytes = 4 * trace::record_unit_bytes;

std::int64_t clock_ns(clockid_t clock) noexcept {
    timespec at{};
    ::clock_gettime(clock, &at);
    return std::int64_t{at.tv_sec} * 1'000'000'000 + at.tv_nsec;
}

void publish(std::uint32_t& field, std::uint32_t value) noexcept {
    __atomic_store_n(&field, value, __ATOMIC_RELAXED);
}

std::uint32_t share_ppm(double part_ns, double whole_ns) noexcept {
    constexpr double million = 1e6;
    return static_cast<std::uint32_t>(std::clamp(part_ns / whole_ns * million, 0.0, million));
}

}  // namespace

double recording_ns_per_byte(const trace::file_header& header) noexcept {
    if (header.last.ticks <= header.start.ticks) return 0;
    const double ns_per_tick =
        static_cast<double>(header.last.monotonic_ns - header.start.monotonic_ns) /
        static_cast<double>(header.last.ticks - header.start.ticks);
    constexpr double cost_unit = 256;
    return std::max(header.scope_cost_ticks / scope_bytes, header.await_cost_ticks / await_bytes) /
           cost_unit * ns_per_tick;
}

cost_budget::moment cost_budget::now(const store_parts& parts) noexcept {
    return {clock_ns(CLOCK_MONOTONIC), clock_ns(CLOCK_PROCESS_CPUTIME_ID),
            clock_ns(CLOCK_THREAD_CPUTIME_ID), parts.pool.opened() * parts.pool.chunk_bytes()};
}

void cost_budget::look(store_parts& parts) noexcept {
    const budget_settings& settings = parts.settings.budget;
    if (settings.budget_ppm == 0) return;
    const bool begins = begin_.wall_ns == 0;
    if (!begins && clock_ns(CLOCK_MONOTONIC) - begin_.wall_ns < shortest_period_ns) return;
    const moment end = now(parts);
    if (begins) begin_ = end;
    const std::int64_t process_ns = end.process_ns - begin_.process_ns;
    if (process_ns < least_process_ns) return;
    trace::file_header& header = parts.header();
    const double recording_ns =
        static_cast<double>(end.bytes - begin_.bytes) * recording_ns_per_byte(header) +
        static_cast<double>(end.helper_ns - begin_.helper_ns);
    begin_ = end;
    const std::uint32_t cost_ppm = share_ppm(recording_ns, static_cast<double>(process_ns));
    settings.cost_ppm->store(cost_ppm, std::memory_order_relaxed);
    publish(header.cost_ppm, cost_ppm);
    const std::uint32_t before = settings.request_interval->load(std::memory_order_relaxed);
    const std::uint32_t next = next_interval(before, settings, cost_ppm);
    if (next == before) return;
    settings.request_interval->store(next, std::memory_order_relaxed);
    publish(header.request_interval, next);
    publish(header.interval_changes, header.interval_changes + 1);
}

}  // namespace coroscope::runtime::inline store
