// SPDX-License-Identifier: Apache-2.0
#pragma once

// A file that was opened once, and what its first bytes say that it is: a pipe has them only once.

#include <memory>
#include <string>

#include <coroscope/trace/buffer.hpp>

#include "byte_source.hpp"

namespace coroscope::analysis::reading {

enum class content {
    native,    // a trace of ours, packed or not
    database,  // SQLite's
    text,      // whatever else
};

struct opened_file {
    content what = content::text;
    std::unique_ptr<byte_source> source;  // from the beginning, decompressed
    std::string path;  // of a plain file; empty where its bytes come from `source` alone
};

/// Fails where it cannot be opened or read.
[[nodiscard]] result<opened_file> open_content(const std::string& path);
[[nodiscard]] result<opened_file> open_content(std::unique_ptr<byte_source> packed);

/// All bytes of a native trace; of anything else as many as tell that it is none.
[[nodiscard]] result<coroscope::trace::buffer> trace_bytes(opened_file file);

}  // namespace coroscope::analysis::reading
