// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/views.hpp>

#include <memory>
#include <optional>

#include <fmt/format.h>

#include "data_command.hpp"
#include "output.hpp"
#include "subcommand.hpp"

namespace coroscope::tools {
namespace {

using analysis::output_format;

struct tasks_command {
    data_options data;
    bool tree = false;
    std::optional<std::uint64_t> task;
};

int print_task(const tasks_command& asked, const analysis::trace& loaded) {
    const auto found = analysis::find_task(loaded, *asked.task);
    if (!found) {
        report(asked.data.file, {fmt::format("no task {}", *asked.task)});
        return exit_failure;
    }
    switch (asked.data.format) {
        case output_format::csv:
            return print_listing(analysis::list_task_awaits(loaded, *found), asked.data, {});
        case output_format::json: return print(analysis::task_json(loaded, *found));
        case output_format::text: break;
    }
    return print_text(analysis::task_text(loaded, *found, {.unit = asked.data.unit}) + analysis::loss_notes(loaded));
}

int run_tasks(const tasks_command& asked) {
    const auto loaded = load_trace(asked.data.file);
    if (!loaded) return exit_failure;
    if (asked.task) return print_task(asked, *loaded);
    const analysis::listing list = asked.tree
                                       ? analysis::list_task_tree(*loaded)
                                       : analysis::list_task_sites(*loaded, analysis::task_statistics(*loaded));
    return print_listing(list, asked.data, analysis::loss_notes(*loaded));
}

}  // namespace

void add_tasks(CLI::App& root, command_line& line) {
    auto asked = std::make_shared<tasks_command>();
    CLI::App* command = root.add_subcommand("tasks", "The tasks, by the place that spawned them");
    add_data_options(*command, asked->data,
                     "running, suspended, queued, waiting, wall, and by place also count, p50, p90, p99, max");
    CLI::Option* tree = command->add_flag("--tree", asked->tree, "Every task, under the one that created it");
    command->add_option("--task", asked->task, "One task with its awaits and slices (csv: its awaits)")
        ->type_name("ID")
        ->excludes(tree);
    command->footer("Example:\n  coroscope tasks trace.cst --sort-by p99\n  coroscope tasks trace.cst --task 42");
    command->callback([asked, &line] { line.chosen = [asked] { return run_tasks(*asked); }; });
}

}  // namespace coroscope::tools
