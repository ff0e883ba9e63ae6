// SPDX-License-Identifier: Apache-2.0
#pragma once

// symbolizer: addresses of a trace's stacks as places in the source, found afterwards in the files that the
// trace names.
//
//     analysis::symbolizer symbols(loaded);
//     symbols.frame(address);   // "cache.cpp(41): store::find(int)", else "libstore.so+0x1f2c"
//
// A file is believed if it is a regular one whose build id is the trace's, or if neither has one. Without
// debug information there is a function's name alone; without the file, or in a build without libdw, the
// module and the offset. Looks each address up once. Not thread-safe; keeps a reference to the trace.

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include <coroscope/analysis/model.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

class dwarf_files;

class symbolizer {
public:
    /// `loaded` must outlive it.
    COROSCOPE_API explicit symbolizer(const trace& loaded);
    COROSCOPE_API ~symbolizer();
    symbolizer(const symbolizer&) = delete;
    symbolizer& operator=(const symbolizer&) = delete;

    /// In torch's form, "file(line): function". Never empty, never of two lines. Throws std::bad_alloc.
    COROSCOPE_API const std::string& frame(std::uint64_t address);

    /// Frames innermost first, one per line.
    COROSCOPE_API std::string stack(const call_stack& of);

private:
    std::string look_up(std::uint64_t address);

    const trace& loaded_;
    std::unique_ptr<dwarf_files> files_;
    std::unordered_map<std::uint64_t, std::string> known_;
};

}  // namespace coroscope::analysis
