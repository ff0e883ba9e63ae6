// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reports of allocators: where a session asks for them (profile_options::profile_memory), each becomes a
// record, and the analysis gives it to the scopes of its thread that were open then.
//
//   void* pool::take(std::size_t bytes) {
//       void* block = …;
//       coroscope::report_allocation(block, bytes, {in_use += bytes, reserved});
//
// memory_resource.hpp reports for std::pmr, the library coroscope-memory-hook for operator new and delete.
// Any thread, any time, from inside an allocator too: a report allocates nothing by the means that report.
// Where no session asks it costs a test. What the runtime allocates for itself is not reported.

#include <cstddef>
#include <cstdint>

#include <coroscope/config.hpp>
#include <coroscope/detail/export.hpp>
#include <coroscope/detail/thread_state.hpp>

namespace coroscope {

/// What the allocator has given out, and what it holds to give out, both after the event; in bytes.
struct memory_totals {
    std::int64_t allocated = 0;
    std::int64_t reserved = 0;
};

namespace detail {

enum class memory_report : std::uint32_t { allocated = 0, released = 1, out_of_memory = 2 };

COROSCOPE_API void record_memory(memory_report what, const void* address, std::size_t bytes,
                                 const memory_totals& totals) noexcept;

inline namespace COROSCOPE_ABI {

inline void report_memory(memory_report what, const void* address, std::size_t bytes,
                          const memory_totals& totals) noexcept {
    if (COROSCOPE_ENABLED != 0 && is_recording()) [[unlikely]]
        record_memory(what, address, bytes, totals);
}

}  // namespace COROSCOPE_ABI
}  // namespace detail

inline namespace COROSCOPE_ABI {

inline void report_allocation(const void* address, std::size_t bytes,
                              const memory_totals& totals = {}) noexcept {
    detail::report_memory(detail::memory_report::allocated, address, bytes, totals);
}

inline void report_release(const void* address, std::size_t bytes,
                           const memory_totals& totals = {}) noexcept {
    detail::report_memory(detail::memory_report::released, address, bytes, totals);
}

/// `bytes` were asked for and could not be had.
inline void report_out_of_memory(std::size_t bytes, const memory_totals& totals = {}) noexcept {
    detail::report_memory(detail::memory_report::out_of_memory, nullptr, bytes, totals);
}

}  // namespace COROSCOPE_ABI
}  // namespace coroscope
