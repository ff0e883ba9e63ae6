// SPDX-License-Identifier: Apache-2.0
#pragma once

// stream_range: a range over something that yields many items, a generator or a channel. It records when
// each item came, from which follow the delay of the first and the gaps between the others
// (`coroscope streams`).
//
//   coroscope::stream_range rows("rows");
//   while (auto row = cursor.next()) { rows.item(); … }
//
// It is a range in every other way. Items may come on any thread; a record of 32 bytes each.

#include <coroscope/config.hpp>
#include <coroscope/range.hpp>

namespace coroscope {
namespace detail {

/// The range yields items from here on.
COROSCOPE_API void begin_stream(range_state& state) noexcept;
COROSCOPE_API void record_item(range_state& state) noexcept;

}  // namespace detail

inline namespace COROSCOPE_ABI {

class stream_range : public range {
public:
    /// Names no range.
    stream_range() noexcept = default;

    /// Begins. `label` is anything with data() and size(), or a C string.
    template <class Label>
        requires(!std::is_same_v<Label, stream_range>)
    explicit stream_range(const Label& label) noexcept : range(label) {
        if (coroscope_state()) detail::begin_stream(*coroscope_state());
    }

    /// An item has come, now. One that comes after the end is not recorded.
    void item() const noexcept {
        if (coroscope_state()) detail::record_item(*coroscope_state());
    }
};

}  // namespace COROSCOPE_ABI
}  // namespace coroscope
