// SPDX-License-Identifier: Apache-2.0
#include "redacting.hpp"

#include <string_view>

#include <fmt/format.h>

#include "output.hpp"

namespace coroscope::tools {
namespace {

constexpr std::string_view attribute_prefix_to_redact = "attr:";

/// Returns false if the part is unknown.
bool read_redaction(std::string_view part, analysis::redaction& into) {
    if (part == "arguments") {
        into.arguments = true;
        return true;
    }
    if (!part.starts_with(attribute_prefix_to_redact)) return false;
    part.remove_prefix(attribute_prefix_to_redact.size());
    if (!part.empty()) into.attributes.emplace_back(part);
    return !part.empty();
}

/// Returns an error message if a part of the list is unknown, else an empty string.
std::string read_redactions(std::string_view list, analysis::redaction& into) {
    while (true) {
        const std::string_view part = list.substr(0, list.find(','));
        if (!read_redaction(part, into))
            return fmt::format(
                "cannot redact \"{}\"; use attr:KEY and arguments, separated by commas", part);
        if (part.size() == list.size()) return {};
        list.remove_prefix(part.size() + 1);
    }
}

template <class Loaded>
void redact_each_part(const std::string& file, Loaded& loaded, const analysis::redaction& what) {
    const auto redact_part = [&](const analysis::redaction& part, const std::string& name) {
        if (analysis::redact(loaded, part) == 0)
            report(fmt::format("{}: warning: the trace has none of the values to redact: {}", file,
                               name));
    };
    for (const std::string& key : what.attributes)
        redact_part({.attributes = {key}}, "attr:" + key);
    if (what.arguments) redact_part({.arguments = true}, "arguments");
}

}  // namespace

void redact_or_warn(const std::string& file, analysis::trace& loaded,
                    const analysis::redaction& what) {
    redact_each_part(file, loaded, what);
}

void redact_or_warn(const std::string& file, analysis::event_list& loaded,
                    const analysis::redaction& what) {
    redact_each_part(file, loaded, what);
}

void add_redact_option(CLI::App& command, analysis::redaction& what) {
    command
        .add_option_function<std::string>(
            "--redact",
            [&what](const std::string& list) { static_cast<void>(read_redactions(list, what)); },
            "Values to leave out: attr:KEY for an attribute (attr:* for all),\narguments for the "
            "arguments of scopes; separated by commas")
        ->check(CLI::Validator(
            [](const std::string& list) {
                analysis::redaction ignored;
                return read_redactions(list, ignored);
            },
            ""))
        ->type_name("LIST");
}

}  // namespace coroscope::tools
