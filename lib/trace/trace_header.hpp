// SPDX-License-Identifier: Apache-2.0
#pragma once

// A trace's header, read from its first bytes.

#include <cstdint>

#include <coroscope/trace/format.hpp>
#include <coroscope/trace/result.hpp>

namespace coroscope::trace {

/// The header of a trace of `size` bytes. Fails where they are no trace, are cut, or of a newer version.
result<file_header> read_header(const unsigned char* data, std::uint64_t size);

}  // namespace coroscope::trace
