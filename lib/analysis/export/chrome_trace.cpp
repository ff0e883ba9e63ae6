// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <string>

#include <coroscope/analysis/event_exports.hpp>
#include <coroscope/analysis/function_event.hpp>
#include <fmt/format.h>

#include "../model/bounded.hpp"
#include "../text/utf8.hpp"
#include "chrome_writer.hpp"
#include "file_sink.hpp"
#include "json_values.hpp"
#include "kineto_arguments.hpp"
#include "kineto_flows.hpp"

namespace coroscope::analysis {
namespace {

class kineto_document {
public:
    kineto_document(const event_list& events, const byte_sink& sink) : events_(events), out_(sink) {
        for (const event_row& each : events.rows) base_ns_ = std::min(base_ns_, each.start_ns);
        for (const memory_record& each : events.memory)
            base_ns_ = std::min(base_ns_, bounded(each.time_ns));
    }

    bool write() {
        begin();
        for (std::uint32_t lane = 0; lane < events_.threads.size(); ++lane) name_lane(lane);
        for (const event_metadata& each : events_.metadata) write_metadata(each);
        for (const function_event each : events_) {
            if (out_.failed()) return false;
            write_event(each);
        }
        for (const memory_record& each : events_.memory) write_memory(each);
        write_flows(events_, [this](const flow_end& each) { write_flow(each); });
        out_.raw("\n]}\n");
        return out_.flush();
    }

    [[nodiscard]] std::uint64_t written_events() const { return count_; }

private:
    void begin() {
        out_.raw("{\"schemaVersion\":1,\"displayTimeUnit\":\"ns\",\"baseTimeNanoseconds\":");
        out_.integer(saturated_sum(events_.base_realtime_ns, base_ns_));
        if (events_.shapes) out_.raw(",\"record_shapes\":1");
        if (events_.memory_profile) out_.raw(",\"profile_memory\":1");
        if (events_.stacks) out_.raw(",\"with_stack\":1");
        if (events_.flops) out_.raw(",\"with_flops\":1");
        if (!events_.trace_id.empty()) {
            scratch_.assign(",\"trace_id\":");
            append_json_string(scratch_, events_.trace_id);
            out_.raw(scratch_);
        }
        if (events_.node >= 0) {
            out_.raw(",\"distributedInfo\":{\"rank\":");
            out_.integer(events_.node);
            out_.raw("}");
        }
        out_.raw(",\"traceEvents\":[");
    }

    /// Writes the members that every event has, up to its time.
    void open(std::string_view phase, std::string_view category, std::string_view name,
              std::uint32_t thread, std::int64_t time_ns) {
        scratch_.assign(is_first_ ? "\n{\"ph\":\"" : ",\n{\"ph\":\"");
        is_first_ = false;
        scratch_.append(phase).append("\",\"cat\":");
        append_json_string(scratch_, category);
        scratch_ += ",\"name\":";
        append_json_string(scratch_, name.empty() ? std::string_view("(unnamed)") : name);
        scratch_ += ',';
        append_lane(scratch_, events_, thread);
        scratch_ += ",\"ts\":";
        out_.raw(scratch_).microseconds(
            std::max<std::int64_t>(saturated_difference(time_ns, base_ns_), 0));
    }

    void write_event(const function_event& event) {
        if (event.activity_type() == activity::memory) return;  // written as a memory record
        ++count_;
        if (event.is_async()) return write_async(event);
        open("X", kineto_category(event), event.trace_name(), event.thread(), event.row().start_ns);
        out_.raw(",\"dur\":").microseconds(length_of(event));
        close_with_arguments(event);
    }

    void write_async(const function_event& event) {
        const std::string_view category = kineto_category(event);
        open("b", category, event.trace_name(), event.thread(), event.row().start_ns);
        write_local_id(event.id());
        close_with_arguments(event);
        open("e", category, event.trace_name(), event.end_thread(),
             event.row().start_ns + length_of(event));
        write_local_id(event.id());
        out_.raw("}");
    }

    static std::int64_t length_of(const function_event& event) {
        return std::max<std::int64_t>(event.time_range().elapsed_ns(), 0);
    }

    void write_local_id(std::uint64_t id) { out_.raw(",\"id2\":{\"local\":").id(id + 1).raw("}"); }

    void close_with_arguments(const function_event& event) {
        scratch_.clear();
        append_members(scratch_, event);
        append_kineto_arguments(scratch_, event);
        out_.raw(scratch_).raw("}");
    }

    void write_memory(const memory_record& record) {
        open("i", "cpu_instant_event", record.out_of_memory ? "[OutOfMemory]" : "[memory]",
             record.thread, record.time_ns);
        scratch_.clear();
        fmt::format_to(std::back_inserter(scratch_),
                       R"(,"s":"t","args":{{"Device Type":{},"Device Id":{},"Addr":{},"Bytes":{},)"
                       R"("Total Allocated":{},"Total Reserved":{}}}}})",
                       record.device == device_kind::cpu ? 0 : 1, record.device_index,
                       record.address, record.bytes, record.total_allocated, record.total_reserved);
        out_.raw(scratch_);
    }

    void write_flow(const flow_end& end) {
        const std::string_view otherwise = end.step ? "t" : "f";
        open(end.start ? "s" : otherwise, end.category, end.name, end.thread, end.time_ns);
        out_.raw(",\"id\":").id(end.id);
        out_.raw(!end.start && end.enclosing ? ",\"bp\":\"e\"}" : "}");
    }

    void name_lane(std::uint32_t lane) {
        const event_thread& thread = events_.threads[lane];
        if (!thread.process_name.empty()) write_name("process_name", lane, thread.process_name);
        if (!thread.name.empty()) write_name("thread_name", lane, thread.name);
    }

    void write_metadata(const event_metadata& each) {
        open("M", "__metadata", events_.text(each.name), each.thread, base_ns_);
        scratch_.assign(",\"args\":");
        append_json(scratch_, events_.text(each.arguments));
        out_.raw(scratch_).raw("}");
    }

    void write_name(std::string_view what, std::uint32_t lane, std::string_view name) {
        open("M", "__metadata", what, lane, base_ns_);
        scratch_.assign(",\"args\":{\"name\":");
        append_json_string(scratch_, name);
        out_.raw(scratch_).raw("}}");
    }

    const event_list& events_;
    chrome_writer out_;
    std::string scratch_;
    std::int64_t base_ns_ = 0;  // viewers drop events before 0
    std::uint64_t count_ = 0;
    bool is_first_ = true;
};

}  // namespace

written export_chrome_trace(const event_list& events, const byte_sink& sink) {
    kineto_document document(events, sink);
    if (!document.write()) return failure{"could not be written"};
    return document.written_events();
}

written export_chrome_trace(const event_list& events, const std::string& path) {
    return to_file(path, [&](const byte_sink& sink) { return export_chrome_trace(events, sink); });
}

}  // namespace coroscope::analysis
