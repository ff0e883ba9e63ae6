// SPDX-License-Identifier: Apache-2.0
#pragma once

// The numbers of a program: the values that it recorded (coroscope/value.hpp), by their place and
// by the scope around them, and its attributes (coroscope/attribute.hpp) by key.

#include <cstdint>
#include <string>
#include <vector>

#include <coroscope/analysis/model.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// The values of one place within scopes of one name.
struct value_statistics {
    std::string label;
    std::uint32_t site = none;   ///< index into trace::sites
    std::uint32_t scope = none;  ///< name of the innermost scope: index into trace::strings
    std::uint64_t count = 0;
    std::uint64_t not_numbers = 0;  ///< values that are not numbers; the figures below omit them
    double least = 0;
    double mean = 0;  ///< not a number if both infinities are among the values
    double p99 = 0;   ///< by nearest rank: one of the values
    double most = 0;
};

/// Returns one entry per label, place and scope, the most frequent first within a label, and labels
/// in alphabetical order. The figures are 0 if no value is a number.
[[nodiscard]] COROSCOPE_API std::vector<value_statistics> statistics_of_values(const trace& loaded);

/// Returns one entry per key of attributes, in alphabetical order; the key is the label. Leaves out
/// keys without any number. An attribute counts once each time that the program set it, however
/// much work carried it. The trace has only attributes that some recorded work carried.
[[nodiscard]] COROSCOPE_API std::vector<value_statistics>
statistics_of_attributes(const trace& loaded);

}  // namespace coroscope::analysis
