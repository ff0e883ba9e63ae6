// SPDX-License-Identifier: Apache-2.0
#pragma once

// Debug information of the loaded files, if the build has a library that reads it.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis {

struct code_line {
    std::string file;  ///< as given to the compiler; empty if unknown
    int line = 0;
};

enum class code_owner { unknown, coroscope, user };

/// The source place of one address in one function.
struct source_place {
    std::string function;                    ///< demangled; empty if unknown
    code_owner owner = code_owner::unknown;  ///< by the namespace in the function's name
    code_line at;
    code_line declared;  ///< the place of the function
    /// By its name, the function is in Asio or in the standard library.
    bool in_library = false;
};

class dwarf_files {
public:
    explicit dwarf_files(const trace& loaded);
    ~dwarf_files();
    dwarf_files(const dwarf_files&) = delete;
    dwarf_files& operator=(const dwarf_files&) = delete;

    /// Returns the calls that contain the address: the inlined calls, innermost first, then the
    /// function. The result has at least one entry, in which everything may be unknown.
    [[nodiscard]] std::vector<source_place> find(std::uint64_t address) const;

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace coroscope::analysis
