// SPDX-License-Identifier: Apache-2.0
#pragma once

// A packed trace becomes the trace that it was.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <coroscope/trace/result.hpp>

#include "file_bytes.hpp"

namespace coroscope::trace {

struct unpacked_trace {
    file_bytes bytes;  ///< up to the last block that is there; zero where a block is damaged
    std::vector<std::string> warnings;
    std::uint64_t damaged_chunks = 0;  ///< those of damaged blocks
};

[[nodiscard]] bool is_packed(const unsigned char* data, std::uint64_t size) noexcept;

/// Fails where the packed trace's header is damaged or newer, or memory runs out.
[[nodiscard]] result<unpacked_trace> unpack(const unsigned char* data, std::uint64_t size);

}  // namespace coroscope::trace
