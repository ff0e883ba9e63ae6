// SPDX-License-Identifier: Apache-2.0
#pragma once

// Packs a trace: the same chunks in a fraction of the bytes. trace::reader reads what comes out as it reads the
// trace itself; every byte of it is restored, what is damaged included.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <coroscope/detail/export.hpp>
#include <coroscope/trace/buffer.hpp>
#include <coroscope/trace/result.hpp>

namespace coroscope::trace {

/// Takes the next bytes of a packed trace; false means that they could not be written, which ends it.
using pack_sink = std::function<bool(std::string_view)>;

/// What packing wrote.
struct pack_totals {
    std::uint64_t trace_bytes = 0;   ///< before
    std::uint64_t packed_bytes = 0;  ///< after
};

/// Packs the trace in the file `path`, block by block: memory is bounded by a block of 4 MiB, or a chunk if that
/// is larger. Fails where the file cannot be read, is no trace, is of a newer version, is packed already, memory
/// runs out, or the sink fails. Thread-safe; calls are independent of each other.
[[nodiscard]] COROSCOPE_API result<pack_totals> pack(const std::string& path,
                                                     const pack_sink& sink);

/// The same of a trace in memory.
[[nodiscard]] COROSCOPE_API result<pack_totals> pack(const buffer& bytes, const pack_sink& sink);

}  // namespace coroscope::trace
