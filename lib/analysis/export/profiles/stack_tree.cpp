// SPDX-License-Identifier: Apache-2.0
#include "stack_tree.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "../../text/utf8.hpp"
#include "../../words/await_names.hpp"
#include "../../words/places.hpp"

namespace coroscope::analysis::inline profiles {
namespace {

constexpr std::size_t part_bytes = std::size_t{1} << 16;

// A semicolon would begin another frame.
std::string frame_text_of(std::string_view name) {
    std::string text = printable(name);
    std::ranges::replace(text, ';', ',');
    return text.empty() ? "unknown" : text;
}

}  // namespace

std::uint32_t frame_tree::child(std::uint32_t parent, std::string_view frame, std::uint32_t site) {
    const std::uint32_t depth = nodes_[parent].depth;
    if (depth < most_folded_frames) return last_child(parent, frame, site);
    return depth > most_folded_frames ? parent : last_child(parent, "[deeper frames]");
}

std::uint32_t frame_tree::last_child(std::uint32_t parent, std::string_view frame,
                                     std::uint32_t site) {
    std::string text = frame_text_of(frame);
    const auto [number, is_new_frame] =
        frame_numbers_.try_emplace(text, static_cast<std::uint32_t>(frames_.size()));
    if (is_new_frame) frames_.push_back({std::move(text), site});
    if (frames_[number->second].site != site) frames_[number->second].site = none;
    const std::uint64_t key = std::uint64_t{parent} << 32 | number->second;
    const auto [found, is_new] =
        children_.try_emplace(key, static_cast<std::uint32_t>(nodes_.size()));
    if (is_new) nodes_.push_back({parent, number->second, nodes_[parent].depth + 1, 0});
    return found->second;
}

std::uint32_t frame_tree::kind_child(std::uint32_t parent, path_kind kind) {
    return last_child(parent, fmt::format("[{}]", name_of(kind)));
}

std::uint32_t frame_tree::other_child(std::uint32_t parent, std::string_view frame,
                                      std::uint32_t site) {
    const bool is_same = parent != 0 && frames_[nodes_[parent].frame].text == frame_text_of(frame);
    return is_same ? parent : child(parent, frame, site);
}

void frame_tree::way_to(std::uint32_t node, std::vector<std::uint32_t>& way) const {
    way.clear();
    for (std::uint32_t at = node; at != 0; at = nodes_[at].parent) way.push_back(nodes_[at].frame);
    std::ranges::reverse(way);
}

void frame_tree::add(std::uint32_t node, std::int64_t time_ns) {
    add_to(nodes_[node].time_ns, time_ns);
}

written frame_tree::write(const byte_sink& sink) const {
    std::uint64_t lines = 0;
    std::string part;
    std::vector<std::uint32_t> way;
    for (std::uint32_t index = 1; index < nodes_.size(); ++index) {
        if (nodes_[index].time_ns <= 0) continue;
        way_to(index, way);
        for (auto frame = way.begin(); frame != way.end(); ++frame) {
            if (frame != way.begin()) part += ';';
            part += frames_[*frame].text;
        }
        fmt::format_to(std::back_inserter(part), " {}\n", nodes_[index].time_ns);
        ++lines;
        if (part.size() < part_bytes) continue;
        if (!sink(part)) return failure{"the stacks could not be written"};
        part.clear();
    }
    if (!part.empty() && !sink(part)) return failure{"the stacks could not be written"};
    return lines;
}

stack_tree::stack_tree(const trace& from)
    : from_(from),
      calls_(from),
      awaits_of_(from.tasks.size(), none),
      task_nodes_(from.tasks.size()),
      scope_nodes_(from.events.size()) {
    for (std::uint32_t index = 0; index < from.awaits.size(); ++index) {
        const std::uint32_t awaited = from.awaits[index].awaited;
        if (awaited < awaits_of_.size()) awaits_of_[awaited] = index;
    }
}

std::uint32_t stack_tree::node_of(std::uint32_t task, std::uint32_t event) {
    const std::uint32_t base = node_of_task(task);
    return event == none ? base : node_of_scope(event, base);
}

std::uint32_t stack_tree::node_of_await(std::uint32_t await) {
    const await_info& of = from_.awaits[await];
    return node_at(of, node_of_task(of.task));
}

// A task that was resumed in place is above the code that resumed it.
std::uint32_t stack_tree::node_at(const await_info& await, std::uint32_t task_node) {
    const std::uint32_t scope =
        await.scope == none ? task_node : node_of_scope(await.scope, task_node);
    return is_interruption(await)
               ? scope
               : frames_.other_child(scope, await_title(from_, await), await_place(from_, await));
}

std::uint32_t stack_tree::node_on_thread(std::uint32_t thread, std::uint32_t event) {
    return node_of_scope(event, frames_.child(0, thread_name(from_, thread)));
}

// Makes the nodes of the task and of its awaiters, up to the root or to a known node. In damaged
// traces tasks may await one another in a cycle; the walk then ends after as many steps as there
// are tasks.
std::uint32_t stack_tree::node_of_task(std::uint32_t task) {
    std::vector<std::uint32_t> way;
    for (std::uint32_t at = task; task_nodes_[at] == 0;) {
        way.push_back(at);
        const std::uint32_t await = awaits_of_[at];
        if (await == none || from_.awaits[await].task >= from_.tasks.size()) break;
        at = from_.awaits[await].task;
        if (way.size() > from_.tasks.size()) break;
    }
    while (!way.empty()) {
        const std::uint32_t at = way.back();
        way.pop_back();
        task_nodes_[at] =
            frames_.child(node_below(awaits_of_[at]), site_name(from_, from_.tasks[at].spawn_site),
                          from_.tasks[at].spawn_site);
    }
    return task_nodes_[task];
}

// Returns the node below an awaited task; the root if the awaiter is unknown.
std::uint32_t stack_tree::node_below(std::uint32_t await) {
    if (await == none) return 0;
    const await_info& of = from_.awaits[await];
    if (of.task >= from_.tasks.size() || task_nodes_[of.task] == 0) return 0;
    return node_at(of, task_nodes_[of.task]);
}

std::uint32_t stack_tree::node_of_scope(std::uint32_t event, std::uint32_t base) {
    std::vector<std::uint32_t> way;
    for (std::uint32_t at = event; at != none && scope_nodes_[at] == 0;
         at = from_.events[at].parent)
        way.push_back(at);
    const std::uint32_t outer = way.empty() ? event : from_.events[way.back()].parent;
    std::uint32_t node = outer == none ? base : scope_nodes_[outer];
    while (!way.empty()) {
        const analysis::event& scope = from_.events[way.back()];
        const std::string& name = from_.strings[scope.name];
        const std::uint32_t enclosing = node;
        for (const std::string_view call : calls_.of(way.back())) node = frames_.child(node, call);
        node = node == base || node != enclosing ? frames_.other_child(node, name, scope.site)
                                                 : frames_.child(node, name, scope.site);
        scope_nodes_[way.back()] = node;
        way.pop_back();
    }
    return node;
}

}  // namespace coroscope::analysis::inline profiles
