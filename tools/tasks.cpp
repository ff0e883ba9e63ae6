// SPDX-License-Identifier: Apache-2.0
#include "tasks.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <coroscope/analysis/views.hpp>
#include <fmt/format.h>

#include "data_command.hpp"
#include "folding.hpp"
#include "output.hpp"

namespace coroscope::tools {
namespace {

using analysis::output_format;

constexpr std::int64_t not_given = -2;  // a value that the option does not accept
constexpr std::int64_t tree_rows = 1000;

struct tasks_command {
    data_options data{.limit = not_given};
    fold_choice fold;
    bool tree = false;
    std::optional<std::uint64_t> task;
};

/// Without --limit, a tree as text has only its first rows. CSV and JSON have every task.
data_options with_limit(const tasks_command& asked) {
    data_options data = asked.data;
    const bool for_people = asked.tree && data.format == output_format::text;
    if (data.limit == not_given) data.limit = for_people ? tree_rows : -1;
    return data;
}

int print_task(const tasks_command& asked, const analysis::trace& loaded) {
    const auto found = find_task_or_report(asked.data.file, loaded, *asked.task);
    if (!found) return exit_failure;
    const analysis::listing awaits = analysis::list_task_awaits(loaded, *found);
    if (const auto sorted = analysis::arranged(awaits, {.sort_by = asked.data.sort_by}); !sorted)
        return usage_failure("--sort-by", sorted.error().message);
    switch (asked.data.format) {
        case output_format::csv: return print_listing(awaits, with_limit(asked), {});
        case output_format::json: return print(analysis::task_json(loaded, *found));
        case output_format::text: break;
    }
    analysis::listing_options how = listing_form(asked.data);
    how.row_limit = -1;
    return print_view(analysis::task_text(loaded, *found, how) + analysis::loss_notes(loaded),
                      asked.data);
}

int run_tasks(const tasks_command& asked) {
    auto whole = load_trace(asked.data, asked.task ? analysis::scopes_to_load::all
                                                   : analysis::scopes_to_load::around_awaits);
    if (!whole) return exit_failure;
    if (asked.task) return print_task(asked, *whole);
    const auto loaded = folded(std::move(whole), asked.fold);
    const analysis::listing list =
        asked.tree ? analysis::list_task_tree(*loaded)
                   : analysis::list_task_sites(*loaded, analysis::task_statistics(*loaded));
    return print_listing(list, with_limit(asked), loss_notes(*loaded, asked.fold),
                         loaded->health.folded_tasks == 0
                             ? "no task was recorded: none was created, ran or was woken while the "
                               "session did; those that were suspended throughout are unknown"
                             : "every task is folded");
}

}  // namespace

void add_tasks(CLI::App& root, command_line& line) {
    auto asked = std::make_shared<tasks_command>();
    CLI::App* command = root.add_subcommand("tasks", "The tasks, by spawn site");
    add_data_options(*command, asked->data,
                     "running, on_cpu, blocked, preempted, unknown_state, suspended, queued, "
                     "waiting, wall, device; by spawn site: count, p50, p90, p99, max, "
                     "spawn_to_wake, frame_bytes; --tree: task, parent, depth; --task: suspend, "
                     "suspended, queued, waiting, total, awaited, waker, device, device_queued, "
                     "device_start, device_end");
    CLI::Option* tree =
        command->add_flag("--tree", asked->tree, "Every task, under the task that created it");
    add_task_option(*command, asked->task, "One task with its awaits and slices (csv: its awaits)")
        ->excludes(tree);
    add_fold_option(*command, asked->fold);
    command->footer("Example:\n  coroscope tasks trace.cst --sort-by p99\n  coroscope tasks "
                    "trace.cst --task 42");
    command->callback([asked, &line] { line.chosen = [asked] { return run_tasks(*asked); }; });
}

}  // namespace coroscope::tools
