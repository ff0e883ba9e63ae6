// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/request_paths.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "../words/path_words.hpp"
#include "requests_of_type.hpp"

namespace coroscope::analysis {
namespace {

constexpr std::size_t group_share = 100;  // a group has one of 100 requests
constexpr std::size_t largest_group = 1000;
constexpr std::uint32_t deepest_node = 64;  // deeper nodes become siblings of their parent

// Returns the index of the first request of a group among the sorted requests, and the group's
// size.
std::pair<std::size_t, std::size_t> places_of(std::size_t requests, std::uint32_t percentile) {
    const std::size_t count = std::clamp<std::size_t>(requests / group_share, 1, largest_group);
    const std::size_t rank = (requests * percentile + 99) / 100;  // from 1
    const std::size_t middle = rank - 1;
    const std::size_t before = std::min(middle, (count - 1) / 2);
    return {std::min(middle - before, requests - count), count};
}

class path_tree {
public:
    path_tree(const trace& loaded, request_paths& to) : loaded_(loaded), to_(to) {}

    // `groups`: whether the request is in each group.
    void add(const critical_path& path, std::uint32_t request,
             const std::array<bool, compared_percentiles.size()>& groups) {
        nodes_of_waits_.clear();
        for (const path_wait& each : path.waits)
            nodes_of_waits_.push_back(child(node_around(each.through), segment_of(each)));
        for (const path_segment& each : path.segments) {
            const std::uint32_t at = child(node_around(each.through), each);
            request_path_node& node = to_.nodes[at];
            add_to(node.own_ns, each.length_ns());
            for (std::size_t group = 0; group < groups.size(); ++group)
                if (groups[group]) add_to(node.group_ns[group], each.length_ns());
            count(at, request);
        }
    }

    // Adds the times of nodes to the nodes above, and sorts the nodes.
    void finish() {
        for (request_path_node& each : to_.nodes) each.total_ns = each.own_ns;
        for (std::size_t at = to_.nodes.size(); at-- > 0;) {
            const request_path_node& node = to_.nodes[at];
            if (node.parent == none) continue;
            request_path_node& above = to_.nodes[node.parent];
            add_to(above.total_ns, node.total_ns);
            for (std::size_t group = 0; group < node.group_ns.size(); ++group)
                add_to(above.group_ns[group], node.group_ns[group]);
        }
        std::vector<request_path_node> sorted;
        append_below(none, none, children(), sorted);
        to_.nodes = std::move(sorted);
    }

private:
    using node_key = std::tuple<std::uint32_t, path_kind, std::uint32_t, std::uint32_t>;
    using children_map = std::unordered_map<std::uint32_t, std::vector<std::uint32_t>>;

    [[nodiscard]] std::uint32_t node_around(std::uint32_t wait) const {
        return wait == none ? none : nodes_of_waits_[wait];
    }

    // The label of a segment depends on these: an await's site and the spawn site of the awaited
    // task, else a scope's name, else the spawn site of the task; and which of them it is.
    using label_source = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

    [[nodiscard]] label_source source_of(const path_segment& segment) const {
        if (segment.await != none) {
            const await_info& await = loaded_.awaits[segment.await];
            return {await.site, spawn_site_of(await.awaited), await.handed_over ? 3 : 0};
        }
        if (segment.event != none) return {loaded_.events[segment.event].name, none, 1};
        return {spawn_site_of(segment.task), none, 2};
    }

    [[nodiscard]] std::uint32_t spawn_site_of(std::uint32_t task) const {
        return task < loaded_.tasks.size() ? loaded_.tasks[task].spawn_site : none;
    }

    std::uint32_t label_of(const path_segment& segment) {
        const auto [known, is_new] = known_labels_.try_emplace(source_of(segment), none);
        if (is_new)
            known->second = labels_
                                .try_emplace(segment_label(loaded_, segment),
                                             static_cast<std::uint32_t>(labels_.size()))
                                .first->second;
        return known->second;
    }

