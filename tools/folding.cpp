// SPDX-License-Identifier: Apache-2.0
#include "folding.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include <coroscope/analysis/fold_tasks.hpp>
#include <coroscope/analysis/views.hpp>
#include <fmt/format.h>

#include "output.hpp"

namespace coroscope::tools {
namespace {

std::string libraries() {
    std::string names;
    for (const analysis::library_coroutines& each : analysis::known_library_coroutines()) {
        if (names.ends_with(each.library)) continue;
        if (!names.empty()) names += ", ";
        names += each.library;
    }
    return names;
}

std::string check_pattern(std::string& pattern) {
    return pattern.empty() ? "a pattern must not be empty" : std::string();
}

}  // namespace

void add_fold_option(CLI::App& command, fold_choice& choice) {
    command
        .add_option(
            "--fold", choice.given,
            "Fold tasks whose coroutine's name matches, such as 'app::detail::*': leave them\n"
            "out, and show their children and scopes at the task above. May be repeated.\n"
            "With none, keep the coroutines of the libraries that are folded by default:\n" +
                libraries())
        ->type_name("PATTERN|none")
        ->allow_extra_args(false)
        ->check(CLI::Validator(check_pattern, ""));
}

analysis::fold_options fold_options_of(const fold_choice& choice) {
    analysis::fold_options options;
    for (const std::string& each : choice.given) {
        if (each == "none")
            options.libraries = false;
        else
            options.patterns.push_back(each);
    }
    return options;
}

std::optional<analysis::trace> folded(std::optional<analysis::trace> loaded,
                                      const fold_choice& choice) {
    if (!loaded) return loaded;
    return analysis::fold_tasks(*std::move(loaded), fold_options_of(choice));
}

std::optional<analysis::trace_or_events> folded(std::optional<analysis::trace_or_events> loaded,
                                                const fold_choice& choice) {
    if (!loaded) return loaded;
    if (auto* native = std::get_if<analysis::trace>(&*loaded))
        *native = analysis::fold_tasks(std::move(*native), fold_options_of(choice));
    return loaded;
}

std::vector<std::string> unmatched(const analysis::trace& loaded, const fold_choice& choice) {
    const std::vector<std::string>& folded_by = loaded.health.folded_by;
    std::vector<std::string> notes;
    for (const std::string& each : choice.given) {
        if (each == "none" || std::ranges::find(folded_by, each) != folded_by.end()) continue;
        notes.push_back(
            fmt::format("--fold {} folded no task; a pattern matches the whole name that "
                        "coroscope tasks prints",
                        one_line(each)));
    }
    return notes;
}

std::string loss_notes(const analysis::trace& loaded, const fold_choice& choice) {
    std::string text = analysis::loss_notes(loaded);
    for (const std::string& note : unmatched(loaded, choice)) text += note + '\n';
    return text;
}

}  // namespace coroscope::tools
