// SPDX-License-Identifier: Apache-2.0
#pragma once

// The identity of an executor, for integrations. The runtime gives an executor its number when a
// session first records work for it. Thread-safe. None of these functions throws.

#include <cstdint>

#include <coroscope/detail/export.hpp>

namespace coroscope::detail {

/// The kind of an executor; the numbers are those of trace::executor_kind.
enum class executor_kind : std::uint8_t {
    other = 0,
    context = 1,
    io_context = 2,
    thread_pool = 3,
    system_executor = 4,
    strand = 5,
    fibers = 6,
    arena = 7,
};

/// An executor as a job's poster knows it. Two places with the same address and the same name are
/// one executor. If an executor is made where another one was, it counts as that one, unless
/// forget_executor() was called in between or its name is at another address.
struct executor_place {
    const void* address = nullptr;  ///< of the executor; null: the executor is unknown
    const char* name = nullptr;     ///< NUL-terminated, copied at the first use; may be null
    executor_kind kind = executor_kind::other;
};

/// Must be called when an executor ends whose address may be used again.
COROSCOPE_API void forget_executor(const void* address) noexcept;

/// The distance of the two keys of a context of Asio in the runtime's table of executors.
inline constexpr std::uintptr_t typed_step = 8;

/// The address by which all executors of one type count as one.
template <class Executor>
inline constexpr char executor_type_place = 0;

}  // namespace coroscope::detail
