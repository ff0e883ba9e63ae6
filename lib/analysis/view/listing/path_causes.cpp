// SPDX-License-Identifier: Apache-2.0
#include "path_causes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include <coroscope/analysis/units.hpp>
#include <fmt/format.h>

#include "../../text/utf8.hpp"
#include "../../words/path_words.hpp"
#include "../../words/places.hpp"
#include "device_text.hpp"
#include "lock_text.hpp"

namespace coroscope::analysis::inline listings {
namespace {

constexpr std::size_t most_named = 3;  // kinds of work of a queued segment

/// The charges to work of one name.
struct named_charges {
    charge first;
    std::string name;  // of the scope, else of the task
    std::set<std::uint32_t> tasks{};
    std::set<std::uint32_t> threads{};
    std::int64_t time_ns = 0;
};

// Returns "holds mutex 0x7f10, for which handle in task 3 (serve) waits".
std::string victim_of(const trace& loaded, const critical_path& path, const path_segment& segment) {
    if (segment.through == none) return {};
    const path_wait& wait = path.waits[segment.through];
    std::string object;
    if (wait.edge == path_edge::lock) {
        lock_wait lock;
        lock.address = wait.lock_address;
        lock.kind = wait.lock;
        object = lock_text(lock);
    } else if (wait.edge == path_edge::resource && wait.resource < loaded.resource_waits.size()) {
        object = held_title(loaded, loaded.resource_waits[wait.resource].site);
    } else {
        return {};
    }
    const path_segment waiting = segment_of(wait);
    return fmt::format(
        "holds {}, for which {}{} waits", object, printable(segment_label(loaded, waiting)),
        wait.task == none ? std::string() : " in task " + task_title(loaded, wait.task));
}

std::string name_of_work(const trace& loaded, const charge& work) {
    if (!is_work(work.role)) return {};
    if (work.scope != none) return loaded.strings[loaded.events[work.scope].name];
    return work.task == none ? std::string()
                             : site_name(loaded, loaded.tasks[work.task].spawn_site);
}

std::string work_of(const trace& loaded, const named_charges& of) {
    if (of.tasks.size() < 2) return work_title(loaded, of.first.task, of.first.scope);
    return of.first.scope == none
               ? fmt::format("{} tasks ({})", of.tasks.size(), printable(of.name))
               : fmt::format("{} in {} tasks", printable(of.name), of.tasks.size());
}

std::string title_of(const trace& loaded, const named_charges& of) {
    switch (of.first.role) {
        case cause_role::idle: return no_task(loaded) + " ran";
        case cause_role::preempted: return "no processor";
        case cause_role::unknown: return "missing facts";
        case cause_role::held:
            return held_title(loaded, of.first.resource) + " held by " +
                   (of.first.task == none && of.first.scope == none ? "an unknown holder"
                                                                    : work_of(loaded, of));
        default: return work_of(loaded, of);
    }
}

void add(std::vector<named_charges>& to, const trace& loaded, const charge& work) {
    if (work.time_ns <= 0) return;
    const std::string name = name_of_work(loaded, work);
    auto same = std::ranges::find_if(to, [&](const named_charges& each) {
        return each.first.role == work.role && each.first.resource == work.resource &&
               each.name == name && (each.first.scope == none) == (work.scope == none);
    });
    if (same == to.end()) same = to.insert(to.end(), {.first = work, .name = name});
    same->tasks.insert(work.task);
    same->threads.insert(work.thread);
    add_to(same->time_ns, work.time_ns);
}

std::string thread_text(const trace& loaded, std::uint32_t thread, std::string_view before) {
    if (thread >= loaded.threads.size()) return {};
    return fmt::format("{}{}", before, printable(thread_name(loaded, thread)));
}

std::string threads_text(const trace& loaded, const std::set<std::uint32_t>& threads) {
    if (threads.size() > 1) return fmt::format(" on {} threads", threads.size());
    return thread_text(loaded, *threads.begin(), " on thread ");
}

}  // namespace

path_causes::path_causes(const trace& loaded, const critical_path& path)
    : loaded_(loaded),
      path_(path),
      charged_(loaded),
      waking_(loaded, std::span(&path, 1)),
      blocking_(loaded),
      devices_(loaded) {}

std::string path_causes::queued_behind(const path_segment& segment) const {
    std::vector<named_charges> charges;
    for (const std::uint32_t at : segment.blame)
        charged_.for_each(segment, path_.blame[at],
                          [&](const charge& each) { add(charges, loaded_, each); });
    if (charges.empty()) return {};
    std::ranges::stable_sort(charges, std::ranges::greater(), &named_charges::time_ns);
    const std::set<std::uint32_t>& threads = charges.front().threads;
    const bool is_one_thread =
        threads.size() == 1 && std::ranges::all_of(charges, [&](const named_charges& each) {
            return each.threads == threads;
        });
    std::string text;
    std::int64_t rest_ns = 0;
    for (std::size_t at = 0; at < charges.size(); ++at) {
        const named_charges& each = charges[at];
        if (at >= most_named) {
            add_to(rest_ns, each.time_ns);
            continue;
        }
        text += fmt::format("{}{} for {}{}", at == 0 ? "" : ", ", title_of(loaded_, each),
                            format_span(each.time_ns),
                            is_one_thread ? std::string() : threads_text(loaded_, each.threads));
    }
    if (charges.size() > most_named)
        text += fmt::format(", {} more for {}", charges.size() - most_named, format_span(rest_ns));
    return is_one_thread ? text + thread_text(loaded_, *threads.begin(), ", on thread ") : text;
}

// Returns "estimate for 1.2 ms on thread worker (3), which ended the wait".
std::string path_causes::ended_by(const path_segment& segment) const {
    const charge work = waking_.of(segment, path_.start_ns);
    if (work.scope == none) return {};
    return fmt::format("{} for {}{}, which ended the wait",
                       work_title(loaded_, work.task, work.scope), format_span(work.time_ns),
                       thread_text(loaded_, work.thread, " on thread "));
}

std::string path_causes::reason_of(const path_segment& segment) const {
    switch (segment.kind) {
        case path_kind::queued: return queued_behind(segment);
        case path_kind::blocked:
            return blocking_.of(segment.thread, segment.start_ns, segment.end_ns);
        case path_kind::suspended:
        case path_kind::waiting: {
            if (segment.await == none) return {};
            const std::string device = wait_text(loaded_, awaited_work(loaded_, segment.await),
                                                 devices_.of(segment.await).queued_ns);
            return device.empty() ? ended_by(segment) : device;
        }
        default: return {};
    }
}

std::string path_causes::of(const path_segment& segment) const {
    const std::string victim = victim_of(loaded_, path_, segment);
    const std::string cause = reason_of(segment);
    return cause.empty() || victim.empty() ? cause + victim : cause + "; " + victim;
}

}  // namespace coroscope::analysis::inline listings
