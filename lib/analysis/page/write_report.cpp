// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/report.hpp>

#include <array>
#include <string>
#include <string_view>

#include <coroscope/analysis/executor_statistics.hpp>
#include <fmt/format.h>

#include "../text/json_writer.hpp"
#include "../words/places.hpp"
#include "column_tables.hpp"
#include "page_frame.hpp"
#include "page_input.hpp"
#include "page_names.hpp"
#include "page_sink.hpp"
#include "summary_parts.hpp"
#include "timeline_tables.hpp"

namespace coroscope::analysis {
namespace {

constexpr auto one_line_each = json_writer::layout::compact;

class report_writer {
public:
    report_writer(const trace& from, const byte_sink& sink, const report_options& options)
        : in_(from, options), from_(from), to_(sink), names_(from), tables_(to_) {}

    written write() {
        for (const page_piece& piece : page_frame()) {
            if (!to_.write(piece.text)) break;
            write_place(piece.place);
        }
        if (!to_.good()) return failure{"the report could not be written"};
        return in_.shown.scopes.size();
    }

private:
    void write_place(page_place place) {
        switch (place) {
            case page_place::title:
                to_.write(inert_html(from_.process_name.empty() ? in_.options.trace_path
                                                                : from_.process_name));
                return;
            case page_place::summary: return write_json("coroscope-summary", summary_json(in_));
            case page_place::timeline: return write_timeline();
            case page_place::end: return;
        }
    }

    void write_json(std::string_view id, const std::string& json) {
        to_.begin_block("application/json", id);
        to_.write(inert_json(json));
        to_.end_block();
    }

    void write_timeline() {
        const table_target target{tables_, names_};
        write_work_tables(in_, target);
        write_thread_tables(in_, target);
        write_request_tables(in_, target);
        write_wait_tables(in_, target);
        write_frame_table(from_, "frames", target);
        if (in_.options.against != nullptr)
            write_frame_table(*in_.options.against, "against_frames", target);
        write_json("coroscope-timeline",
                   fmt::format("{{\"duration_ns\":{},\n\"kinds\":{},\n\"tables\":{},\n{},"
                               "\n\"names\":{}}}",
                               from_.duration_ns, kinds_json(), tables_.schema(), lists_json(),
                               names_.json()));
    }

    /// The lists to which columns refer, as members.
    std::string lists_json() {
        return fmt::format("\"sites\":{},\n\"threads\":{},\n\"executors\":{},\n\"devices\":{}",
                           sites_json(), threads_json(), executors_json(), devices_json());
    }

    std::string sites_json() const {
        json_writer json;
        json.begin_array();
        for (std::uint32_t at = 0; at < from_.sites.size(); ++at) {
            const site_info& each = from_.sites[at];
            json.begin_object(one_line_each);
            json.member("label", each.label).member("function", each.function);
            json.member("file", each.file).member("line", each.line);
            json.member("category", each.category);
            json.member("name", site_name(from_, at)).member("place", site_place(from_, at));
            json.end();
        }
        json.end();
        return std::move(json).take();
    }

    std::string threads_json() const {
        json_writer json;
        json.begin_array();
        for (std::uint32_t at = 0; at < from_.threads.size(); ++at) {
            const thread_info& each = from_.threads[at];
            const state_times times = from_.states.sums_of(at);
            json.begin_object(one_line_each);
            json.member("id", each.id).member("os_id", each.os_id);
            json.member("name", thread_name(from_, at));
            json.member("on_cpu_ns", times.on_cpu_ns).member("blocked_ns", times.blocked_ns);
            json.member("preempted_ns", times.preempted_ns).member("unknown_ns", times.unknown_ns);
            json.member("dropped", each.dropped_newest + each.overwritten);
            json.end();
        }
        json.end();
        return std::move(json).take();
    }

    std::string executors_json() const {
        std::vector<std::vector<std::uint32_t>> threads(from_.executors.size());
        for (const executor_statistics& each : statistics_of_executors(from_))
            threads[each.executor] = each.threads;
        json_writer json;
        json.begin_array();
        for (std::uint32_t at = 0; at < from_.executors.size(); ++at) {
            const executor_info& each = from_.executors[at];
            json.begin_object(one_line_each);
            json.member("number", each.number).member("kind", name_of_kind(each.kind));
            json.member("name", name_of_executor(from_, at));
            json.member("inner", each.inner < from_.executors.size() ? optional_ns(each.inner)
                                                                     : optional_ns());
            json.key("threads").begin_array(one_line_each);
            for (const std::uint32_t thread : threads[at]) json.integer(thread);
            json.end();
            json.end();
        }
        json.end();
        return std::move(json).take();
    }

    std::string devices_json() const {
        json_writer json;
        json.begin_array();
        for (const device_info& each : from_.devices) {
            json.begin_object(one_line_each);
            json.member("id", each.id).member("name", each.name);
            json.end();
        }
        json.end();
        return std::move(json).take();
    }

    page_input in_;
    const trace& from_;
    page_sink to_;
    page_names names_;
    column_tables tables_;
};

}  // namespace

written write_report(const trace& from, const byte_sink& sink, const report_options& options) {
    return report_writer(from, sink, options).write();
}

}  // namespace coroscope::analysis
