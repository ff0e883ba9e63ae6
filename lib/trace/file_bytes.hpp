// SPDX-License-Identifier: Apache-2.0
#pragma once

// The bytes of a file: mapped if the system can, else read (a pipe, a special file).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <coroscope/trace/result.hpp>

namespace coroscope::trace {

struct file_bytes {
    std::shared_ptr<const unsigned char> data;
    std::size_t size = 0;
};

/// Fails with the system's reason.
result<file_bytes> read_file(const std::string& path);

/// The current size of the file; 0 if it is unknown.
std::uint64_t size_of_file(const std::string& path) noexcept;

}  // namespace coroscope::trace
