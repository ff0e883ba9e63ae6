// SPDX-License-Identifier: Apache-2.0
#include "cut.hpp"

#include <memory>
#include <string>
#include <string_view>

#include <coroscope/analysis/cut_trace.hpp>
#include <coroscope/analysis/units.hpp>
#include <fmt/format.h>

#include "cut_file.hpp"
#include "destination.hpp"
#include "output.hpp"
#include "part_options.hpp"

namespace coroscope::tools {
namespace {

struct cut_command {
    std::string file;
    std::string output;
    analysis::part_choice part;
};

std::string sentence_of(const cut_command& asked, const analysis::cut_totals& totals) {
    return fmt::format("{}: {}, was {}; {} of {} records\n", one_line(asked.output),
                       analysis::format_bytes(static_cast<std::int64_t>(totals.cut_bytes)),
                       analysis::format_bytes(static_cast<std::int64_t>(totals.trace_bytes)),
                       totals.kept_records, totals.records);
}

int cut_usage(std::string_view message) {
    report(message);
    return exit_usage;
}

int run_cut(const cut_command& asked) {
    if (!asked.part.has_stretch()) return cut_usage("cut: give --from, --to or both");
    if (is_same_file(asked.file, asked.output))
        return cut_usage("--output: would overwrite the trace");
    destination to(asked.output);
    const progress cutting("cutting " + asked.file);
    const cut_file_watch watch(asked.file);
    const auto totals =
        analysis::cut_trace(asked.file, asked.part.from_ns, asked.part.to_ns,
                            [&](std::string_view bytes) { return to.write(bytes); });
    if (to.error() != 0) return failed(to, to.error());
    if (!totals) {
        report(asked.file, totals.error());
        return exit_failure;
    }
    if (const int error = to.finish(); error != 0) return failed(to, error);
    return asked.output == "-" ? exit_success : print(sentence_of(asked, *totals));
}

}  // namespace

void add_cut(CLI::App& root, command_line& line) {
    auto asked = std::make_shared<cut_command>();
    CLI::App* command = root.add_subcommand("cut", "Write a part of a trace as a trace");
    command->add_option("FILE", asked->file, "The trace")->required()->type_name("");
    command->add_option("-o,--output", asked->output, "The file to write; - for standard output")
        ->required()
        ->type_name("PATH");
    add_stretch_options(*command, asked->part);
    command->footer("Every command reads such a part, and shows the same as with these options of "
                    "its own.\n\n"
                    "Example:\n  coroscope cut trace.cst --from 1.5s --to 2s -o part.cst");
    command->callback([asked, &line] { line.chosen = [asked] { return run_cut(*asked); }; });
}

}  // namespace coroscope::tools
