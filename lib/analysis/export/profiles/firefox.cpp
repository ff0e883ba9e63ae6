// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/profile_exports.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/blocking_statistics.hpp>
#include <coroscope/analysis/lock_statistics.hpp>
#include <coroscope/analysis/request_statistics.hpp>

#include "../../path/slowest_paths.hpp"
#include "../../text/utf8.hpp"
#include "../../words/await_names.hpp"
#include "../../words/places.hpp"
#include "../../words/request_words.hpp"
#include "../chrome_writer.hpp"
#include "firefox_tables.hpp"
#include "scope_index.hpp"
#include "stack_times.hpp"
#include "stack_tree.hpp"

namespace coroscope::analysis {
namespace {

/// A stretch of time with a name, above a thread's stacks.
struct firefox_marker {
    std::string name;
    std::int64_t start_ns;
    std::int64_t end_ns;
    std::string_view type;
    std::string detail;
};

class firefox_writer {
public:
    firefox_writer(const trace& from, const byte_sink& sink)
        : from_(from), list_(requests_of(from)), scopes_(from), stacks_(from), out_(sink) {}

    written write() {
        write_meta();
        out_.raw(",\"libs\":[],\"pages\":[],\"threads\":[");
        write_requests();
        const auto slices = slices_by_thread(from_);
        const auto markers = markers_of_threads();
        for (std::uint32_t thread = 0; thread < from_.threads.size(); ++thread)
            write_thread(thread, slices[thread], markers[thread]);
        write_lane("requests", [&](const auto& visit) { visit_requests(visit); });
        write_lane("awaits of tasks", [&](const auto& visit) { visit_awaits(visit); });
        out_.raw("],");
        write_firefox_tables(out_, from_, stacks_.frames(), strings_);
        out_.raw("}\n");
        if (!out_.flush()) return failure{"the export could not be written"};
        return threads_;
    }

private:
    void string(std::string_view text) {
        text_.clear();
        append_json_string(text_, printable(text));
        out_.raw(text_);
    }

    /// Writes nanoseconds as milliseconds, with every digit.
    void milliseconds(std::int64_t ns) {
        constexpr std::int64_t per_millisecond = 1'000'000;
        ns = std::max<std::int64_t>(ns, 0);
        out_.integer(ns / per_millisecond);
        std::string rest = std::to_string(per_millisecond + ns % per_millisecond);
        rest.front() = '.';
        out_.raw(rest);
    }

    void write_meta() {
        out_.raw("{\"meta\":{\"interval\":1,\"startTime\":");
        milliseconds(from_.start_realtime_ns);
        out_.raw(",\"product\":");
        string(from_.process_name.empty() ? std::string_view("coroscope") : from_.process_name);
        out_.raw(
            ",\"importedFrom\":\"coroscope\",\"processType\":0,\"stackwalk\":0,\"version\":30,");
        out_.raw("\"preprocessedProfileVersion\":62,\"symbolicationNotSupported\":true,");
        out_.raw("\"initialSelectedThreads\":[0],\"usesOnlyOneStackType\":true,"
                 "\"sourceCodeIsNotOnSearchfox\":true,");
        out_.raw("\"categories\":[");
        for (const firefox_category& each : firefox_categories) {
            out_.raw(&each == firefox_categories.data() ? "{\"name\":" : ",{\"name\":");
            string(each.name);
            out_.raw(",\"color\":");
            string(each.color);
            out_.raw(",\"subcategories\":[\"Other\"]}");
        }
        out_.raw("],\"markerSchema\":[");
        bool is_first = true;
        for (const std::string_view type : {"request", "await", "lock", "resource", "call"}) {
            out_.raw(is_first ? "{\"name\":" : ",{\"name\":");
            is_first = false;
            string(type);
            out_.raw(",\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],");
            out_.raw("\"tooltipLabel\":\"{marker.name}\",\"tableLabel\":\"{marker.data.detail}\",");
            out_.raw(
                "\"fields\":[{\"key\":\"detail\",\"label\":\"Details\",\"format\":\"string\"}]}");
        }
        out_.raw("]}");
    }

