// SPDX-License-Identifier: Apache-2.0
#include "noticed_wakes.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <vector>

namespace coroscope::analysis::inline loading {
namespace {

// The ends of the slices on each thread, by time.
class work_ends {
public:
    explicit work_ends(const trace& loaded) : ends_(loaded.threads.size()) {
        for (const slice& each : loaded.slices)
            if (each.thread < ends_.size()) ends_[each.thread].push_back(each.end_ns);
        for (std::vector<std::int64_t>& each : ends_) std::ranges::sort(each);
    }

    // The end of the last slice on the thread in the time (from_ns, to_ns].
    [[nodiscard]] std::optional<std::int64_t> last_in(std::uint32_t thread, std::int64_t from_ns,
                                                      std::int64_t to_ns) const {
        const std::vector<std::int64_t>& ends = ends_[thread];
        const auto after = std::ranges::upper_bound(ends, to_ns);
        if (after == ends.begin() || *std::prev(after) <= from_ns) return std::nullopt;
        return *std::prev(after);
    }

private:
    std::vector<std::vector<std::int64_t>> ends_;
};

bool is_of_reactor(const trace& loaded, const await_info& await) {
    using coroscope::trace::object_kind;
    if (!await.wake_ns || await.waker != none || await.reason != wake_reason::unknown ||
        await.waker_thread >= loaded.threads.size() || await.object >= loaded.objects.size())
        return false;
    const object_kind kind = loaded.objects[await.object].kind;
    return kind == object_kind::socket || kind == object_kind::file || kind == object_kind::serial;
}

}  // namespace

void mark_noticed_wakes(trace& loaded) {
    if (loaded.objects.empty()) return;
    const work_ends ends(loaded);
    loaded.awaits.update([&](await_info& each, std::size_t) {
        if (!is_of_reactor(loaded, each)) return false;
        const auto worked_until = ends.last_in(each.waker_thread, each.suspend_ns, *each.wake_ns);
        if (!worked_until) return false;
        const state_times since =
            loaded.states.between(each.waker_thread, *worked_until, *each.wake_ns);
        if (since.blocked_ns != 0) return false;
        each.reason = wake_reason::noticed;
        return true;
    });
}

}  // namespace coroscope::analysis::inline loading
