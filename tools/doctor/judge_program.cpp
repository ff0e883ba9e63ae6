// SPDX-License-Identifier: Apache-2.0
#include "judge_program.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <elf.h>
#include <fmt/format.h>

namespace coroscope::tools {
namespace {

// Libraries of which each contains or needs the runtime.
constexpr std::string_view recorders[] = {"libcoroscope.so", "libcoroscope-cuda.so",
                                          "libcoroscope-memory-hook.so"};

bool is_recorder(std::string_view library) {
    return std::any_of(std::begin(recorders), std::end(recorders),
                       [library](std::string_view each) { return library.starts_with(each); });
}

bool is_program(const elf_readings& elf) {
    return elf.type == ET_EXEC || (elf.type == ET_DYN && (elf.interpreted || elf.pie));
}

fact of_file(fact_state state, std::string why, std::string change) {
    return {.name = "program",
            .state = state,
            .why = std::move(why),
            .change = std::move(change),
            .essential = true};
}

fact judge_file(const program_readings& read) {
    switch (read.form) {
        case file_form::script:
            return of_file(fact_state::unknown,
                           fmt::format("{} is a script for {}", read.path,
                                       read.script_interpreter.empty() ? "no interpreter"
                                                                       : read.script_interpreter),
                           "name the program that the script starts");
        case file_form::foreign_elf:
            return of_file(fact_state::unknown,
                           read.path + " is not a 64-bit little-endian ELF file", "");
        case file_form::other:
            return of_file(fact_state::no, read.path + " is not an ELF file",
                           "name an ELF program");
        case file_form::elf: break;
    }
    if (!is_program(read.elf))
        return of_file(fact_state::no, read.path + " is an ELF file, but not a program",
                       "name the program that loads it");
    if (read.elf.machine != read.own_machine)
        return of_file(fact_state::unknown, read.path + " is for another processor",
                       "run coroscope doctor on its machine");
    return of_file(fact_state::yes,
                   fmt::format("{} is an ELF file, {}", read.path,
                               read.elf.interpreted ? "dynamically linked" : "statically linked"),
                   "");
}

fact judge_recorder(const elf_readings& elf) {
    fact made{.name = "Coroscope in it", .state = fact_state::yes, .essential = true};
    const auto library = std::find_if(elf.needed.begin(), elf.needed.end(), is_recorder);
    if (library != elf.needed.end()) {
        made.why = "it needs " + *library;
        return made;
    }
    if (elf.has_runtime) {
        made.why = "it contains functions of the recorder";
        return made;
    }
    made.change = "link it with Coroscope (docs/reference/integrations.md)";
    if (elf.interpreted) {
        made.state = fact_state::unknown;
        made.why = elf.has_symbols
                       ? "not in the program itself; a library that it loads may contain it"
                       : "it does not need libcoroscope, and has no symbols";
    } else if (!elf.has_symbols) {
        made.state = fact_state::unknown;
        made.why = "it has no symbols";
    } else {
        made.state = fact_state::no;
        made.why = "none of its symbols is of the recorder";
    }
    return made;
}

/// Returns whether the kernel starts the program in secure-execution mode for this user.
bool is_secure(const program_readings& read) {
    if (read.changes_ignored) return false;
    return read.changes_user || (read.has_capabilities && !read.by_root);
}

std::string rights_text(const program_readings& read) {
    if (read.has_id_bits) return "it is set-user-ID or set-group-ID";
    return read.has_capabilities ? "it has file capabilities" : "it has no special rights";
}

/// "it has file capabilities, which change nothing for this user".
std::string harmless_text(const program_readings& read) {
    const bool has_rights = read.has_id_bits || read.has_capabilities;
    return rights_text(read) + (has_rights ? ", without effect for this user here" : "");
}

fact judge_rights(const char* name, const program_readings& read, const char* ignored,
                  std::string_view allowed) {
    if (is_secure(read))
        return {.name = name,
                .state = fact_state::no,
                .why = fmt::format("{}, so {} ignored", rights_text(read), ignored),
                .change = "run a copy: cp leaves these rights behind"};
    return {
        .name = name, .state = fact_state::yes, .why = std::string(allowed) + harmless_text(read)};
}

fact judge_variables(const program_readings& read) {
    return judge_rights("COROSCOPE_ variables", read, "they are", "");
}

fact judge_preload(const program_readings& read) {
    if (read.elf.interpreted)
        return judge_rights("preloaded libraries", read, "LD_PRELOAD is", "it is dynamic, and ");
    return {.name = "preloaded libraries",
            .state = fact_state::no,
            .why = "it is statically linked",
            .change = "link it dynamically"};
}

std::string of_debug_file(const program_readings& read) { return "in " + read.debug_file; }

fact judge_symbols(const program_readings& read) {
    fact made{.name = "names of functions", .state = fact_state::yes};
    if (read.elf.has_symbols) {
        made.why = "it has symbols";
    } else if (!read.debug_file.empty()) {
        made.why = of_debug_file(read);
    } else {
        made.state = fact_state::partly;
        made.why = "it is stripped: stacks name exported functions only";
        made.change = "do not strip it, or install its debug symbols";
    }
    return made;
}

fact judge_debug_lines(const program_readings& read) {
    fact made{.name = "debug lines", .state = fact_state::yes};
    if (read.elf.has_debug_lines) {
        made.why = "it has debug information";
    } else if (!read.debug_file.empty()) {
        made.why = of_debug_file(read);
    } else {
        made.state = fact_state::no;
        made.why = "it has no debug information; stacks then have no lines";
        made.change = "compile with -g, or install its debug symbols";
    }
    return made;
}

}  // namespace

facts judge_program(const program_readings& read) {
    facts made{judge_file(read)};
    if (read.form != file_form::elf || !is_program(read.elf)) return made;
    made.push_back(judge_recorder(read.elf));
    made.push_back(judge_variables(read));
    made.push_back(judge_preload(read));
    made.push_back(judge_symbols(read));
    made.push_back(judge_debug_lines(read));
    return made;
}

}  // namespace coroscope::tools
