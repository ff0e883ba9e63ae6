// SPDX-License-Identifier: Apache-2.0
#pragma once

// The option --fold, which selects the tasks that are folded into the tasks above them. Without the
// option, libraries' own coroutines are folded.

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <coroscope/analysis/fold_tasks.hpp>
#include <coroscope/analysis/load_events.hpp>
#include <coroscope/analysis/model.hpp>

namespace coroscope::tools {

struct fold_choice {
    std::vector<std::string> given{};  ///< patterns, and "none"
};

void add_fold_option(CLI::App& command, fold_choice& choice);

[[nodiscard]] analysis::fold_options fold_options_of(const fold_choice& choice);

/// Returns the trace with the chosen tasks folded, if there is a trace.
[[nodiscard]] std::optional<analysis::trace> folded(std::optional<analysis::trace> loaded,
                                                    const fold_choice& choice);
/// The same. An event list has no tasks and is returned unchanged.
[[nodiscard]] std::optional<analysis::trace_or_events>
folded(std::optional<analysis::trace_or_events> loaded, const fold_choice& choice);

/// Returns a line for each pattern of `choice` that folded no task.
[[nodiscard]] std::vector<std::string> unmatched(const analysis::trace& loaded,
                                                 const fold_choice& choice);

/// Returns the losses of a trace and the lines of unmatched(). Each line ends in a newline.
[[nodiscard]] std::string loss_notes(const analysis::trace& loaded, const fold_choice& choice);

}  // namespace coroscope::tools
