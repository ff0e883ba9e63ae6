// SPDX-License-Identifier: Apache-2.0
#include "summary_parts.hpp"

#include <algorithm>

#include <coroscope/analysis/units.hpp>
#include <fmt/format.h>

#include "../text/json_writer.hpp"
#include "../text/utf8.hpp"
#include "../words/request_words.hpp"
#include "length_classes.hpp"
#include "timeline_tables.hpp"

namespace coroscope::analysis::inline pages {
namespace {

constexpr auto packed = json_writer::layout::compact;

void write_part(json_writer& json, std::string_view name, bool known, std::int64_t time_ns) {
    json.member(name, known ? optional_ns(time_ns) : optional_ns());
}

void write_percentiles(json_writer& json, std::string_view member,
                       const std::vector<request_percentile>& percentiles) {
    json.key(member).begin_array();
    for (const request_percentile& each : percentiles) {
        const request_time& of = each.time;
        json.begin_object(packed);
        json.member("name", each.name).member("request", each.id).member("wall_ns", of.wall_ns);
        json.member("known", of.known);
        write_part(json, "running_ns", of.known, of.time.running_ns);
        write_part(json, "on_cpu_ns", of.known, of.states.on_cpu_ns);
        write_part(json, "blocked_ns", of.known, of.states.blocked_ns);
        write_part(json, "preempted_ns", of.known, of.states.preempted_ns);
        write_part(json, "unknown_state_ns", of.known, of.states.unknown_ns);
        write_part(json, "suspended_ns", of.known, of.time.suspended_ns);
        write_part(json, "queued_ns", of.known, of.time.queued_ns);
        write_part(json, "waiting_ns", of.known, of.time.waiting_ns);
        json.end();
    }
    json.end();
}

std::string type_json(const trace& from, const request_type& type, const length_classes& lengths) {
    json_writer json;
    json.begin_object();
    json.member("name", type.name);
    json.member("site", type.site < from.sites.size() ? optional_ns(type.site) : optional_ns());
    json.member("count", type.count).member("failed", type.failed).member("late", type.late);
    json.member("with_deadline", type.with_deadline).member("abandoned", type.abandoned);
    json.member("unfinished", type.unfinished).member("per_second", type.per_second);
    json.member("total_ns", type.total_ns).member("in_full", type.in_full);
    write_percentiles(json, "percentiles", type.percentiles);
    write_percentiles(json, "parts", type.parts);
    std::string out = std::move(json.end()).take();
    while (out.ends_with('\n')) out.pop_back();
    out.pop_back();
    return out + ",\"histogram\":" + lengths.json() + '}';
}

std::string left_out_part(std::string_view what, std::uint64_t shown, std::uint64_t of,
                          std::string_view sentence) {
    std::string out =
        fmt::format("{{\"what\":\"{}\",\"shown\":{},\"of\":{},\"sentence\":", what, shown, of);
    append_json_string(out, sentence);
    return out + '}';
}

std::string scopes_sentence(const page_input& input, std::uint64_t shown) {
    constexpr std::string_view rest = "All tables and figures are of the whole trace.";
    const std::size_t all = input.from.events.size();
    if (input.list.requests.empty())
        return fmt::format("The timeline shows the {} longest of {} scopes. {}", shown, all, rest);
    return fmt::format("The timeline shows {} of {} scopes: those of the slowest {} of {} "
                       "requests, and of the work on which these depended. {}",
                       shown, all, std::ranges::count(input.shown.requests, true),
                       input.list.requests.size(), rest);
}

}  // namespace

std::string request_types_json(const page_input& input) {
    std::vector<length_classes> lengths(input.types.size());
    for (std::uint32_t at = 0; at < input.list.requests.size(); ++at) {
        const request_info& each = input.list.requests[at];
        const std::int64_t type = each.is_whole() ? input.order.type_of(at) : -1;
        if (type >= 0) lengths[static_cast<std::size_t>(type)].add(each.wall_ns());
    }
    std::string out = fmt::format("{{\"guessed\":{},\"count\":{},\"types\":[", input.list.guessed,
                                  input.list.requests.size());
    for (std::size_t at = 0; at < input.types.size(); ++at) {
        if (at != 0) out += ",\n";
        out += type_json(input.from, input.types[at], lengths[at]);
    }
    return out + "]}";
}

std::string left_out_json(const page_input& input) {
    const trace& from = input.from;
    std::vector<std::string> parts;
    const auto add = [&parts](std::string_view what, std::uint64_t shown, std::uint64_t of,
                              const std::string& sentence) {
        if (shown < of) parts.push_back(left_out_part(what, shown, of, sentence));
    };
    if (!input.shown.is_whole) {
        const std::uint64_t shown = input.shown.scopes.size();
        add("scopes", shown, from.events.size(), scopes_sentence(input, shown));
        add("tasks", input.shown.tasks.size(), from.tasks.size(),
            fmt::format("The timeline shows {} of {} tasks.", input.shown.tasks.size(),
                        from.tasks.size()));
        add("awaits", input.shown.awaits.size(), from.awaits.size(),
            fmt::format("The timeline shows {} of {} awaits.", input.shown.awaits.size(),
                        from.awaits.size()));
    }
    add("requests", input.order.rows().size(), input.list.requests.size(),
        fmt::format("The list has the slowest {} of {} requests.", input.order.rows().size(),
                    input.list.requests.size()));
    const auto with_work = static_cast<std::uint64_t>(std::ranges::count_if(
        input.list.requests, [](const request_info& each) { return !each.left_out; }));
    add("paths", input.paths.rows.size(), std::min<std::uint64_t>(with_work, most_request_rows),
        fmt::format("The slowest {} requests have a critical path on this page; coroscope path "
                    "--request ID shows that of any other.",
                    input.paths.rows.size()));
    if (const std::int64_t part_ns = part_of_steps(input.queues, from.duration_ns); part_ns != 0)
        parts.push_back(left_out_part(
            "queues", 0, 0,
            fmt::format("The queues and the busy threads of executors show the highest number of "
                        "each {}.",
                        format_span(part_ns))));
    std::string out;
    for (const std::string& each : parts) out += (out.empty() ? "" : ",\n") + each;
    return '[' + out + ']';
}

}  // namespace coroscope::analysis::inline pages
