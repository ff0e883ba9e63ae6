// SPDX-License-Identifier: Apache-2.0
#include "places.hpp"

#include <fmt/format.h>

namespace coroscope::analysis::render {

const site_info* find_site(const trace& from, std::uint32_t index) noexcept {
    return index < from.sites.size() ? &from.sites[index] : nullptr;
}

std::string_view name_of(const site_info& site) noexcept {
    return site.label.empty() ? site.function : site.label;
}

std::string_view short_path(std::string_view path) noexcept {
    if (path.starts_with('/')) {
        std::size_t cut = path.size();
        for (int parts = 0; parts < 3 && cut != 0; ++parts) cut = path.rfind('/', cut - 1);
        return path.substr(cut + 1);
    }
    while (path.starts_with("./") || path.starts_with("../"))
        path.remove_prefix(path.find('/') + 1);
    return path;
}

std::string place(std::string_view file, std::uint32_t line) {
    if (file.empty()) return {};
    return line == 0 ? std::string(short_path(file)) : fmt::format("{}:{}", short_path(file), line);
}

std::string place_of(const site_info& site) { return place(site.file, site.line); }

std::string site_name(const trace& from, std::uint32_t index) {
    const site_info* found = find_site(from, index);
    if (found == nullptr || name_of(*found).empty()) return "unknown";
    return std::string(name_of(*found));
}

std::string site_place(const trace& from, std::uint32_t index) {
    const site_info* found = find_site(from, index);
    return found != nullptr ? place_of(*found) : std::string();
}

std::string thread_name(const trace& from, std::uint32_t index) {
    if (index >= from.threads.size()) return "unknown";
    const thread_info& found = from.threads[index];
    if (found.name.empty()) return fmt::format("thread {}", found.id);
    return fmt::format("{} ({})", found.name, found.id);
}

std::string_view state_name(task_state state) noexcept {
    switch (state) {
        case task_state::spawned: return "spawned";
        case task_state::running: return "running";
        case task_state::suspended: return "suspended";
        case task_state::queued: return "queued";
        case task_state::finished: return "finished";
        case task_state::failed: return "failed";
        case task_state::abandoned: return "abandoned";
        case task_state::cancelled: return "cancelled";
        case task_state::unknown: return "unknown";
    }
    return "unknown";
}

bool is_named_only(const task_info& task) noexcept {
    return task.state == task_state::spawned && !task.spawn_ns && !task.first_wake_ns &&
           task.spawn_site == none && task.slices.empty() && task.awaits.empty();
}

std::string_view state_of(const task_info& task) noexcept {
    return is_named_only(task) ? "unknown" : state_name(task.state);
}

}  // namespace coroscope::analysis::render
