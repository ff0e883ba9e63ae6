// SPDX-License-Identifier: Apache-2.0
#pragma once

// string_table: names as people read them (torch: StringTable). A mangled name is demangled once and remembered.

#include <string>
#include <string_view>
#include <unordered_map>

#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// Not thread-safe.
class string_table {
public:
    /// The name demangled; as it stands where it is no mangled name, or of one character: "t" is the mangled
    /// "unsigned short", and more often somebody's name. Valid while the table lives. Throws std::bad_alloc.
    COROSCOPE_API std::string_view operator[](std::string_view name);

private:
    std::unordered_map<std::string, std::string> known_;
};

}  // namespace coroscope::analysis
