// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/lock_statistics.hpp>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <coroscope/analysis/saturated.hpp>

#include "lock_samples.hpp"

namespace coroscope::analysis {
namespace {

using coroscope::trace::lock_kind;

using places_of_waits = std::map<std::pair<std::uint32_t, std::uint32_t>, lock_place>;

struct waits_of_lock {
    lock_statistics sums;
    std::vector<std::int64_t> lengths_ns;
    places_of_waits waiters;
    places_of_waits holders;
};

std::int64_t length_of(const lock_wait& wait) { return wait.end_ns - wait.start_ns; }

void add_to_place(places_of_waits& places, const trace& loaded, const thread_work& work,
                  std::int64_t length_ns) {
    lock_place place;
    if (work.scope < loaded.events.size()) place.scope = loaded.events[work.scope].name;
    if (work.task < loaded.tasks.size()) place.spawn_site = loaded.tasks[work.task].spawn_site;
    lock_place& known = places.try_emplace({place.scope, place.spawn_site}, place).first->second;
    ++known.waits;
    add_to(known.total_ns, length_ns);
}

lock_place longest(const places_of_waits& places) {
    const auto most = std::ranges::max_element(
        places, {}, [](const auto& entry) { return entry.second.total_ns; });
    return most == places.end() ? lock_place() : most->second;
}

class lock_sums {
public:
    explicit lock_sums(const trace& loaded) : loaded_(loaded) {}

    void add(const lock_wait& wait, bool is_sample) {
        waits_of_lock& into = locks_[{wait.address, wait.kind, is_sample}];
        const std::int64_t length_ns = length_of(wait);
        if (into.lengths_ns.empty() || length_ns > length_of(into.sums.worst))
            into.sums.worst = wait;
        into.sums.gave_up += wait.gave_up ? 1 : 0;
        add_to(into.sums.total_ns, length_ns);
        into.lengths_ns.push_back(length_ns);
        add_to_place(into.waiters, loaded_, wait.waiter, length_ns);
        if (is_known(wait))
            add_to_place(into.holders, loaded_, wait.blamed(), length_ns);
        else
            ++into.sums.unknown_holders;
    }

    std::vector<lock_statistics> take() {
        std::vector<lock_statistics> found;
        for (auto& [key, waits] : locks_) {
            lock_statistics& each = found.emplace_back(waits.sums);
            std::tie(each.address, each.kind, each.samples) = key;
            each.length = percentiles_of(waits.lengths_ns);
            each.waiter = longest(waits.waiters);
            each.holder = longest(waits.holders);
        }
        std::ranges::stable_sort(found, std::ranges::greater(), &lock_statistics::total_ns);
        return found;
    }

private:
    static bool is_known(const lock_wait& wait) {
        return wait.holder_os_id != 0 || wait.releaser.thread != none;
    }

    const trace& loaded_;
    std::map<std::tuple<std::uint64_t, lock_kind, bool>, waits_of_lock> locks_;
};

}  // namespace

std::vector<lock_statistics> statistics_of_locks(const trace& loaded) {
    lock_sums sums(loaded);
    for (const lock_wait& each : loaded.lock_waits) sums.add(each, false);
    for (const lock_wait& each : sampled_lock_waits(loaded)) sums.add(each, true);
    return sums.take();
}

std::string_view name_of_lock(lock_kind kind) noexcept {
    switch (kind) {
        case lock_kind::unknown: break;
        case lock_kind::mutex: return "mutex";
        case lock_kind::read: return "rwlock, to read";
        case lock_kind::write: return "rwlock, to write";
        case lock_kind::condition: return "mutex, notified";
        case lock_kind::spin: return "spin lock";
    }
    return "unknown";
}

}  // namespace coroscope::analysis
