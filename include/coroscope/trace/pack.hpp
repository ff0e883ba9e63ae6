// SPDX-License-Identifier: Apache-2.0
#pragma once

// Packs a trace: writes the same chunks in fewer bytes. trace::reader reads a packed trace like an
// unpacked one. Unpacking restores every byte of the trace, including damaged ones.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <coroscope/detail/export.hpp>
#include <coroscope/trace/buffer.hpp>
#include <coroscope/trace/result.hpp>

namespace coroscope::trace {

/// Receives the next bytes of a packed trace. Must return false if it could not write them; pack()
/// then fails.
using pack_sink = std::function<bool(std::string_view)>;

/// The sizes before and after packing.
struct pack_totals {
    std::uint64_t trace_bytes = 0;   ///< before
    std::uint64_t packed_bytes = 0;  ///< after
};

/// Packs the trace in the file `path`, block by block. Memory is bounded by a block of 4 MiB, or by
/// a chunk if that is larger. Fails if the file cannot be read, is not a trace, has a newer version
/// or is packed already, if memory runs out, or if the sink fails. Thread-safe; calls are
/// independent of each other.
[[nodiscard]] COROSCOPE_API result<pack_totals> pack(const std::string& path,
                                                     const pack_sink& sink);

/// As above, for a trace in memory.
[[nodiscard]] COROSCOPE_API result<pack_totals> pack(const buffer& bytes, const pack_sink& sink);

}  // namespace coroscope::trace
