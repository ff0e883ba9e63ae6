// SPDX-License-Identifier: Apache-2.0
#pragma once

// The options that choose a part of a trace.

#include <cstdint>

#include <coroscope/analysis/select_part.hpp>

#include "subcommand.hpp"

namespace coroscope::tools {

/// The things that --where chooses.
enum class part_of : std::uint8_t {
    work,
    requests,  ///< for commands that explain requests by any work
};

/// Adds --from and --to, which is also called --until: --to of export is the format.
void add_stretch_options(CLI::App& command, analysis::part_choice& part);

/// Adds these and --where.
void add_part_options(CLI::App& command, analysis::part_choice& part,
                      part_of chosen = part_of::work);

/// Returns the part of the trace.
[[nodiscard]] analysis::result<analysis::trace>
part_of_trace(analysis::trace whole, const analysis::part_choice& part, part_of chosen);

}  // namespace coroscope::tools
