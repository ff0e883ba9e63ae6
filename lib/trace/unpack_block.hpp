// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pack_columns.hpp"

namespace coroscope::trace {

/// Restores the chunks of one block that was packed in `version`. The block is not trusted.
/// `chunks` must be zeroed bytes of the trace; the last chunk may be cut. Returns false if the
/// block has other contents; the chunks are then zero or partly restored. Adds to `filled`, for
/// each chunk that was restored, whether anything was written into it.
[[nodiscard]] bool unpack_block(column_reader& from, std::span<unsigned char> chunks,
                                std::size_t chunk_bytes, std::uint32_t version,
                                std::vector<bool>& filled);

}  // namespace coroscope::trace
