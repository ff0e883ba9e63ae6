// SPDX-License-Identifier: Apache-2.0
#pragma once

// stream_range: a range over a source of many items, such as a generator or a channel. It records
// the time of each item. The analysis derives the delay of the first item and the gaps between the
// others (`coroscope streams`).
//
//   coroscope::stream_range rows("rows");
//   while (auto row = cursor.next()) { rows.item(); … }
//
// In all other ways it is a range. Any thread may report items; each one costs a record of 32
// bytes.

#include <coroscope/config.hpp>
#include <coroscope/range.hpp>

namespace coroscope {
namespace detail {

/// begin_stream() marks the range as one over items. record_item() records an item, unless the
/// range has ended.
COROSCOPE_API void begin_stream(range_state& state) noexcept;
COROSCOPE_API void record_item(range_state& state) noexcept;

}  // namespace detail

inline namespace COROSCOPE_ABI {

/// A range over items; see above.
class stream_range : public range {
public:
    /// Refers to no range.
    stream_range() noexcept = default;

    /// Begins a range. `label` must be a C string or have data() and size().
    template <class Label>
        requires(!std::is_same_v<Label, stream_range>)
    explicit stream_range(const Label& label) noexcept : range(label) {
        if (coroscope_state()) detail::begin_stream(*coroscope_state());
    }

    /// Reports an item at this moment. An item after the end of the range is not recorded.
    void item() const noexcept {
        if (coroscope_state()) detail::record_item(*coroscope_state());
    }
};

}  // namespace COROSCOPE_ABI
}  // namespace coroscope
