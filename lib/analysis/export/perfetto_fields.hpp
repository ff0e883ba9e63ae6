// SPDX-License-Identifier: Apache-2.0
#pragma once

// The messages of Perfetto's trace format that an export needs, as the numbers of their fields.
// Readers report no errors in such a trace: a name that was not interned before its use, or under
// the number 0, is no name; events of a sequence that did not begin with `sequence_cleared` are
// dropped; events of a clock that no snapshot relates to the trace's are dropped, too.

#include <cstdint>

#include <protozero/types.hpp>

namespace coroscope::analysis::inline exports::perfetto {

enum class trace_file : protozero::pbf_tag_type { packet = 1 };

enum class packet : protozero::pbf_tag_type {
    chrome_events = 5,
    clock_snapshot = 6,
    timestamp = 8,
    sequence_id = 10,
    track_event = 11,
    interned_data = 12,
    sequence_flags = 13,
    timestamp_clock_id = 58,
    defaults = 59,  ///< a packet whose fields apply to later packets
    track_descriptor = 60,
    first_on_sequence = 87,
};

enum class clock_snapshot : protozero::pbf_tag_type { clocks = 1, primary_clock = 2 };
enum class clock : protozero::pbf_tag_type { id = 1, timestamp = 2 };

enum class track : protozero::pbf_tag_type {
    uuid = 1,
    name = 2,
    process = 3,
    thread = 4,
    parent_uuid = 5,
    counter = 8,
    child_ordering = 11,
    order_rank = 12,
    merge_behavior = 15,
};
enum class process_descriptor : protozero::pbf_tag_type { pid = 1, name = 6 };
enum class thread_descriptor : protozero::pbf_tag_type { pid = 1, tid = 2, name = 5 };

enum class track_event : protozero::pbf_tag_type {
    category_iids = 3,
    annotations = 4,
    type = 9,
    name_iid = 10,
    track_uuid = 11,
    name = 23,
    double_counter_value = 44,
    flow_ids = 47,
    terminating_flow_ids = 48,
};
enum class annotation : protozero::pbf_tag_type {
    name_iid = 1,
    bool_value = 2,
    int_value = 4,
    string_value = 6,
    string_value_iid = 17,
};

enum class interned_data : protozero::pbf_tag_type {
    categories = 1,
    event_names = 2,
    annotation_names = 3,
    annotation_strings = 29,
};
enum class interned : protozero::pbf_tag_type { iid = 1, text = 2 };  ///< of all four

enum class chrome_events : protozero::pbf_tag_type { metadata = 2 };
enum class metadata : protozero::pbf_tag_type { name = 1, bool_value = 3, int_value = 4 };

// Values.
inline constexpr std::uint32_t sequence_cleared = 1;
inline constexpr std::uint32_t sequence_needs_state = 2;
inline constexpr std::uint32_t realtime_clock = 1;
inline constexpr std::uint32_t first_own_clock = 64;  ///< first id of a sequence's own clocks
inline constexpr std::int32_t order_by_rank = 3;
inline constexpr std::int32_t never_merge = 2;  ///< or lanes of one name would be one
enum class event_type : std::int32_t { slice_begin = 1, slice_end = 2, instant = 3, counter = 4 };

}  // namespace coroscope::analysis::inline exports::perfetto
