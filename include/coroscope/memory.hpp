// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reports of allocators. If a session asks for them (profile_options::profile_memory), each report
// becomes a record, and the analysis attributes it to the open scopes of its thread.
//
//   void* pool::take(std::size_t bytes) {
//       void* block = …;
//       coroscope::report_allocation(block, bytes, {in_use += bytes, reserved});
//
// memory_resource.hpp reports for std::pmr; the library coroscope-memory-hook reports for operator
// new and delete.
//
// Thread-safety: any thread may report at any time, also from inside an allocator. A report never
// causes another report, because it does not allocate through a reporting allocator. If no session
// asks for reports, a report costs one test. The runtime's own allocations are not reported.

#include <cstddef>
#include <cstdint>

#include <coroscope/config.hpp>
#include <coroscope/detail/export.hpp>
#include <coroscope/detail/thread_state.hpp>

namespace coroscope {

/// The bytes that the allocator has given out, and the bytes that it holds in all, both after the
/// event.
struct memory_totals {
    std::int64_t allocated = 0;
    std::int64_t reserved = 0;
};

namespace detail {

enum class memory_report : std::uint32_t { allocated = 0, released = 1, out_of_memory = 2 };

/// Writes a record into the session that records on this thread, if it asked for memory. Any thread
/// may call it.
COROSCOPE_API void record_memory(memory_report what, const void* address, std::size_t bytes,
                                 const memory_totals& totals) noexcept;

inline namespace COROSCOPE_ABI {

inline void report_memory(memory_report what, const void* address, std::size_t bytes,
                          const memory_totals& totals) noexcept {
    if (COROSCOPE_ENABLED != 0 && detail::is_recording()) [[unlikely]]
        detail::record_memory(what, address, bytes, totals);
}

}  // namespace COROSCOPE_ABI
}  // namespace detail

inline namespace COROSCOPE_ABI {

/// Reports that `bytes` at `address` were allocated. Must be called after the allocation.
inline void report_allocation(const void* address, std::size_t bytes,
                              const memory_totals& totals = {}) noexcept {
    detail::report_memory(detail::memory_report::allocated, address, bytes, totals);
}

/// Reports that `bytes` at `address` were released. Should be called before the memory can be
/// reused.
inline void report_release(const void* address, std::size_t bytes,
                           const memory_totals& totals = {}) noexcept {
    detail::report_memory(detail::memory_report::released, address, bytes, totals);
}

/// Reports that `bytes` were requested and not available.
inline void report_out_of_memory(std::size_t bytes, const memory_totals& totals = {}) noexcept {
    detail::report_memory(detail::memory_report::out_of_memory, nullptr, bytes, totals);
}

}  // namespace COROSCOPE_ABI
}  // namespace coroscope
