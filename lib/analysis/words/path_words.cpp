// SPDX-License-Identifier: Apache-2.0
#include "path_words.hpp"

#include <coroscope/analysis/units.hpp>
#include <fmt/format.h>

#include "../model/missing_facts.hpp"
#include "../text/utf8.hpp"
#include "await_names.hpp"
#include "places.hpp"

namespace coroscope::analysis::inline words {
namespace {

bool is_wait(const path_segment& segment) { return segment.await != none; }

std::uint32_t spawn_site_of(const trace& loaded, const path_segment& segment) {
    return segment.task < loaded.tasks.size() ? loaded.tasks[segment.task].spawn_site : none;
}

}  // namespace

std::string no_task(const trace& loaded) {
    return has_unrecorded_work(loaded) ? "no recorded task" : "no task";
}

std::string held_title(const trace& loaded, std::uint32_t resource) {
    return resource == none ? "a lock" : "resource " + printable(site_name(loaded, resource));
}

std::string_view own_cause(path_kind kind) noexcept {
    if (kind == path_kind::on_cpu) return "own work";
    return kind == path_kind::preempted ? "no processor" : "";
}

std::uint32_t segment_site(const trace& loaded, const path_segment& segment) noexcept {
    if (is_wait(segment)) return await_place(loaded, loaded.awaits[segment.await]);
    return segment.event != none ? loaded.events[segment.event].site
                                 : spawn_site_of(loaded, segment);
}

std::string segment_label(const trace& loaded, const path_segment& segment) {
    if (is_wait(segment)) return await_title(loaded, loaded.awaits[segment.await]);
    return segment.event != none ? loaded.strings[loaded.events[segment.event].name]
                                 : site_name(loaded, spawn_site_of(loaded, segment));
}

std::string task_title(const trace& loaded, std::uint32_t task) {
    if (task >= loaded.tasks.size()) return "none";
    return fmt::format("{} ({})", loaded.tasks[task].id,
                       printable(site_name(loaded, loaded.tasks[task].spawn_site)));
}

std::string work_title(const trace& loaded, std::uint32_t task, std::uint32_t event) {
    const std::string scope =
        event == none ? std::string() : printable(loaded.strings[loaded.events[event].name]);
    if (task == none) return scope.empty() ? no_task(loaded) : scope;
    const std::string title = "task " + task_title(loaded, task);
    return scope.empty() ? title : fmt::format("{} in {}", scope, title);
}

std::string_view name_of_edge(path_edge edge) noexcept {
    switch (edge) {
        case path_edge::wake: return "wake";
        case path_edge::end: return "end";
        case path_edge::lock: return "lock";
        case path_edge::resource: return "resource";
    }
    return "wake";
}

path_segment segment_of(const path_wait& wait) noexcept {
    return {.kind = wait.kind,
            .start_ns = wait.start_ns,
            .end_ns = wait.end_ns,
            .task = wait.task,
            .thread = wait.thread,
            .event = wait.event,
            .await = wait.await};
}

std::string cause_title(const trace& loaded, const request_difference& of) {
    if (!of.cause) return {};
    const difference_cause& cause = *of.cause;
    const std::string thread =
        cause.thread == none
            ? std::string()
            : fmt::format(" on thread {}", printable(thread_name(loaded, cause.thread)));
    switch (cause.role) {
        case cause_role::ran:
        case cause_role::woke: return printable(cause.label) + thread;
        case cause_role::held:
            return held_title(loaded, cause.resource) + " held by " +
                   (cause.label.empty() ? "an unknown holder" : printable(cause.label)) + thread;
        case cause_role::waited: return {};
        case cause_role::device:
            return (cause.label.empty() ? "copies" : printable(cause.label)) + " on a device";
        case cause_role::idle: break;
        case cause_role::preempted:
            return "no processor for " + (thread.empty() ? "the threads" : thread.substr(4));
        case cause_role::unknown:
            return "missing facts about " + (thread.empty() ? "the threads" : thread.substr(4));
    }
    return no_task(loaded) + " ran" + (thread.empty() ? " on the threads" : thread);
}

std::string cause_share(const request_difference& of) {
    if (!of.cause || !analysis::is_work(of.cause->role) || of.more_ns() <= 0) return {};
    const double share = static_cast<double>(of.cause->more_ns) / static_cast<double>(of.more_ns());
    return share < 0.9 ? fmt::format("{:.0f} %", 100 * share) : std::string();
}

}  // namespace coroscope::analysis::inline words
