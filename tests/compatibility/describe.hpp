// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a trace says, as lines that do not depend on how the analysis orders or renders things.

#include <cstdint>
#include <string>

#include <coroscope/analysis/model.hpp>

namespace coroscope::test {

/// One line per label, spawn site, await site, text and total, sorted; times in nanoseconds.
std::string describe(const analysis::trace& loaded);

/// How the names of fixtures end that were packed in that version.
inline std::string packed_ending(std::uint32_t version) {
    return ".packed" + std::to_string(version) + ".cst";
}

}  // namespace coroscope::test
