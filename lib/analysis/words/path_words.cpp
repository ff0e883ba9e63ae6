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

constexpr std::size_t most_named = 3;  // pieces of work ahead of a queued task

bool is_wait(const path_segment& segment) { return segment.await != none; }

std::uint32_t spawn_site_of(const trace& loaded, const path_segment& segment) {
    return segment.task < loaded.tasks.size() ? loaded.tasks[segment.task].spawn_site : none;
}

}  // namespace

std::string no_task(const trace& loaded) {
    return has_unrecorded_work(loaded) ? "no recorded task" : "no task";
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

std::string work_title(const trace& loaded, const path_blame& work) {
    const std::string scope = work.event == none
                                  ? std::string()
                                  : printable(loaded.strings[loaded.events[work.event].name]);
    if (work.task == none) return scope.empty() ? no_task(loaded) : scope;
    const std::string task = fmt::format("task {}", task_title(loaded, work.task));
    return scope.empty() ? task : fmt::format("{} in {}", scope, task);
}

std::string queued_behind(const trace& loaded, const critical_path& path,
                          const path_segment& segment) {
    if (segment.kind != path_kind::queued || segment.blame.empty()) return {};
    const std::uint32_t thread = path.blame[segment.blame.front()].thread;
    bool is_one_thread = true;
    for (const std::uint32_t index : segment.blame)
        is_one_thread = is_one_thread && path.blame[index].thread == thread;
    std::string text;
    std::size_t named = 0;
    std::int64_t rest_ns = 0;
    for (const std::uint32_t index : segment.blame) {
        const path_blame& each = path.blame[index];
        if (++named > most_named) {
            add_to(rest_ns, each.charged_ns);
            continue;
        }
        text += fmt::format("{}{} for {}", text.empty() ? "" : ", ", work_title(loaded, each),
                            format_span(each.time_ns));
        if (!is_one_thread)
            text += fmt::format(" on thread {}", printable(thread_name(loaded, each.thread)));
    }
    if (segment.blame.size() > most_named)
        text += fmt::format(" and {} more, charged with {}", segment.blame.size() - most_named,
                            format_span(rest_ns));
    if (!is_one_thread) return text;
    return fmt::format("{}, on thread {}", text, printable(thread_name(loaded, thread)));
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
            return "a lock held by " +
                   (cause.label.empty() ? "unrecorded work" : printable(cause.label)) + thread;
        case cause_role::waited: return {};
        case cause_role::idle: break;
        case cause_role::preempted:
            return "no processor for " + (thread.empty() ? "the threads" : thread.substr(4));
        case cause_role::unknown:
            return "missing facts about " + (thread.empty() ? "the threads" : thread.substr(4));
    }
    return no_task(loaded) + " ran" + (thread.empty() ? " on the threads" : thread);
}

}  // namespace coroscope::analysis::inline words
