// SPDX-License-Identifier: Apache-2.0

// The paths of a type's requests as text and as JSON.

#include <coroscope/analysis/views.hpp>

#include <cstddef>
#include <utility>

#include <coroscope/analysis/units.hpp>
#include <fmt/format.h>

#include "../../text/json_writer.hpp"
#include "../../text/utf8.hpp"
#include "json_place.hpp"

namespace coroscope::analysis {
namespace {

std::int64_t mean_of(std::int64_t sum_ns, std::size_t count) {
    return count == 0 ? 0 : sum_ns / static_cast<std::int64_t>(count);
}

std::string group_text(const percentile_group& group) {
    const std::size_t count = group.requests.size();
    return fmt::format("p{}: {}, {} request{}", group.percentile,
                       format_span(mean_of(group.wall_ns, count)), count, count == 1 ? "" : "s");
}

std::string group_key(const percentile_group& group, const char* unit) {
    return fmt::format("p{}{}", group.percentile, unit);
}

void write_node(json_writer& json, const trace& loaded, const request_paths& of,
                const request_path_node& node) {
    json.begin_object(json_writer::layout::compact);
    json.member("kind", name_of(node.kind)).member("label", node.label);
    write_place(json, loaded, node.site);
    json.key("parent");
    if (node.parent == none)
        json.null();
    else
        json.integer(node.parent);
    json.member("depth", node.depth).member("requests", node.requests);
    json.member("own_ns", node.own_ns).member("total_ns", node.total_ns);
    for (std::size_t group = 0; group < of.groups.size(); ++group)
        json.member(group_key(of.groups[group], "_ns"), node.group_ns[group]);
    json.end();
}

}  // namespace

std::string request_paths_text(const trace& loaded, const request_paths& of,
                               const listing_options& options) {
    std::string text = fmt::format("critical paths of {} request{} {}\nmean: {}", of.requests,
                                   of.requests == 1 ? "" : "s", printable(of.name),
                                   format_span(mean_of(of.wall_ns, of.requests)));
    for (const percentile_group& group : of.groups) text += "; " + group_text(group);
    const listing rows = list_request_paths(loaded, of);
    const auto chosen = arranged(rows, options);
    const listing& shown = chosen ? *chosen : rows;
    text.append("\n\n").append(to_text(shown, options));
    if (shown.rows.size() < of.nodes.size())
        text += fmt::format("{} of {} rows; --format csv has all\n", shown.rows.size(),
                            of.nodes.size());
    return text;
}

std::string request_paths_json(const trace& loaded, const request_paths& of) {
    json_writer json;
    json.begin_object();
    json.member("name", of.name).member("requests", of.requests).member("wall_ns", of.wall_ns);
    json.key("groups").begin_array();
    for (const percentile_group& group : of.groups) {
        json.begin_object(json_writer::layout::compact);
        json.member("percentile", group.percentile).member("wall_ns", group.wall_ns);
        json.key("requests").begin_array(json_writer::layout::compact);
        for (const std::uint64_t id : group.requests) json.integer(id);
        json.end();
        json.end();
    }
    json.end();
    json.key("nodes").begin_array();
    for (const request_path_node& node : of.nodes) write_node(json, loaded, of, node);
    json.end();
    json.end();
    return std::move(json).take();
}

}  // namespace coroscope::analysis
