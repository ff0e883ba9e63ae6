// SPDX-License-Identifier: Apache-2.0
#include "part_options.hpp"

#include <string>
#include <utility>

namespace coroscope::tools {
namespace {

std::string check_part_time(const std::string& text) {
    const auto time = analysis::read_part_time(text);
    return time ? std::string() : time.error().message;
}

std::string check_work_conditions(const std::string& text) {
    const auto where = analysis::read_work_conditions(text);
    return where ? std::string() : where.error().message;
}

void add_part_time(CLI::App& command, const std::string& name, analysis::optional_ns& time,
                   const std::string& help) {
    command
        .add_option_function<std::string>(
            name, [&time](const std::string& text) { time = *analysis::read_part_time(text); },
            help)
        ->check(CLI::Validator(check_part_time, ""))
        ->type_name("TIME");
}

}  // namespace

void add_stretch_options(CLI::App& command, analysis::part_choice& part) {
    add_part_time(command, "--from", part.from_ns,
                  "Only the time from here on, as 1.5s, 20ms, 300us or 7ns after the\n"
                  "start of the trace");
    const bool has_format = command.get_option_no_throw("--to") != nullptr;  // of export
    add_part_time(command, has_format ? "--until" : "--to,--until", part.to_ns,
                  "Only the time up to here");
}

void add_part_options(CLI::App& command, analysis::part_choice& part, part_of chosen) {
    add_stretch_options(command, part);
    const std::string things = chosen == part_of::work
                                   ? "Only work with this name and these attributes, and the\n"
                                     "work below it: "
                                   : "Only requests with this name and these attributes: ";
    command
        .add_option_function<std::string>(
            "--where",
            [&part](const std::string& text) {
                part.where = *analysis::read_work_conditions(text);
            },
            things + "\"name=db.* attr:tenant=7\"")
        ->check(CLI::Validator(check_work_conditions, ""))
        ->type_name("CONDITIONS");
}

analysis::result<analysis::trace> part_of_trace(analysis::trace whole,
                                                const analysis::part_choice& part, part_of chosen) {
    if (chosen == part_of::work) return analysis::select_part(std::move(whole), part);
    auto stretch = analysis::select_part(std::move(whole), {part.from_ns, part.to_ns});
    if (!stretch) return stretch.error();
    return analysis::select_requests(*std::move(stretch), part.where);
}

}  // namespace coroscope::tools
