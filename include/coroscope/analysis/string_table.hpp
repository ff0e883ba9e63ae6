// SPDX-License-Identifier: Apache-2.0
#pragma once

// string_table: names for people (torch: StringTable). A mangled name is demangled once and
// remembered.

#include <string>
#include <string_view>
#include <unordered_map>

#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// Not thread-safe.
class string_table {
public:
    /// Returns the demangled name, valid while the table lives. A name that is not mangled is
    /// returned unchanged, and so is a name of one character: "t" is the mangled "unsigned short",
    /// but more often an ordinary name. Throws std::bad_alloc.
    COROSCOPE_API std::string_view operator[](std::string_view name);

private:
    std::unordered_map<std::string, std::string> known_;
};

}  // namespace coroscope::analysis
