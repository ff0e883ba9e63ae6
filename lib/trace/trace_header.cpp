// SPDX-License-Identifier: Apache-2.0
#include "trace_header.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

namespace coroscope::trace {
namespace {

constexpr std::uint32_t chunk_bytes_unit = 4096;
constexpr std::uint32_t chunk_bytes_limit = 1U << 25;  // 32 times the largest chunk of a recording

}  // namespace

result<file_header> read_header(const unsigned char* data, std::uint64_t size) {
    if (size == 0) return failure{"is empty", 0};
    if (std::memcmp(data, &file_magic, std::min<std::size_t>(size, sizeof(file_magic))) != 0)
        return failure{"is not a Coroscope trace", 0};
    if (size < sizeof(file_header)) return failure{"ends inside the trace's header", size};
    file_header header;
    std::memcpy(&header, data, sizeof(header));
    if (header.version > format_version)
        return failure{"was recorded in version " + std::to_string(header.version) +
                           " of the trace format; this program reads up to version " +
                           std::to_string(format_version),
                       offsetof(file_header, version)};
    if (header.version == 0)
        return failure{"names version 0 of the trace format", offsetof(file_header, version)};
    if (header.header_bytes != file_header_bytes)
        return failure{"has a header of a wrong size", offsetof(file_header, header_bytes)};
    if (header.chunk_bytes == 0 || header.chunk_bytes % chunk_bytes_unit != 0 ||
        header.chunk_bytes > chunk_bytes_limit)
        return failure{"has chunks of an impossible size", offsetof(file_header, chunk_bytes)};
    return header;
}

}  // namespace coroscope::trace
