// SPDX-License-Identifier: Apache-2.0
#include "places.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "../model/wake_knowledge.hpp"

namespace coroscope::analysis::inline words {

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

std::string spawn_place_text(const trace& from, std::uint32_t index) {
    if (index >= from.spawn_places.size()) return {};
    const spawn_place& found = from.spawn_places[index];
    if (!found.file.empty()) return place(found.file, found.line);
    return found.function.empty() ? std::string() : fmt::format("in {}", found.function);
}

bool knows_spawn_places(const trace& from) noexcept {
    return std::ranges::any_of(from.spawn_places, [](const spawn_place& each) {
        return !each.file.empty() || !each.function.empty();
    });
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
        case task_state::ended_with_service: return "ended with service";
    }
    return "unknown";
}

std::string_view outcome_name(coroscope::trace::await_outcome outcome) noexcept {
    using coroscope::trace::await_outcome;
    switch (outcome) {
        case await_outcome::unknown: return "unknown";
        case await_outcome::value: return "value";
        case await_outcome::error: return "error";
        case await_outcome::exception: return "exception";
        case await_outcome::cancelled: return "cancelled";
    }
    return "unknown";
}

namespace {

std::string_view kind_name(coroscope::trace::object_kind kind) noexcept {
    using coroscope::trace::object_kind;
    switch (kind) {
        case object_kind::other: return "object";
        case object_kind::timer: return "timer";
        case object_kind::socket: return "socket";
        case object_kind::resolver: return "resolver";
        case object_kind::signals: return "signals";
        case object_kind::file: return "file";
        case object_kind::channel: return "channel";
        case object_kind::serial: return "serial port";
        case object_kind::lock: return "lock";
        case object_kind::future: return "future";
    }
    return "object";
}

}  // namespace

std::string object_kind_name(const object_info& object) {
    if (object.kind == coroscope::trace::object_kind::other && !object.name.empty())
        return object.name;
    return std::string(kind_name(object.kind));
}

std::string object_name(const trace& loaded, std::uint32_t object) {
    if (object >= loaded.objects.size()) return "";
    const object_info& found = loaded.objects[object];
    return fmt::format("{} {}", object_kind_name(found), found.number);
}

std::string_view wake_text(const trace& loaded, const await_info& await) noexcept {
    switch (knowledge_of_wake(loaded, await)) {
        case wake_knowledge::seen: break;
        case wake_knowledge::by_resume: return "by the resume";
        case wake_knowledge::not_yet: return "not yet";
        case wake_knowledge::unseen: return "unseen";
    }
    switch (await.reason) {
        case wake_reason::timer: return "timer";
        case wake_reason::cancellation: return "cancelled";
        case wake_reason::result: return "result";
        case wake_reason::noticed: return "noticed";
        case wake_reason::unknown: break;
    }
    return "seen";
}

std::string_view resumed_text(const await_info& await) noexcept {
    if (!await.resume_ns) return "no";
    return await.resume_overdue ? "earlier" : "yes";
}

bool is_named_only(const task_info& task) noexcept {
    return task.state == task_state::spawned && !task.spawn_ns && !task.first_wake_ns &&
           task.spawn_site == none && task.slices.empty() && task.awaits.empty();
}

std::string_view state_of(const task_info& task) noexcept {
    return is_named_only(task) ? "unknown" : state_name(task.state);
}

}  // namespace coroscope::analysis::inline words
