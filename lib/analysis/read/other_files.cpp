// SPDX-License-Identifier: Apache-2.0
#include "other_files.hpp"

#include <algorithm>
#include <array>

#include "../text/json_tokens.hpp"

namespace coroscope::analysis::inline reading {
namespace {

struct known_file {
    std::string_view magic;
    std::string_view message;
};

constexpr std::array known_files = {
    known_file{"\x7f"
               "ELF",
               "is an ELF file (a program, a library or a core dump), not a trace"},
    known_file{"\x28\xb5\x2f\xfd", "is compressed by zstd; decompress it first: zstd -d"},
    known_file{"\xfd"
               "7zXZ",
               "is compressed by xz; decompress it first: xz -d"},
    known_file{"BZh", "is compressed by bzip2; decompress it first: bzip2 -d"},
    known_file{"\x04\x22\x4d\x18", "is compressed by lz4; decompress it first: lz4 -d"},
    known_file{"PK\x03\x04", "is a zip archive; unpack it first: unzip"},
    known_file{"7z\xbc\xaf\x27\x1c", "is a 7z archive; unpack it first: 7z x"},
    known_file{"PERFILE2", "is a recording of Linux perf, which is not read"},
    known_file{"2ELIFREP", "is a recording of Linux perf, which is not read"},
};

constexpr std::string_view perfetto =
    "is a Perfetto trace in protobuf, which is not read; export it as JSON first: "
    "traceconv json";

/// The first byte of a Perfetto trace is the tag of a packet, which is a line feed. JSON may also
/// begin with a line feed.
bool is_perfetto(std::string_view first) {
    if (!first.starts_with('\n')) return false;
    const std::size_t begin = behind_blanks(first, 0);
    return begin < first.size() && first[begin] != '{' && first[begin] != '[' &&
           first[begin] != '\xef';
}

}  // namespace

std::string_view why_not_a_trace(std::string_view first) {
    const auto found =
        std::find_if(known_files.begin(), known_files.end(),
                     [&](const known_file& each) { return first.starts_with(each.magic); });
    if (found != known_files.end()) return found->message;
    return is_perfetto(first) ? perfetto : std::string_view();
}

}  // namespace coroscope::analysis::inline reading