    /// Lanes that are no threads of the program have a `tid` of 0.
    void begin_thread(std::string_view name, std::uint64_t tid, bool is_main) {
        out_.raw(threads_++ == 0 ? "\n{" : ",\n{");
        out_.raw("\"processType\":\"default\",\"processStartupTime\":0,");
        out_.raw("\"processShutdownTime\":null,\"registerTime\":0,\"unregisterTime\":null,");
        out_.raw("\"pausedRanges\":[],\"showMarkersInTimeline\":true,\"name\":");
        string(name);
        out_.raw(is_main ? ",\"isMainThread\":true" : ",\"isMainThread\":false");
        out_.raw(",\"pid\":\"").integer(from_.process_id).raw("\",\"tid\":");
        if (tid != 0)
            out_.integer(static_cast<std::int64_t>(tid));
        else
            out_.raw("\"lane ").integer(static_cast<std::int64_t>(threads_)).raw("\"");
    }

    /// `visit_all(visit)` must call visit(node, start, end) for each stack, in the order of times;
    /// node 0 is no stack. It is called once for each column.
    template <class VisitAll>
    void write_samples(const VisitAll& visit_all) {
        std::int64_t count = 0;
        out_.raw(",\"samples\":{\"weightType\":\"tracing-ms\",\"stack\":[");
        visit_all([&](std::uint32_t node, std::int64_t, std::int64_t) {
            if (count++ != 0) out_.raw(",");
            if (node == 0)
                out_.raw("null");
            else
                out_.integer(std::int64_t{node} - 1);
        });
        write_times("time", visit_all,
                    [](std::int64_t start_ns, std::int64_t) { return start_ns; });
        write_times("weight", visit_all,
                    [](std::int64_t start_ns, std::int64_t end_ns) { return end_ns - start_ns; });
        out_.raw("],\"length\":").integer(count).raw("}");
    }

    template <class VisitAll, class TimeOf>
    void write_times(std::string_view name, const VisitAll& visit_all, const TimeOf& time_of) {
        out_.raw("],\"").raw(name).raw("\":[");
        bool is_first = true;
        visit_all([&](std::uint32_t, std::int64_t start_ns, std::int64_t end_ns) {
            if (!is_first) out_.raw(",");
            is_first = false;
            milliseconds(time_of(start_ns, end_ns));
        });
    }

    /// `visit_all(visit)` must call visit(marker) for each marker; it is called once for each
    /// column.
    template <class VisitAll>
    void write_markers(const VisitAll& visit_all) {
        std::int64_t count = 0;
        const auto column = [&](std::string_view name, const auto& cell) {
            out_.raw("\"").raw(name).raw("\":[");
            count = 0;
            visit_all([&](const firefox_marker& each) {
                if (count++ != 0) out_.raw(",");
                cell(each);
            });
            out_.raw("],");
        };
        out_.raw(",\"markers\":{");
        column("data", [&](const firefox_marker& each) {
            out_.raw("{\"type\":");
            string(each.type);
            out_.raw(",\"detail\":");
            string(each.detail);
            out_.raw("}");
        });
        column("name",
               [&](const firefox_marker& each) { out_.integer(strings_.number_of(each.name)); });
        column("startTime", [&](const firefox_marker& each) { milliseconds(each.start_ns); });
        column("endTime", [&](const firefox_marker& each) { milliseconds(each.end_ns); });
        constexpr std::int64_t interval = 1;
        column("phase", [&](const firefox_marker&) { out_.integer(interval); });
        column("category", [&](const firefox_marker&) { out_.integer(0); });
        out_.raw("\"length\":").integer(count).raw("}}");
    }

    std::uint32_t node_of_kind(std::uint32_t node, path_kind kind) {
        return stacks_.frames().kind_child(node, kind);
    }

    void write_requests() {
        const auto requests = slowest_requests(list_.requests, most_request_timelines);
        std::size_t at = 0;
        for_each_critical_path(from_, requests, {.blame = false}, [&](const critical_path& path) {
            const std::string title = request_title(from_, requests[at]);
            begin_thread((at == 0 ? "slowest request: " : "request ") + title, 0, at == 0);
            write_samples([&](const auto& visit) {
                for (const path_segment& each : path.segments)
                    visit(node_of_kind(node_of(stacks_, each), each.kind), each.start_ns,
                          each.end_ns);
            });
            write_markers([](const auto&) {});
            ++at;
        });
    }

