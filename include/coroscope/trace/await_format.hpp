// SPDX-License-Identifier: Apache-2.0
#pragma once

// The facts of an await beside its times: how it ended, and the object that it waited for. See also
// docs/reference/format.md.

#include <cstdint>

#include <coroscope/trace/fact_format.hpp>

namespace coroscope::trace {

// clang-format off: tables with a remark beside each row
/// How an await ended. It is in the value of the `resume` record that ends the await; a later fact
/// of kind await_outcome about the same await replaces it.
enum class await_outcome : std::uint8_t {
    unknown = 0,
    value = 1,      ///< its expression gave a result, and no error code is known
    error = 2,      ///< with an error code, thrown or not
    exception = 3,  ///< an exception left its expression
    cancelled = 4,  ///< the operation was cancelled
};

/// The outcome in the value of `resume`: three bits above the flags.
inline constexpr unsigned outcome_shift = 3;
inline constexpr std::uint32_t outcome_mask = 0x7;

constexpr std::uint32_t make_outcome(await_outcome outcome) noexcept {
    return static_cast<std::uint32_t>(outcome) << outcome_shift;
}
constexpr await_outcome outcome_of(std::uint32_t value) noexcept {
    const std::uint32_t outcome = value >> outcome_shift & outcome_mask;
    return outcome > static_cast<std::uint32_t>(await_outcome::cancelled)
               ? await_outcome::unknown
               : static_cast<await_outcome>(outcome);
}

/// The outcome of the last await of a task, which runs on the writing thread. The bits above the
/// kind of the fact are the outcome.
struct await_outcome_body {
    std::uint64_t task;
    std::uint64_t reserved;
};
static_assert(sizeof(await_outcome_body) == 16);

/// The kind of an object that tasks await: the bits above the kind of the fact.
enum class object_kind : std::uint8_t {
    other = 0,  ///< its name says more
    timer = 1,
    socket = 2,
    resolver = 3,
    signals = 4,
    file = 5,     ///< a file or a descriptor
    channel = 6,
    serial = 7,   ///< a serial port
    lock = 8,
    future = 9,
};

/// An awaited object: the value of `suspend` is its number. If an object is destroyed, a later one
/// of the same kind at the same address has its number.
struct object_body {
    std::uint32_t number;  ///< from 1, unique in the process
    std::uint8_t name_bytes;
    std::uint8_t reserved[3];
    // name_bytes of the name follow
};
static_assert(sizeof(object_body) == 8);

/// An event of the whole program: the bits above the kind of the fact.
enum class mark_kind : std::uint8_t {
    end_of_service = 1,  ///< mark_body: tasks that are abandoned from here on end with the service
    request_interval = 2,  ///< interval_body: the first request under another interval begins
};

struct mark_body {
    std::uint64_t task;  ///< current on the thread
    std::uint64_t reserved;
};
static_assert(sizeof(mark_body) == 16);

/// A new interval: one of so many requests of each type is recorded in full from here on.
struct interval_body {
    std::uint32_t interval;
    std::uint32_t before;    ///< the interval until here
    std::uint32_t cost_ppm;  ///< estimate, of the process's processor time; 0: unknown
    std::uint32_t reserved;
};
static_assert(sizeof(interval_body) == 16);
// clang-format on

}  // namespace coroscope::trace
