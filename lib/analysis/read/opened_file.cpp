// SPDX-License-Identifier: Apache-2.0
#include "opened_file.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include <coroscope/trace/reader.hpp>

#include "gzip_source.hpp"
#include "other_files.hpp"
#include "sqlite_database.hpp"

namespace coroscope::analysis::inline reading {
namespace {

using coroscope::trace::buffer;

content content_of(std::string_view first) {
    if (first == sqlite_magic) return content::database;
    return coroscope::trace::is_trace(first) ? content::native : content::text;
}

result<opened_file> look_at(std::unique_ptr<byte_source> packed, std::string path) {
    auto [source, was_packed] = unpack(std::move(packed));
    std::string first(sqlite_magic.size(), '\0');
    first.resize(source->read(first.data(), first.size()));
    if (source->problem()) return *source->problem();
    if (was_packed) path.clear();
    const content what = content_of(first);
    if (what == content::text)
        if (const std::string_view why = why_not_a_trace(first); !why.empty())
            return failure{std::string(why)};
    return opened_file{what, with_first(std::move(first), std::move(source)), std::move(path)};
}

}  // namespace

result<opened_file> open_content(const std::string& path) {
    auto packed = open_file(path);
    if (!packed) return packed.error();
    std::error_code unknown;
    const bool can_be_opened_again = std::filesystem::is_regular_file(path, unknown);
    return look_at(std::move(*packed), can_be_opened_again ? path : std::string());
}

result<opened_file> open_content(std::unique_ptr<byte_source> packed) {
    return look_at(std::move(packed), {});
}

result<coroscope::trace::buffer> trace_bytes(opened_file file) {
    if (file.what != content::native) {
        std::string first(sqlite_magic.size(), '\0');
        first.resize(file.source->read(first.data(), first.size()));
        return buffer::copy(first.data(), first.size());
    }
    const auto bytes = read_all(*file.source);
    if (!bytes) return bytes.error();
    buffer copied = buffer::copy(bytes->data(), bytes->size());
    if (copied.empty()) return failure{"does not fit into memory"};
    return copied;
}

}  // namespace coroscope::analysis::inline reading