    void write_thread(std::uint32_t thread, const std::vector<std::uint32_t>& slices,
                      const std::vector<firefox_marker>& markers) {
        begin_thread(thread_name(from_, thread), from_.threads[thread].os_id, thread == 0);
        write_samples([&](const auto& visit) {
            for_each_piece_of_thread(from_, scopes_, thread, slices,
                                     [&](std::int64_t from_ns, std::int64_t to_ns,
                                         std::uint32_t task, std::uint32_t scope) {
                                         visit_piece(thread, from_ns, to_ns, task, scope, visit);
                                     });
        });
        write_markers([&](const auto& visit) {
            for (const firefox_marker& each : markers) visit(each);
        });
    }

    template <class Visit>
    void visit_piece(std::uint32_t thread, std::int64_t from_ns, std::int64_t to_ns,
                     std::uint32_t task, std::uint32_t scope, const Visit& visit) {
        if (task == none && scope == none) return visit(0, from_ns, to_ns);
        const std::uint32_t node =
            task == none ? stacks_.node_on_thread(thread, scope) : stacks_.node_of(task, scope);
        visit_running(from_, thread, from_ns, to_ns,
                      [&](std::int64_t start_ns, std::int64_t end_ns, path_kind kind) {
                          visit(node_of_kind(node, kind), start_ns, end_ns);
                      });
    }

    template <class VisitAll>
    void write_lane(std::string_view name, const VisitAll& visit_all) {
        begin_thread(name, 0, false);
        write_samples([](const auto&) {});
        write_markers(visit_all);
    }

    template <class Visit>
    void visit_requests(const Visit& visit) const {
        for (const request_info& each : list_.requests)
            visit({request_name(from_, each), each.start_ns, each.end_ns, "request",
                   "request " + std::to_string(each.id)});
    }

    template <class Visit>
    void visit_awaits(const Visit& visit) const {
        for (const await_info& each : from_.awaits) {
            const bool has_task = each.task < from_.tasks.size();
            if (!has_task) continue;
            visit({await_title(from_, each), each.suspend_ns,
                   each.resume_ns.value_or(from_.duration_ns), "await",
                   "task " + std::to_string(from_.tasks[each.task].id) + ", wake " +
                       std::string(wake_text(from_, each))});
        }
    }

    /// The waits of each thread for locks and resources, and its blocking calls.
    [[nodiscard]] std::vector<std::vector<firefox_marker>> markers_of_threads() const {
        std::vector<std::vector<firefox_marker>> markers(from_.threads.size());
        const auto add = [&](std::uint32_t thread, firefox_marker marker) {
            if (thread < markers.size()) markers[thread].push_back(std::move(marker));
        };
        for (const lock_wait& each : from_.lock_waits)
            add(each.waiter.thread,
                {"lock: " + std::string(name_of_lock(each.kind)), each.start_ns, each.end_ns,
                 "lock", "held by thread " + std::to_string(each.holder_os_id)});
        for (const resource_wait& each : from_.resource_waits)
            add(each.thread, {"resource: " + site_name(from_, each.site), each.start_ns,
                              each.end_ns, "resource", each.gave_up ? "gave up" : ""});
        for (const blocking_call& each : from_.blocking_calls)
            add(each.thread,
                {"call: " + std::string(name_of_function(each.function)), each.start_ns,
                 each.end_ns, "call", std::string(name_of_descriptor(each.descriptor))});
        return markers;
    }

    const trace& from_;
    request_list list_;  // made first, because to guess requests takes memory for each scope
    scope_index scopes_;
    stack_tree stacks_;
    chrome_writer out_;
    firefox_strings strings_;
    std::uint64_t threads_ = 0;
    std::string text_;
};

}  // namespace

written export_firefox(const trace& from, const byte_sink& sink) {
    return firefox_writer(from, sink).write();
}

}  // namespace coroscope::analysis
