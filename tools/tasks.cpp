// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/views.hpp>

#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "data_command.hpp"
#include "output.hpp"
#include "subcommand.hpp"

namespace coroscope::tools {
namespace {

using analysis::output_format;

constexpr std::int64_t not_given = -2;  // no limit that the option takes
constexpr std::int64_t tree_rows = 1000;

struct tasks_command {
    data_options data{.limit = not_given};
    bool tree = false;
    std::optional<std::uint64_t> task;
};

/// Runs before the number is read, which takes "-1" for 2^64 less 1 and what is too large for something else.
std::string task_number(std::string& text) {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && last == end ? std::string() : "not a task's number: " + text;
}

/// People rarely want a million tasks; programs that ask for data get all of it.
data_options with_limit(const tasks_command& asked) {
    data_options data = asked.data;
    const bool for_people = asked.tree && data.format == output_format::text;
    if (data.limit == not_given) data.limit = for_people ? tree_rows : -1;
    return data;
}

int print_task(const tasks_command& asked, const analysis::trace& loaded) {
    const auto found = analysis::find_task(loaded, *asked.task);
    if (!found) {
        report(asked.data.file, {fmt::format("no task {}", *asked.task)});
        return exit_failure;
    }
    const analysis::listing awaits = analysis::list_task_awaits(loaded, *found);
    if (const auto sorted = analysis::arranged(awaits, {.sort_by = asked.data.sort_by}); !sorted)
        return usage_failure("--sort-by", sorted.error().message);
    switch (asked.data.format) {
        case output_format::csv: return print_listing(awaits, with_limit(asked), {});
        case output_format::json: return print(analysis::task_json(loaded, *found));
        case output_format::text: break;
    }
    return print_text(analysis::task_text(loaded, *found, {.unit = asked.data.unit}) +
                      analysis::loss_notes(loaded));
}

int run_tasks(const tasks_command& asked) {
    const auto loaded = load_trace(asked.data.file);
    if (!loaded) return exit_failure;
    if (asked.task) return print_task(asked, *loaded);
    const analysis::listing list =
        asked.tree ? analysis::list_task_tree(*loaded)
                   : analysis::list_task_sites(*loaded, analysis::task_statistics(*loaded));
    return print_listing(list, with_limit(asked), analysis::loss_notes(*loaded));
}

}  // namespace

void add_tasks(CLI::App& root, command_line& line) {
    auto asked = std::make_shared<tasks_command>();
    CLI::App* command = root.add_subcommand("tasks", "The tasks, by spawn site");
    add_data_options(*command, asked->data,
                     "running, suspended, queued, waiting, wall, and by spawn site also count, "
                     "p50, p90, p99, max");
    CLI::Option* tree =
        command->add_flag("--tree", asked->tree, "Every task, under the one that created it");
    command
        ->add_option("--task", asked->task, "One task with its awaits and slices (csv: its awaits)")
        ->type_name("ID")
        ->check(CLI::Validator(task_number, ""))
        ->excludes(tree);
    command->footer("Example:\n  coroscope tasks trace.cst --sort-by p99\n  coroscope tasks "
                    "trace.cst --task 42");
    command->callback([asked, &line] { line.chosen = [asked] { return run_tasks(*asked); }; });
}

}  // namespace coroscope::tools
