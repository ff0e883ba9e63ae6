// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decompresses a source of gzip's format as it is read. One thread at a time.

#include <memory>

#include "byte_source.hpp"

namespace coroscope::analysis::inline reading {

/// A source whose bytes are not compressed.
struct unpacked {
    std::unique_ptr<byte_source> source;
    bool was_packed = false;
};
/// Decompresses the source if it begins like a gzip file, else returns it unchanged.
[[nodiscard]] unpacked unpack(std::unique_ptr<byte_source> source);

}  // namespace coroscope::analysis::inline reading
