// SPDX-License-Identifier: Apache-2.0
#pragma once

// Restores a trace from a packed trace.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <coroscope/trace/result.hpp>

#include "file_bytes.hpp"

namespace coroscope::trace {

struct unpacked_trace {
    file_bytes bytes;          ///< up to the last existing block; zero in damaged blocks
    std::vector<bool> filled;  ///< for each chunk whether it is not all zero
    std::vector<std::string> warnings;
    std::uint64_t damaged_chunks = 0;  ///< chunks of damaged blocks
};

[[nodiscard]] bool is_packed(const unsigned char* data, std::uint64_t size) noexcept;

/// Fails if the packed trace's header is damaged or newer, or if memory runs out.
[[nodiscard]] result<unpacked_trace> unpack(const unsigned char* data, std::uint64_t size);

}  // namespace coroscope::trace
