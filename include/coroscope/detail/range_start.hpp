// SPDX-License-Identifier: Apache-2.0
#pragma once

// The recording half of ranges: the data of a started range, and the functions that write its
// records.

#include <cstddef>
#include <cstdint>

#include <coroscope/detail/export.hpp>
#include <coroscope/scope.hpp>
#include <coroscope/sequence.hpp>

namespace coroscope::detail {

/// A begun range: its start, the place of its label in the trace, and its session. 24 bytes.
struct range_start {
    scope_start start{0, 0};
    std::uint32_t label = 0;  ///< serial of the label record of the starting thread
    /// Generation of the session in which it began. With left_out_request: the range is a request
    /// that is left out.
    std::uint32_t session = 0;
};

/// The extent of a range: a block, which nests as calls do, or an operation that completes on any
/// thread.
enum class range_extent : std::uint8_t { block, completion };

/// The form of a range in the program: a block, an object that is begun and ended by hand, or a
/// shared handle.
enum class range_form : std::uint8_t { block, by_hand, shared };

/// The properties of a range beside its label.
struct range_traits {
    range_form form;
    deferred place{};                      ///< in a sequence of deferred work
    const value_source* inputs = nullptr;  ///< for observers
};

/// Begins the range for the session and for the observers.
COROSCOPE_API void begin_range(range_start& range, const char* label, std::size_t size,
                               const range_traits& traits) noexcept;

/// Offers outputs to the observers of this begun range; those that need outputs take them.
COROSCOPE_API void offer_outputs(const range_start& range, const value_source& outputs) noexcept;

/// Writes the end into the session in which the range began, even if another session records on
/// this thread. If the range's session is over, the end counts among the range_faults.
COROSCOPE_API void end_range(const range_start& range, range_extent extent) noexcept;

/// Writes item `number` of a begun range, into its own session, too. Number 0 marks it as a range
/// over items.
COROSCOPE_API void record_item(const range_start& range, std::uint64_t number) noexcept;

/// Records that a begun range ends when this stream of a device reaches this point, if its session
/// records devices.
void record_range_stream(const range_start& range, void* stream, bool per_thread) noexcept;

}  // namespace coroscope::detail
