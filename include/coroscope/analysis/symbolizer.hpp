// SPDX-License-Identifier: Apache-2.0
#pragma once

// symbolizer: addresses of a trace's stacks as places in the source, found afterwards in the files that the
// trace names.
//
//     analysis::symbolizer symbols(loaded);
//     symbols.frames(address);  // "cache.cpp(41): store::find(int)", else "libstore.so+0x1f2c"
//
// An address inside calls that were inlined is several frames, each with the line of its own call.
//
// A file is believed if it is a regular one whose build id is the trace's, or if neither has one. Without
// debug information there is a function's name alone; without the file, or in a build without libdw, the
// module and the offset. Looks each address up once. Not thread-safe; keeps a reference to the trace.

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

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

    /// Innermost first, each in torch's form, "file(line): function", and never of two lines. At least one.
    /// The reference is good until the next call. Throws std::bad_alloc.
    COROSCOPE_API const std::vector<std::string>& frames(std::uint64_t address);

    /// Frames innermost first, one per line. Those by which the profiler's headers begin a scope are left
    /// out. Throws std::bad_alloc.
    COROSCOPE_API std::string stack(const call_stack& of);

private:
    struct known_frames {
        std::vector<std::string> texts;
        std::size_t own = 0;  ///< how many of them, innermost, are the profiler's headers
    };
    const known_frames& look_up(std::uint64_t address);

    const trace& loaded_;
    std::unique_ptr<dwarf_files> files_;
    std::unordered_map<std::uint64_t, known_frames> known_;
};

}  // namespace coroscope::analysis
