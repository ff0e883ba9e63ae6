// SPDX-License-Identifier: Apache-2.0
#include "kineto_arguments.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "../read/chrome/event_category.hpp"
#include "../text/utf8.hpp"
#include "json_values.hpp"

namespace coroscope::analysis::inline exports {
namespace {

class argument_writer {
public:
    explicit argument_writer(std::string& out) : out_(out) {}

    template <class Integer>
    void integer(std::string_view name, Integer value) {
        fmt::format_to(std::back_inserter(key(name)), "{}", value);
    }
    void json(std::string_view name, std::string_view text) {
        if (!text.empty()) append_json(key(name), text);
    }
    void string(std::string_view name, std::string_view text) {
        if (!text.empty()) append_json_string(key(name), text);
    }
    /// Adds the members of a JSON object to the arguments.
    void members_of(std::string_view object) {
        if (!is_object(object)) return json("arguments", object);
        const std::string_view inside = object.substr(1, object.size() - 2);
        if (inside.find_first_not_of(' ') == std::string_view::npos) return;
        out_ += empty_ ? ",\"args\":{" : ",";
        empty_ = false;
        out_ += inside;
    }
    void end() {
        if (!empty_) out_ += '}';
    }

private:
    std::string& key(std::string_view name) {
        out_ += empty_ ? ",\"args\":{\"" : ",\"";
        empty_ = false;
        return out_.append(name).append("\":");
    }

    std::string& out_;
    bool empty_ = true;
};

void write_links(argument_writer& out, const function_event& event) {
    if (event.external_id() != 0) out.integer("External id", event.external_id());
    if (event.row().correlation != 0) out.integer("correlation", event.row().correlation);
    if (event.sequence_nr() >= 0) {
        out.integer("Sequence number", event.sequence_nr());
        out.integer("Fwd thread id", event.fwd_thread());
    }
    if (event.device_index() >= 0) out.integer("device", event.device_index());
    if (event.device_resource_id() >= 0) out.integer("stream", event.device_resource_id());
    if (event.is_unfinished()) out.json("finished", "false");
}

void write_inputs(argument_writer& out, const function_event& event) {
    out.json("Input Dims", event.input_shapes());
    out.json("Input Strides", event.input_strides());
    out.json("Input type", event.input_dtypes());
    out.json("Concrete Inputs", event.concrete_inputs());
    out.json("Kwinputs", event.keyword_inputs());
    out.string("Overload name", event.overload_name());
    out.string("Module Hierarchy", event.modules());
    std::string stack(event.stack());
    std::replace(stack.begin(), stack.end(), '\n', ';');
    out.string("Call stack", stack);
}

void write_split(argument_writer& out, const time_split& split) {
    if (split.wall_ns() == 0) return;
    out.integer("running_ns", split.running_ns);
    out.integer("suspended_ns", split.suspended_ns);
    out.integer("queued_ns", split.queued_ns);
    out.integer("waiting_ns", split.waiting_ns);
}

}  // namespace

void append_kineto_arguments(std::string& out, const function_event& event) {
    argument_writer arguments(out);
    write_links(arguments, event);
    write_inputs(arguments, event);
    write_split(arguments, event.split());
    if (!event.metadata().empty()) arguments.members_of(event.metadata());
    arguments.end();
}

void append_members(std::string& out, const function_event& event) {
    if (event.row().extra == none) return;
    const std::uint32_t members = event.list().extras[event.row().extra].members;
    if (members == none) return;
    const std::string object = "{" + std::string(event.list().text(members)) + "}";
    if (is_object(object)) out.append(",").append(object, 1, object.size() - 2);
}

void append_lane(std::string& out, const event_list& events, std::uint32_t thread) {
    if (thread >= events.threads.size()) {
        out += "\"pid\":-1,\"tid\":-1";
        return;
    }
    out += "\"pid\":";
    append_id(out, events.text(events.threads[thread].process));
    out += ",\"tid\":";
    append_id(out, events.text(events.threads[thread].thread));
}

std::string_view kineto_category(const function_event& event) {
    const activity what = event.activity_type();
    const std::string_view category = event.category();
    if (what == activity::other || meaning_of(category).what == what) return category;
    if (what == activity::runtime) return "cuda_runtime";
    return what == activity::synchronization ? "cuda_sync" : activity_name(what);
}

}  // namespace coroscope::analysis::inline exports
