// SPDX-License-Identifier: Apache-2.0
#pragma once

// One event of a Chrome trace as the tokens that stand in the file: views into the window that was
// parsed. A token is empty where the event does not have it, keeps its quotes where it is a string, and
// is the last of several where a key is repeated.

#include <array>
#include <string>
#include <string_view>

namespace coroscope::analysis::reading {

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
    std::string_view name;  ///< of a process or a thread
};

/// Arrays or objects among these are tokens that nobody has checked yet.
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
    std::string_view id2;  ///< the id that stands in "id2", an object
    std::string_view scope;
    bool local_id = false;  ///< the process's own: of "id2": {"local": …}
    bool empty = true;      ///< the event has no key at all
    bool has_arguments = false;
    chrome_arguments arguments;
    std::string
        others;  ///< "key": value, … of arguments that have no field; only where they are kept
};

}  // namespace coroscope::analysis::reading