    std::uint32_t child(std::uint32_t parent, const path_segment& segment) {
        const std::uint32_t label = label_of(segment);
        const std::uint32_t site = segment_site(loaded_, segment);
        for (std::uint32_t above = parent; above != none; above = to_.nodes[above].parent)
            if (to_.nodes[above].kind == segment.kind && sites_[above] == std::pair(label, site))
                return above;
        while (parent != none && to_.nodes[parent].depth + 1 >= deepest_node)
            parent = to_.nodes[parent].parent;
        const auto [found, is_new] =
            numbers_.try_emplace(node_key(parent, segment.kind, label, site),
                                 static_cast<std::uint32_t>(to_.nodes.size()));
        if (!is_new) return found->second;
        sites_.emplace_back(label, site);
        last_request_.push_back(none);
        to_.nodes.push_back({.kind = segment.kind,
                             .label = segment_label(loaded_, segment),
                             .site = site,
                             .parent = parent,
                             .depth = parent == none ? 0 : to_.nodes[parent].depth + 1});
        return found->second;
    }

    // Counts the request at the node and above.
    void count(std::uint32_t node, std::uint32_t request) {
        for (; node != none && last_request_[node] != request; node = to_.nodes[node].parent) {
            last_request_[node] = request;
            ++to_.nodes[node].requests;
        }
    }

    [[nodiscard]] children_map children() const {
        children_map found;
        for (std::uint32_t at = 0; at < to_.nodes.size(); ++at)
            found[to_.nodes[at].parent].push_back(at);
        for (auto& [parent, below] : found)
            std::ranges::stable_sort(below, std::ranges::greater(),
                                     [this](std::uint32_t at) { return to_.nodes[at].total_ns; });
        return found;
    }

    // Appends the nodes below a node. The recursion is at most deepest_node deep.
    void append_below(std::uint32_t old_parent, std::uint32_t parent, const children_map& children,
                      std::vector<request_path_node>& sorted) const {
        const auto found = children.find(old_parent);
        if (found == children.end()) return;
        for (const std::uint32_t at : found->second) {
            const auto place = static_cast<std::uint32_t>(sorted.size());
            sorted.push_back(to_.nodes[at]);
            sorted.back().parent = parent;
            append_below(at, place, children, sorted);
        }
    }

    const trace& loaded_;
    request_paths& to_;
    std::unordered_map<std::string, std::uint32_t> labels_;
    std::map<label_source, std::uint32_t> known_labels_;
    std::map<node_key, std::uint32_t> numbers_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> sites_;  // by node: label and site
    std::vector<std::uint32_t> last_request_;                     // by node
    std::vector<std::uint32_t> nodes_of_waits_;                   // of the current path
};

}  // namespace

std::optional<request_paths> paths_of_requests(const trace& loaded, const request_list& list,
                                               std::string_view name) {
    const std::vector<request_info> requests = requests_of_type(
        loaded, list, name.empty() ? slowest_type(loaded, list) : std::string(name));
    if (requests.empty()) return std::nullopt;
    request_paths made;
    made.name = request_name(loaded, requests.front());
    made.requests = requests.size();
    std::vector<std::array<bool, compared_percentiles.size()>> groups(requests.size());
    for (std::size_t group = 0; group < groups.front().size(); ++group) {
        percentile_group& of = made.groups[group];
        of.percentile = compared_percentiles[group];
        const auto [first, count] = places_of(requests.size(), of.percentile);
        for (std::size_t at = first; at < first + count; ++at) {
            groups[at][group] = true;
            of.requests.push_back(requests[at].id);
            add_to(of.wall_ns, requests[at].wall_ns());
        }
    }
    path_tree tree(loaded, made);
    std::uint32_t at = 0;
    for_each_critical_path(loaded, requests, {.blame = false}, [&](const critical_path& path) {
        add_to(made.wall_ns, path.wall_ns());
        tree.add(path, at, groups[at]);
        ++at;
    });
    tree.finish();
    return made;
}

}  // namespace coroscope::analysis
