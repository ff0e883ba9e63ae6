// SPDX-License-Identifier: Apache-2.0
#pragma once

// Debug information of the files that were loaded, where a library that reads it is part of the build.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis {

struct code_line {
    std::string file;  ///< as the compiler was told; empty where it is not known
    int line = 0;
};

enum class code_owner { unknown, coroscope, user };

/// What is known of one address in one function.
struct source_place {
    std::string function;                    ///< demangled; empty where it is not known
    code_owner owner = code_owner::unknown;  ///< by the namespace in the function's name
    code_line at;
    code_line declared;  ///< the function
};

class dwarf_files {
public:
    explicit dwarf_files(const trace& loaded);
    ~dwarf_files();
    dwarf_files(const dwarf_files&) = delete;
    dwarf_files& operator=(const dwarf_files&) = delete;

    /// The calls that the address lies in: those that were inlined, innermost first, then the function's. At
    /// least one, of which nothing may be known.
    [[nodiscard]] std::vector<source_place> find(std::uint64_t address) const;

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace coroscope::analysis
