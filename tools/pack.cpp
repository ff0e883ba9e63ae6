// SPDX-License-Identifier: Apache-2.0
#include "pack.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <coroscope/analysis/units.hpp>
#include <coroscope/trace/pack.hpp>
#include <fmt/format.h>
#include <sys/stat.h>

#include "cut_file.hpp"
#include "destination.hpp"
#include "output.hpp"

namespace coroscope::tools {
namespace {

struct pack_command {
    std::string file;
    std::string output;
};

/// "trace.cst" becomes "trace.cstz"; any other name gets ".cstz" appended.
std::string packed_name(const std::string& file) {
    return file.ends_with(".cst") ? file + "z" : file + ".cstz";
}

/// Returns whether an output file can be written beside this file. It cannot if the file is a pipe,
/// or if the path is the system's name of an open file.
bool is_file_with_name(const std::string& file) {
    for (const char* opened : {"/dev/stdin", "/dev/fd/", "/proc/"})
        if (file.starts_with(opened)) return false;
    struct stat what{};
    // A missing file and a directory are reported when they are read.
    return ::stat(file.c_str(), &what) != 0 || S_ISREG(what.st_mode) || S_ISDIR(what.st_mode);
}

std::string told(const pack_command& asked, const trace::pack_totals& totals) {
    const auto size = [](std::uint64_t bytes) {
        return analysis::format_bytes(static_cast<std::int64_t>(bytes));
    };
    return fmt::format("{}: {}, was {} ({:.1f} %)\n", one_line(asked.output),
                       size(totals.packed_bytes), size(totals.trace_bytes),
                       100 * static_cast<double>(totals.packed_bytes) /
                           static_cast<double>(totals.trace_bytes));
}

int run_pack(pack_command asked) {
    if (asked.output.empty() && !is_file_with_name(asked.file)) {
        report(asked.file,
               {"is not a regular file: name the output with -o (- for standard output)"});
        return exit_usage;
    }
    if (asked.output.empty()) asked.output = packed_name(asked.file);
    if (is_same_file(asked.file, asked.output)) {
        report("--output: would overwrite the trace");
        return exit_usage;
    }
    destination to(asked.output);
    const progress packing("packing " + asked.file);
    const cut_file_watch watch(asked.file);
    const auto totals =
        trace::pack(asked.file, [&](std::string_view bytes) { return to.write(bytes); });
    if (to.error() != 0) return failed(to, to.error());
    if (!totals) {
        report(asked.file, totals.error());
        return exit_failure;
    }
    if (const int error = to.finish(); error != 0) return failed(to, error);
    return asked.output == "-" ? exit_success : print(told(asked, *totals));
}

}  // namespace

void add_pack(CLI::App& root, command_line& line) {
    auto asked = std::make_shared<pack_command>();
    CLI::App* command =
        root.add_subcommand("pack", "Write the same trace in a fraction of the bytes");
    command->add_option("FILE", asked->file, "The trace")->required()->type_name("");
    command
        ->add_option(
            "-o,--output", asked->output,
            "The file to write; - for standard output.\nWithout it: beside the trace, as .cstz")
        ->type_name("PATH");
    command->footer("Every command reads packed traces.\n\nExample:\n  coroscope pack trace.cst");
    command->callback([asked, &line] { line.chosen = [asked] { return run_pack(*asked); }; });
}

}  // namespace coroscope::tools
