// SPDX-License-Identifier: Apache-2.0
#pragma once

// A file's bytes: mapped where the system can, read where it cannot (a pipe, a special file).

#include <cstddef>
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

}  // namespace coroscope::trace
