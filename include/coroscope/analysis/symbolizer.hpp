// SPDX-License-Identifier: Apache-2.0
#pragma once

// symbolizer: converts addresses of a trace's stacks to places in the source, from the files that
// the trace names.
//
//     analysis::symbolizer symbols(loaded);
//     symbols.frames(address);  // "cache.cpp(41): store::find(int)", else "libstore.so+0x1f2c"
//
// An address inside inlined calls yields several frames, each with the line of its own call.
//
// A file is accepted if it is a regular file and its build id is that of the trace, or if neither
// has one. Without debug information a frame has only the function's name. Without the file, or in
// a build without libdw, it has the module and the offset.
//
// Looks each address up once. Not thread-safe. Keeps a reference to the trace.

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <coroscope/analysis/model.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

class dwarf_files;

/// Finds the places of addresses; see above.
class symbolizer {
public:
    /// `loaded` must outlive the symbolizer.
    COROSCOPE_API explicit symbolizer(const trace& loaded);
    COROSCOPE_API ~symbolizer();
    symbolizer(const symbolizer&) = delete;
    symbolizer& operator=(const symbolizer&) = delete;

    /// Returns at least one frame, innermost first, each on one line in torch's form, "file(line):
    /// function". The reference is valid until the next call. Throws std::bad_alloc.
    COROSCOPE_API const std::vector<std::string>& frames(std::uint64_t address);

    /// Returns the frames, innermost first, one per line. Leaves out the frames of the profiler's
    /// headers that begin a scope. Throws std::bad_alloc.
    COROSCOPE_API std::string stack(const call_stack& of);

private:
    struct known_frames {
        std::vector<std::string> texts;
        std::size_t own = 0;  ///< number of innermost frames in the profiler's headers
    };
    const known_frames& look_up(std::uint64_t address);

    const trace& loaded_;
    std::unique_ptr<dwarf_files> files_;
    std::unordered_map<std::uint64_t, known_frames> known_;
};

}  // namespace coroscope::analysis
