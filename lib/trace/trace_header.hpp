// SPDX-License-Identifier: Apache-2.0
#pragma once

// A trace's header, read from its first bytes.

#include <cstdint>

#include <coroscope/trace/format.hpp>
#include <coroscope/trace/result.hpp>

namespace coroscope::trace {

/// Reads the header of a trace of `size` bytes. Fails if the bytes are not a trace, are cut within
/// the header, or have a newer version.
result<file_header> read_header(const unsigned char* data, std::uint64_t size);

}  // namespace coroscope::trace
