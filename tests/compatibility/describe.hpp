// SPDX-License-Identifier: Apache-2.0
#pragma once

// The contents of a trace, as lines that do not depend on the order or the form of the analysis'
// output.

#include <cstdint>
#include <string>

#include <coroscope/analysis/model.hpp>

namespace coroscope::test {

/// One line per label, spawn site, await site, text and total, sorted; times in nanoseconds.
std::string describe(const analysis::trace& loaded);

/// The end of the names of fixtures that were packed in that version.
inline std::string packed_ending(std::uint32_t version) {
    return ".packed" + std::to_string(version) + ".cst";
}

}  // namespace coroscope::test
