// SPDX-License-Identifier: Apache-2.0
#pragma once

// The recording half of ranges: what one remembers of its start, and the calls that write its records.

#include <cstddef>
#include <cstdint>

#include <coroscope/detail/export.hpp>
#include <coroscope/scope.hpp>
#include <coroscope/sequence.hpp>

namespace coroscope::detail {

/// A begun range: its start, where its label stands in the trace, and who records it. 24 bytes.
struct range_start {
    scope_start start{0, 0};
    std::uint32_t label = 0;    ///< serial of the label record of the starting thread
    std::uint32_t session = 0;  ///< generation of the session in which it began
};

/// Whose stretch it is: a block's, which nests as calls do, or that of something which completes anywhere.
enum class range_extent : std::uint8_t { block, completion };

/// How a range is written down in the program: a block, an object that is begun and ended by hand, or a shared handle.
enum class range_form : std::uint8_t { block, by_hand, shared };

/// What a range has beside its label.
struct range_traits {
    range_form form;
    deferred place{};                      ///< in a sequence of deferred work
    const value_source* inputs = nullptr;  ///< for observers
};

/// Begins it for the session and for the observers.
COROSCOPE_API void begin_range(range_start& range, const char* label, std::size_t size,
                               const range_traits& traits) noexcept;

/// Does an observer of this begun range ask for outputs? Then it takes them.
COROSCOPE_API void offer_outputs(const range_start& range, const value_source& outputs) noexcept;

/// Writes into the session in which the range began, whatever records on this thread. Where that session
/// is over, the end is counted among the range_faults.
COROSCOPE_API void end_range(const range_start& range, range_extent extent) noexcept;

/// Writes item `number` of a begun range, as above; 0: it will yield some.
COROSCOPE_API void record_item(const range_start& range, std::uint64_t number) noexcept;

/// Writes that a begun range ends where this stream of a device comes to here, if its session records devices.
void record_range_stream(const range_start& range, void* stream, bool per_thread) noexcept;

}  // namespace coroscope::detail
