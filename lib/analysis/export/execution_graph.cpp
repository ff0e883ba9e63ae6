// SPDX-License-Identifier: Apache-2.0
#include <ctime>
#include <string>
#include <vector>

#include <coroscope/analysis/event_exports.hpp>
#include <coroscope/analysis/function_event.hpp>
#include <fmt/format.h>

#include "../text/utf8.hpp"
#include "chrome_writer.hpp"
#include "file_sink.hpp"
#include "json_values.hpp"

namespace coroscope::analysis {
namespace {

constexpr std::uint64_t root_id = 1;
constexpr std::uint64_t first_id = 2;

/// "2026-01-31 12:00:00" in UTC.
std::string moment(std::int64_t realtime_ns) {
    constexpr std::int64_t second = 1'000'000'000;
    const std::time_t seconds = realtime_ns / second;
    std::tm parts{};
    char text[32];
    if (::gmtime_r(&seconds, &parts) == nullptr) return {};
    return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts)};
}

bool is_node(const function_event& event) {
    return event.device_type() == device_kind::cpu &&
           (event.activity_type() == activity::cpu_op ||
            event.activity_type() == activity::user_annotation ||
            (event.list().every_event_nests && event.activity_type() != activity::memory));
}

class graph_document {
public:
    graph_document(const event_list& events, const byte_sink& sink)
        : events_(events),
          out_(sink),
          ids_(events.size(), 0),
          lane_ids_(events.threads.size(), 0) {}

    bool write() {
        begin();
        write_threads();
        for (const function_event each : events_) {
            if (out_.failed()) return false;
            if (is_node(each)) write_event(each);
        }
        write_node(root_id, "[coroscope|process]", root_id, {});
        out_.raw("\n  ],\n  \"finish_ts\": ").integer(events_.duration_ns / 1000).raw("\n}\n");
        return out_.flush();
    }

    [[nodiscard]] std::uint64_t nodes() const { return next_id_ - first_id; }

private:
    void begin() {
        const std::string_view process =
            events_.threads.empty() ? "0" : events_.text(events_.threads.front().process);
        scratch_ = "{\n  \"schema\": \"1.1.1-coroscope\",\n  \"pid\": ";
        append_id(scratch_, process);
        scratch_ += ",\n  \"time\": ";
        append_json_string(scratch_, moment(events_.base_realtime_ns));
        scratch_ += ",\n  \"start_ts\": 0,\n  \"nodes\": [";
        out_.raw(scratch_);
    }

    /// Writes the threads that have operations. Leaves out streams of devices, and threads that
    /// only called devices.
    void write_threads() {
        std::vector<bool> has_nodes(lane_ids_.size());
        for (const function_event each : events_)
            if (each.thread() < has_nodes.size() && is_node(each)) has_nodes[each.thread()] = true;
        for (std::uint32_t lane = 0; lane < has_nodes.size(); ++lane) {
            if (!has_nodes[lane]) continue;
            lane_ids_[lane] = next_id_++;
            write_node(lane_ids_[lane], "[coroscope|thread]", root_id, thread_attributes(lane));
        }
    }

    void write_event(const function_event& event) {
        const std::uint64_t id = next_id_++;
        ids_[event.id()] = id;
        write_node(id, event.trace_name(), parent_of(event), attributes_of(event), &event);
    }

    /// Parents come before their children, so their ids are known.
    [[nodiscard]] std::uint64_t parent_of(const function_event& event) const {
        for (auto parent = event.cpu_parent(); parent; parent = parent->cpu_parent())
            if (ids_[parent->id()] != 0) return ids_[parent->id()];
        return event.thread() < lane_ids_.size() ? lane_ids_[event.thread()] : root_id;
    }

    void write_node(std::uint64_t id, std::string_view name, std::uint64_t parent,
                    std::string_view attributes, const function_event* event = nullptr) {
        scratch_.assign(is_first_ ? "\n    {\"id\": " : ",\n    {\"id\": ");
        is_first_ = false;
        scratch_ += std::to_string(id);
        scratch_ += ", \"name\": ";
        append_json_string(scratch_, name);
        scratch_.append(", \"ctrl_deps\": ").append(std::to_string(parent));
        append_inputs(event);
        scratch_ += R"(, "outputs": {"values": [], "shapes": [], "types": [], "strides": []})";
        scratch_.append(", \"attrs\": [").append(attributes).append("]}");
        out_.raw(scratch_);
    }

    void append_inputs(const function_event* event) {
        const auto member = [this](std::string_view key, std::string_view json) {
            scratch_.append("\"").append(key).append("\": ");
            append_json(scratch_, json.empty() ? "[]" : json);
        };
        const auto text = [event](std::string_view (function_event::*of)() const) {
            return event == nullptr ? std::string_view() : (event->*of)();
        };
        scratch_ += ", \"inputs\": {";
        member("values", text(&function_event::concrete_inputs));
        scratch_ += ", ";
        member("shapes", text(&function_event::input_shapes));
        scratch_ += ", ";
        member("types", text(&function_event::input_dtypes));
        scratch_ += ", ";
        member("strides", text(&function_event::input_strides));
        scratch_ += '}';
    }

    static std::string attribute(std::string_view name, std::string_view type, std::int64_t value) {
        return fmt::format(R"({{"name": "{}", "type": "{}", "value": {}}})", name, type, value);
    }

    [[nodiscard]] std::string thread_attributes(std::uint32_t lane) const {
        std::string out = R"({"name": "tid", "type": "string", "value": )";
        append_json_string(out, events_.text(events_.threads[lane].thread));
        return out + "}";
    }

    static std::string attributes_of(const function_event& event) {
        const auto scope = static_cast<std::int64_t>(event.scope());
        return attribute("rf_id", "uint64", std::int64_t{event.id()} + 1) + ", " +
               attribute("seq_id", "int64", event.sequence_nr()) + ", " +
               attribute("scope", "uint64", scope) + ", " +
               attribute("tid", "uint64", std::int64_t{event.thread()} + 1) + ", " +
               attribute("fw_tid", "uint64", static_cast<std::int64_t>(event.fwd_thread())) + ", " +
               attribute("start_ns", "int64", event.time_range().start_ns) + ", " +
               attribute("duration_ns", "int64", event.time_range().elapsed_ns());
    }

    const event_list& events_;
    chrome_writer out_;
    std::vector<std::uint64_t> ids_;       // by event; 0: no id yet, or not a node
    std::vector<std::uint64_t> lane_ids_;  // by thread; 0: the thread has no nodes
    std::string scratch_;
    std::uint64_t next_id_ = first_id;
    bool is_first_ = true;
};

}  // namespace

written export_execution_graph(const event_list& events, const byte_sink& sink) {
    graph_document document(events, sink);
    if (!document.write()) return failure{"could not be written"};
    return document.nodes();
}

written export_execution_graph(const event_list& events, const std::string& path) {
    return to_file(path,
                   [&](const byte_sink& sink) { return export_execution_graph(events, sink); });
}

}  // namespace coroscope::analysis
