// SPDX-License-Identifier: Apache-2.0
#pragma once

// When work held a lock or a resource, as far as the waits for it show.
//
// A wait shows its end, the release that ended it, and perhaps the holder at its begin. So
// the end of a hold is a release. Its begin is the end of the holder's own wait, or the earliest
// wait that saw the holder. Without both, the begin is unknown: another task may have had the lock
// before. If no wait saw any holder, the hold lasts since these waits began. If several can hold
// the resource, a wait names the releaser only if it had the resource when the wait began.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline paths {

/// A time in which work held a lock or a resource.
struct hold_time {
    thread_work holder;
    std::int64_t from_ns = 0;
    std::int64_t to_ns = 0;
};

class hold_times {
public:
    /// `loaded` must outlive it.
    explicit hold_times(const trace& loaded);

    /// Returns the latest hold within a wait that began before `at_ns`, cut to the wait. A wait
    /// without a known release has one hold, by the holder that it saw.
    [[nodiscard]] std::optional<hold_time> before(const lock_wait& wait, std::int64_t at_ns) const;
    [[nodiscard]] std::optional<hold_time> before(const resource_wait& wait,
                                                  std::int64_t at_ns) const;

    /// Calls visit(holder, from_ns, to_ns) for the holds within a wait and a time, the latest
    /// first.
    template <class Wait, class Visit>
    void for_each_in(const Wait& wait, std::int64_t from_ns, std::int64_t to_ns,
                     Visit visit) const {
        while (const auto found = before(wait, to_ns)) {
            if (found->to_ns <= from_ns) return;
            visit(found->holder, std::max(found->from_ns, from_ns), found->to_ns);
            to_ns = found->from_ns;
        }
    }

private:
    /// A lock: its address, 0, 0. A resource: 0, its site, its instance.
    using key = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>;

    /// A wait. Its end, and the work that is known of it.
    struct use {
        std::int64_t start_ns = 0;
        std::int64_t end_ns = 0;
        optional_ns released_ns{};              // none, too, if the releaser is unknown
        std::uint64_t waiter = 0;               // numbers of scope_owner()
        std::optional<std::uint64_t> holder{};  // that the wait saw at its begin
        std::uint64_t releaser = 0;
        thread_work held_by{};
        thread_work released_by{};
        bool gave_up = false;
        bool is_one_of_several = false;  // the releaser, which had it when the wait began
        bool is_exclusive = true;
        bool has_readers = false;
    };

    static use use_of(const lock_wait& wait);
    use use_of(const resource_wait& wait) const;
    static key key_of(const lock_wait& wait) { return {wait.address, 0, 0}; }
    static key key_of(const resource_wait& wait) { return {0, wait.site, wait.instance}; }
    static bool is_known(const lock_wait& wait) { return wait.address != 0; }
    static bool is_known(const resource_wait& wait) { return wait.site != none; }
    static std::vector<hold_time> holds_of(const trace& loaded, const std::vector<use>& uses);
    void find_scopes(const trace& loaded);

    static std::optional<hold_time> seen_hold(const use& of, const std::vector<hold_time>& all,
                                              std::int64_t at_ns);
    static std::optional<hold_time> only_hold(const use& of, std::int64_t at_ns);

    template <class Wait>
    [[nodiscard]] std::optional<hold_time> find(const Wait& wait, std::int64_t at_ns) const;

    struct all_holds {
        std::vector<hold_time> holds;  // by their ends
        bool is_exclusive = true;      // one at a time
    };
    const trace& loaded_;
    std::map<key, all_holds> holds_;
};

}  // namespace coroscope::analysis::inline paths
