// SPDX-License-Identifier: Apache-2.0
#include "page_sources.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "../text/utf8.hpp"

namespace coroscope::analysis::inline pages {
namespace {

namespace files = std::filesystem;

constexpr std::uint32_t lines_around = 3;
constexpr std::uintmax_t most_file_bytes = std::uintmax_t{8} << 20U;
constexpr std::size_t most_line_bytes = 300;
constexpr std::size_t most_quoted_bytes = std::size_t{2} << 20U;

constexpr std::array<std::string_view, 18> source_endings{
    ".c", ".cc", ".cpp", ".cxx", ".c++", ".cppm", ".ixx", ".cu",  ".cuh",
    ".h", ".hh", ".hpp", ".hxx", ".h++", ".inl",  ".ipp", ".tpp", ".inc"};

bool is_source(const files::path& path) {
    const std::string ending = path.extension().string();
    return std::ranges::find(source_endings, ending) != source_endings.end();
}

/// Returns the file if it is a source below `folder`, with symbolic links resolved.
std::optional<files::path> source_below(const files::path& folder, const files::path& file) {
    std::error_code failed;
    const files::path root = files::canonical(folder, failed);
    if (failed) return std::nullopt;
    const files::path found = files::canonical(file, failed);
    if (failed || !is_source(found) || !files::is_regular_file(found, failed)) return std::nullopt;
    const auto [rest, other] = std::ranges::mismatch(root, found);
    if (rest != root.end()) return std::nullopt;
    return files::file_size(found, failed) <= most_file_bytes ? std::optional(found) : std::nullopt;
}

/// Removes "./" and "../" at the begin: a build runs in a folder of its own.
std::string_view without_ups(std::string_view path) {
    while (path.starts_with("./") || path.starts_with("../"))
        path.remove_prefix(path.find('/') + 1);
    return path;
}

/// Returns the rest of a recorded path below `folder`; nothing if it lies elsewhere.
std::optional<std::string_view> path_below(std::string_view path, std::string_view folder) {
    if (!path.starts_with(folder)) return std::nullopt;
    const std::string_view rest = path.substr(folder.size());
    if (folder.empty()) return without_ups(rest);
    if (!folder.ends_with('/') && !rest.starts_with('/')) return std::nullopt;
    return rest.substr(std::min(rest.size(), rest.find_first_not_of('/')));
}

std::optional<files::path> find_source(std::string_view recorded, const report_options& options) {
    for (const source_folder& each : options.source_folders) {
        const auto rest = path_below(recorded, each.from);
        if (!rest || rest->starts_with('/')) continue;
        if (auto found = source_below(each.to, files::path(each.to) / *rest)) return found;
    }
    if (options.working_folder.empty()) return std::nullopt;
    // An absolute path replaces the folder.
    return source_below(options.working_folder,
                        files::path(options.working_folder) / without_ups(recorded));
}

/// Returns the lines around those numbers, as members of a JSON object.
std::string quoted_lines(const files::path& file, const std::set<std::uint32_t>& numbers) {
    std::ifstream in(file);
    std::string out, line;
    for (std::uint32_t number = 1; std::getline(in, line); ++number) {
        const auto near = numbers.lower_bound(number < lines_around ? 0 : number - lines_around);
        if (near == numbers.end()) break;
        if (*near > number + lines_around) continue;
        if (line.size() > most_line_bytes) line.resize(most_line_bytes);
        out += fmt::format("{}\"{}\":", out.empty() ? "" : ",", number);
        append_json_string(out, line);
    }
    return out;
}

/// The lines of all places, by recorded file.
std::map<std::string, std::set<std::uint32_t>> places_by_file(const trace& from) {
    std::map<std::string, std::set<std::uint32_t>> places;
    for (const site_info& each : from.sites)
        if (!each.file.empty()) places[each.file].insert(each.line);
    for (const spawn_place& each : from.spawn_places)
        if (!each.file.empty()) places[each.file].insert(each.line);
    return places;
}

}  // namespace

std::string sources_json(const trace& from, const report_options& options) {
    std::string out;
    for (const auto& [recorded, lines] : places_by_file(from)) {
        if (out.size() > most_quoted_bytes) break;
        const auto found = find_source(recorded, options);
        if (!found) continue;
        if (!out.empty()) out += ",\n";
        append_json_string(out, recorded);
        out += ":{\"path\":";
        append_json_string(out, found->string());
        out += ",\"lines\":{" + quoted_lines(*found, lines) + "}}";
    }
    return "{\"files\":{" + out + "}}";
}

}  // namespace coroscope::analysis::inline pages
