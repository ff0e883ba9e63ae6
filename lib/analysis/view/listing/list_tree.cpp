// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/views.hpp>

#include <coroscope/analysis/device_statistics.hpp>

#include <algorithm>
#include <cstddef>

#include "../../words/places.hpp"
#include "figure.hpp"
#include "place_cells.hpp"

namespace coroscope::analysis {
namespace {

using row = std::vector<listing_cell>;

/// Visits the tasks of the tree: each parent, then its children in the order of their spawns. A
/// cycle of parents, which only a damaged trace has, is entered at its first task.
class tree_walk {
public:
    struct step {
        std::uint32_t task;
        std::uint32_t depth;
    };

    explicit tree_walk(const trace& loaded) : tasks_(loaded.tasks), visited_(loaded.tasks.size()) {
        link();
        for (std::uint32_t at = 0; at < tasks_.size(); ++at) {
            if (tasks_[at].parent >= tasks_.size()) visit(at);
        }
        for (std::uint32_t at = 0; at < tasks_.size(); ++at) visit(at);
    }

    [[nodiscard]] const std::vector<step>& steps() const noexcept { return steps_; }

private:
    /// Links each task to its first child, and each child to its next sibling.
    void link() {
        first_child_.assign(tasks_.size(), none);
        next_sibling_.assign(tasks_.size(), none);
        for (auto at = static_cast<std::uint32_t>(tasks_.size()); at-- > 0;) {
            const std::uint32_t parent = tasks_[at].parent;
            if (parent >= tasks_.size()) continue;
            next_sibling_[at] = first_child_[parent];
            first_child_[parent] = at;
        }
    }

    void visit(std::uint32_t root) {
        std::vector<step> open{{root, 0}};
        while (!open.empty()) {
            const step next = open.back();
            open.pop_back();
            if (visited_[next.task]) continue;
            visited_[next.task] = true;
            steps_.push_back(next);
            const std::size_t mark = open.size();
            for (std::uint32_t child = first_child_[next.task]; child != none;
                 child = next_sibling_[child]) {
                open.push_back({child, next.depth + 1});
            }
            std::reverse(open.begin() + static_cast<std::ptrdiff_t>(mark), open.end());
        }
    }

    const packed_list<task_info>& tasks_;
    std::vector<std::uint32_t> first_child_;
    std::vector<std::uint32_t> next_sibling_;
    std::vector<bool> visited_;
    std::vector<step> steps_;
};

row tree_row(const trace& loaded, const tree_walk::step& step) {
    const task_info& task = loaded.tasks[step.task];
    row cells{site_name(loaded, task.spawn_site), optional_ns(task.id)};
    if (task.parent < loaded.tasks.size()) {
        cells.emplace_back(optional_ns(loaded.tasks[task.parent].id));
    } else {
        cells.emplace_back(not_applicable());
    }
    cells.emplace_back(optional_ns(step.depth));
    cells.emplace_back(std::string(state_of(task)) + (task.losses ? " (losses)" : ""));
    const state_times states = states_of(loaded, task);
    append_times(cells, task.time, !is_named_only(task), loaded.states.any() ? &states : nullptr);
    cells.emplace_back(site_place(loaded, task.spawn_site));
    return cells;
}

}  // namespace

listing list_task_tree(const trace& loaded) {
    listing list;
    list.columns = {
        {"Task", "name", cell_kind::outline},   {"Id", "task", cell_kind::count},
        {"Parent", "parent", cell_kind::count}, {"Depth", "depth", cell_kind::count},
        {"State", "state", cell_kind::text},    {"Running", "running_ns", cell_kind::time}};
    if (loaded.states.any()) append_state_columns(list.columns);
    list.columns.insert(list.columns.end(), {{"Suspended", "suspended_ns", cell_kind::time},
                                             {"Queued", "queued_ns", cell_kind::time},
                                             {"Waiting", "waiting_ns", cell_kind::time},
                                             {"Wall", "wall_ns", cell_kind::time},
                                             {"At", "place", cell_kind::source}});
    const std::vector<std::int64_t> device_times = device_time_of_tasks(loaded);
    if (!device_times.empty()) list.columns.push_back({"On devices", "device_ns", cell_kind::time});
    const bool spawns = knows_spawn_places(loaded);
    if (spawns) list.columns.push_back({"Spawned at", "spawned_at", cell_kind::source});
    const tree_walk walk(loaded);
    for (const tree_walk::step& step : walk.steps()) {
        list.rows.push_back(tree_row(loaded, step));
        if (!device_times.empty())
            list.rows.back().emplace_back(optional_ns(device_times[step.task]));
        if (spawns)
            list.rows.back().push_back(
                spawned_at_cell(loaded, loaded.tasks[step.task].spawn_place));
    }
    return list;
}

}  // namespace coroscope::analysis
