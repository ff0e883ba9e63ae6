// SPDX-License-Identifier: Apache-2.0
#pragma once

// One event of a Chrome trace as the file's tokens: views into the window that was parsed. A token
// is empty if the event does not have it. A string token keeps its quotes. If a key is repeated,
// the last token counts.

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace coroscope::analysis::inline chrome {

struct chrome_arguments {
    std::string_view external_id;
    std::string_view correlation;
    std::string_view device;
    std::string_view stream;
    std::string_view input_dims;
    std::string_view input_strides;
    std::string_view input_type;
    std::string_view concrete_inputs;
    std::string_view keyword_inputs;
    std::string_view overload_name;
    std::string_view forward_thread;
    std::string_view sequence_number;
    std::string_view call_stack;
    std::string_view module_hierarchy;
    std::string_view device_type;
    std::string_view device_id;
    std::string_view address;
    std::string_view bytes;
    std::string_view total_allocated;
    std::string_view total_reserved;
    std::string_view name;     ///< the name of a process or a thread
    std::string_view running;  ///< this and the next members: in exports of native traces
    std::string_view suspended;
    std::string_view queued;
    std::string_view waiting;
    std::string_view self;
    std::string_view nested;
    std::string_view suspension;
};

/// The times of a scope in an export of a native trace, with their keys.
[[nodiscard]] inline std::array<std::pair<std::string_view, std::string_view>, 7>
recorded_times_of(const chrome_arguments& arguments) {
    return {{{"running_ns", arguments.running},
             {"suspended_ns", arguments.suspended},
             {"queued_ns", arguments.queued},
             {"waiting_ns", arguments.waiting},
             {"self_ns", arguments.self},
             {"nested", arguments.nested},
             {"suspension", arguments.suspension}}};
}

/// The arguments that describe inputs. An array or object among them has not been checked as JSON.
[[nodiscard]] inline std::array<std::string_view, 5> inputs_of(const chrome_arguments& arguments) {
    return {arguments.input_dims, arguments.input_strides, arguments.input_type,
            arguments.concrete_inputs, arguments.keyword_inputs};
}

struct chrome_fields {
    const char* where = nullptr;  ///< the event's '{'
    std::string_view phase;
    std::string_view category;
    std::string_view name;
    std::string_view process;
    std::string_view thread;
    std::string_view time;
    std::string_view duration;
    std::string_view id;
    std::string_view id2;  ///< the id in "id2", an object
    std::string_view scope;
    std::string_view bind_point;  ///< which event an arrow's end points to
    bool local_id = false;        ///< the id counts within its process: "id2": {"local": …}
    bool empty = true;            ///< the event has no key at all
    bool has_arguments = false;
    chrome_arguments arguments;
    std::string others;  ///< "key": value, … of arguments that have no field; only if they are kept
    std::string members;  ///< the same for members of the event itself
};

}  // namespace coroscope::analysis::inline chrome
