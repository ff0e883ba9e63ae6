// SPDX-License-Identifier: Apache-2.0
#include "path_causes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

constexpr std::size_t most_named = 3;  // charges of a queued segment

struct named_charge {
    std::string work;
    std::uint32_t thread = none;
    std::int64_t time_ns = 0;
};

// Returns "in the way of handle in task 3 (serve), which waits for mutex 0x7f10".
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
        object = printable(site_name(loaded, loaded.resource_waits[wait.resource].site));
    } else {
        return {};
    }
    const path_segment waiting = segment_of(wait);
    return fmt::format(
        "in the way of {}{}, which waits for {}", printable(segment_label(loaded, waiting)),
        wait.task == none ? std::string() : " in task " + task_title(loaded, wait.task), object);
}

std::string title_of(const trace& loaded, const charge& work) {
    switch (work.role) {
        case cause_role::idle: return no_task(loaded);
        case cause_role::preempted: return "no processor";
        case cause_role::unknown: return "missing facts";
        case cause_role::held:
            if (work.task == none && work.scope == none) return "a lock of unrecorded work";
            return "a lock or resource of " + work_title(loaded, work.task, work.scope);
        default: return work_title(loaded, work.task, work.scope);
    }
}

void add(std::vector<named_charge>& to, const trace& loaded, const charge& work) {
    if (work.time_ns <= 0) return;
    std::string title = title_of(loaded, work);
    const auto same = std::ranges::find_if(to, [&](const named_charge& each) {
        return each.thread == work.thread && each.work == title;
    });
    if (same == to.end())
        to.push_back({std::move(title), work.thread, work.time_ns});
    else
        add_to(same->time_ns, work.time_ns);
}

std::string thread_text(const trace& loaded, std::uint32_t thread, std::string_view before) {
    if (thread >= loaded.threads.size()) return {};
    return fmt::format("{}{}", before, printable(thread_name(loaded, thread)));
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
    std::vector<named_charge> charges;
    for (const std::uint32_t at : segment.blame)
        charged_.for_each(segment, path_.blame[at],
                          [&](const charge& each) { add(charges, loaded_, each); });
    if (charges.empty()) return {};
    std::ranges::stable_sort(charges, std::ranges::greater(), &named_charge::time_ns);
    const std::uint32_t thread = charges.front().thread;
    const bool is_one_thread = std::ranges::all_of(
        charges, [thread](const named_charge& each) { return each.thread == thread; });
    std::string text;
    std::int64_t rest_ns = 0;
    for (std::size_t at = 0; at < charges.size(); ++at) {
        const named_charge& each = charges[at];
        if (at >= most_named) {
            add_to(rest_ns, each.time_ns);
            continue;
        }
        text += fmt::format(
            "{}{} for {}{}", at == 0 ? "" : ", ", each.work, format_span(each.time_ns),
            is_one_thread ? std::string() : thread_text(loaded_, each.thread, " on thread "));
    }
    if (charges.size() > most_named)
        text += fmt::format(", {} more for {}", charges.size() - most_named, format_span(rest_ns));
    return is_one_thread ? text + thread_text(loaded_, thread, ", on thread ") : text;
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
