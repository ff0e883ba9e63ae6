// SPDX-License-Identifier: Apache-2.0
#pragma once

// The recorded waits and calls of each thread by time: waits for locks, waits for resources that
// kept the thread, blocking calls.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <coroscope/analysis/model.hpp>

#include "task_slices.hpp"

namespace coroscope::analysis::inline model {

/// Items of a trace that are sorted by start_ns, by the thread on which they were.
template <class Item>
class items_of_threads {
public:
    /// `thread_of(item)` is an index into trace::threads, or none. `items` must outlive it.
    template <class ThreadOf>
    items_of_threads(const std::vector<Item>& items, std::size_t threads, ThreadOf thread_of)
        : items_(items), places_(threads) {
        for (std::uint32_t at = 0; at < items.size(); ++at) {
            const std::uint32_t thread = thread_of(items[at]);
            if (thread < threads) places_[thread].push_back(at);
        }
    }

    /// Calls visit(item, from_ns, to_ns) for the items that overlap a time, with the overlap. Items
    /// of a thread nest a few levels at most: those of its signal handlers.
    template <class Visit>
    void for_each_in(std::uint32_t thread, std::int64_t from_ns, std::int64_t to_ns,
                     Visit visit) const {
        if (thread >= places_.size()) return;
        const std::vector<std::uint32_t>& own = places_[thread];
        const auto starts_before = [this](std::uint32_t at, std::int64_t time_ns) {
            return items_[at].start_ns < time_ns;
        };
        auto next = std::lower_bound(own.begin(), own.end(), from_ns, starts_before);
        next -= std::min<std::ptrdiff_t>(deepest, next - own.begin());
        for (; next != own.end() && items_[*next].start_ns < to_ns; ++next) {
            const Item& item = items_[*next];
            const std::int64_t begin_ns = std::max(from_ns, item.start_ns);
            const std::int64_t end_ns = std::min(to_ns, item.end_ns);
            if (begin_ns < end_ns) visit(item, begin_ns, end_ns);
        }
    }

private:
    static constexpr std::ptrdiff_t deepest = 4;

    const std::vector<Item>& items_;
    std::vector<std::vector<std::uint32_t>> places_;  // by thread, by start
};

class thread_waits {
public:
    /// `loaded` must outlive it.
    explicit thread_waits(const trace& loaded)
        : locks(loaded.lock_waits, loaded.threads.size(),
                [](const lock_wait& each) { return each.waiter.thread; }),
          resources(loaded.resource_waits, loaded.threads.size(),
                    [&loaded](const resource_wait& each) {
                        return is_on_thread(loaded, each) ? each.thread : none;
                    }),
          calls(loaded.blocking_calls, loaded.threads.size(),
                [](const blocking_call& each) { return each.thread; }) {}

    items_of_threads<lock_wait> locks;
    items_of_threads<resource_wait> resources;
    items_of_threads<blocking_call> calls;
};

}  // namespace coroscope::analysis::inline model
