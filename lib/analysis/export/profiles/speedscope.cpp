// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/profile_exports.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/request_statistics.hpp>
#include <fmt/format.h>

#include "../../path/slowest_paths.hpp"
#include "../../text/utf8.hpp"
#include "../../words/places.hpp"
#include "../chrome_writer.hpp"
#include "scope_index.hpp"
#include "stack_times.hpp"
#include "stack_tree.hpp"

namespace coroscope::analysis {
namespace {

class speedscope_writer {
public:
    speedscope_writer(const trace& from, const byte_sink& sink)
        : from_(from), list_(requests_of(from)), stacks_(from), out_(sink) {}

    written write() {
        out_.raw("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",");
        out_.raw("\"exporter\":\"coroscope\",\"name\":");
        string(from_.process_name);
        out_.raw(",\"activeProfileIndex\":0,\"profiles\":[");
        write_requests();
        const scope_index scopes(from_);
        write_threads(scopes);
        write_sums(scopes);
        out_.raw("\n],\"shared\":{\"frames\":[");
        for (std::uint32_t frame = 0; frame < stacks_.frames().frame_count(); ++frame)
            write_frame(frame);
        out_.raw("\n]}}\n");
        if (!out_.flush()) return failure{"the export could not be written"};
        return profiles_;
    }

private:
    void string(std::string_view text) {
        text_.clear();
        append_json_string(text_, text);
        out_.raw(text_);
    }

    void begin_profile(std::string_view type, std::string_view name, std::int64_t end_ns) {
        out_.raw(profiles_++ == 0 ? "\n{\"type\":\"" : ",\n{\"type\":\"").raw(type);
        out_.raw("\",\"name\":");
        string(name);
        out_.raw(",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":").integer(end_ns);
    }

    void begin_timeline(std::string_view name, std::int64_t end_ns) {
        begin_profile("evented", name, end_ns);
        out_.raw(",\"events\":[");
        is_first_ = true;
    }

    void end_timeline(std::int64_t end_ns) {
        show({}, end_ns);
        out_.raw("]}");
    }

    void event(std::string_view type, std::uint32_t frame, std::int64_t at_ns) {
        out_.raw(is_first_ ? "\n{\"type\":\"" : ",\n{\"type\":\"").raw(type);
        out_.raw("\",\"frame\":").integer(frame).raw(",\"at\":").integer(at_ns).raw("}");
        is_first_ = false;
    }

    /// Closes the open frames that are not in the new stack, and opens the others. So the events of
    /// a timeline nest, whatever the trace contains.
    void show(const std::vector<std::uint32_t>& stack, std::int64_t at_ns) {
        const auto [left, right] = std::ranges::mismatch(open_, stack);
        for (auto closed = open_.end(); closed != left; --closed) event("C", *(closed - 1), at_ns);
        for (auto opened = right; opened != stack.end(); ++opened) event("O", *opened, at_ns);
        open_ = stack;
    }

    void show_node(std::uint32_t node, path_kind kind, std::int64_t at_ns) {
        stacks_.frames().way_to(stacks_.frames().kind_child(node, kind), way_);
        show(way_, at_ns);
    }

    void write_requests() {
        const auto requests = slowest_requests(list_.requests, most_request_timelines);
        for_each_critical_path(from_, requests, {.blame = false},
                               [&, at = std::size_t{0}](const critical_path& path) mutable {
                                   write_request(requests[at], path, at == 0);
                                   ++at;
                               });
    }

    void write_request(const request_info& request, const critical_path& path, bool is_slowest) {
        begin_timeline(fmt::format("{}{}", is_slowest ? "slowest request: " : "request ",
                                   request_title(from_, request)),
                       path.wall_ns());
        for (const path_segment& each : path.segments)
            show_node(node_of(stacks_, each), each.kind, each.start_ns - path.start_ns);
        end_timeline(path.wall_ns());
    }

    void write_threads(const scope_index& scopes) {
        const auto slices = slices_by_thread(from_);
        for (std::uint32_t thread = 0; thread < from_.threads.size(); ++thread) {
            begin_timeline("work on " + thread_name(from_, thread), from_.duration_ns);
            for_each_piece_of_thread(
                from_, scopes, thread, slices[thread],
                [&](std::int64_t from_ns, std::int64_t to_ns, std::uint32_t task,
                    std::uint32_t scope) { show_piece(thread, {from_ns, to_ns}, task, scope); });
            end_timeline(from_.duration_ns);
        }
    }

    struct stretch {
        std::int64_t from_ns;
        std::int64_t to_ns;
    };

    void show_piece(std::uint32_t thread, const stretch& when, std::uint32_t task,
                    std::uint32_t scope) {
        if (task == none && scope == none) return show({}, when.from_ns);
        const std::uint32_t node =
            task == none ? stacks_.node_on_thread(thread, scope) : stacks_.node_of(task, scope);
        visit_running(from_, thread, when.from_ns, when.to_ns,
                      [&](std::int64_t start_ns, std::int64_t, path_kind kind) {
                          show_node(node, kind, start_ns);
                      });
    }

    void write_sums(const scope_index& scopes) {
        std::vector<std::uint32_t> nodes;  // with a time, in the order of their first times
        frame_tree& frames = stacks_.frames();
        visit_stack_times(from_, scopes, stacks_,
                          [&](std::uint32_t node, path_kind kind, std::int64_t time_ns) {
                              const std::uint32_t own = frames.kind_child(node, kind);
                              if (frames.time_of(own) == 0) nodes.push_back(own);
                              frames.add(own, time_ns);
                          });
        std::int64_t sum_ns = 0;
        for (const std::uint32_t node : nodes) add_to(sum_ns, frames.time_of(node));
        begin_profile("sampled", "all tasks and threads: sums of wall time", sum_ns);
        out_.raw(",\"samples\":[");
        for (const std::uint32_t node : nodes) write_sample(node, node == nodes.front());
        out_.raw("],\"weights\":[");
        for (const std::uint32_t node : nodes)
            out_.raw(node == nodes.front() ? "" : ",").integer(frames.time_of(node));
        out_.raw("]}");
    }

    void write_sample(std::uint32_t node, bool is_first) {
        stacks_.frames().way_to(node, way_);
        out_.raw(is_first ? "[" : ",\n[");
        for (std::size_t at = 0; at < way_.size(); ++at)
            out_.raw(at == 0 ? "" : ",").integer(way_[at]);
        out_.raw("]");
    }

    void write_frame(std::uint32_t frame) {
        out_.raw(frame == 0 ? "\n{\"name\":" : ",\n{\"name\":");
        string(stacks_.frames().text_of(frame));
        const site_info* const site = find_site(from_, stacks_.frames().site_of(frame));
        if (site != nullptr && !site->file.empty()) {
            out_.raw(",\"file\":");
            string(site->file);
            out_.raw(",\"line\":").integer(site->line);
        }
        out_.raw("}");
    }

    const trace& from_;
    request_list list_;  // made first, because to guess requests takes memory for each scope
    stack_tree stacks_;
    chrome_writer out_;
    std::uint64_t profiles_ = 0;
    std::vector<std::uint32_t> open_;  // the frames of the timeline's last stack
    std::vector<std::uint32_t> way_;
    bool is_first_ = true;
    std::string text_;
};

}  // namespace

written export_speedscope(const trace& from, const byte_sink& sink) {
    return speedscope_writer(from, sink).write();
}

}  // namespace coroscope::analysis
