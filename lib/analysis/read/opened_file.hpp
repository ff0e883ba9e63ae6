// SPDX-License-Identifier: Apache-2.0
#pragma once

// Opens a file and detects its format by its first bytes. The file is opened once, because a pipe
// gives its bytes only once.

#include <memory>
#include <string>

#include <coroscope/trace/buffer.hpp>

#include "byte_source.hpp"

namespace coroscope::analysis::inline reading {

enum class content {
    native,    // a trace of Coroscope, packed or not
    database,  // of SQLite
    text,      // anything else
};

struct opened_file {
    content what = content::text;
    std::unique_ptr<byte_source> source;  // from the beginning, decompressed
    std::string path;                     // of a plain file; else empty
};

/// Fails if the file cannot be opened or read.
[[nodiscard]] result<opened_file> open_content(const std::string& path);
[[nodiscard]] result<opened_file> open_content(std::unique_ptr<byte_source> packed);

/// Returns all bytes of a native trace. Of another file returns only enough bytes to show that it
/// is not one.
[[nodiscard]] result<coroscope::trace::buffer> trace_bytes(opened_file file);

}  // namespace coroscope::analysis::inline reading
