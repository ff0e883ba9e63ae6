// SPDX-License-Identifier: Apache-2.0
#pragma once

// The division of blamed work: the work itself, the holders of locks for which it waited, the time
// in which its thread had no processor, and the time in which facts about it are missing.

#include <cstdint>
#include <vector>

#include "../model/thread_waits.hpp"
#include <coroscope/analysis/critical_path.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/slow_requests.hpp>

#include "blocked_calls.hpp"
#include "hold_times.hpp"

namespace coroscope::analysis::inline paths {

/// A part of a segment's time, and the work to which it is charged.
struct charge {
    std::uint32_t task = none;    ///< index into trace::tasks
    std::uint32_t scope = none;   ///< index into trace::events
    std::uint32_t thread = none;  ///< index into trace::threads
    cause_role role = cause_role::ran;
    std::int64_t time_ns = 0;
    std::uint32_t resource = none;  ///< that was held: index into trace::sites; none: a lock
};

class charged_work {
public:
    /// `loaded` must outlive it.
    explicit charged_work(const trace& loaded);

    /// Calls visit(charge) for each part of one entry of a segment's blame. The times add up to
    /// that of the entry.
    template <class Visit>
    void for_each(const path_segment& segment, const path_blame& blame, Visit visit) const {
        const charge whole{blame.task, blame.event, blame.thread, cause_role::ran,
                           blame.charged_ns};
        if (segment.kind != path_kind::queued) return visit(as(whole, cause_role::held));
        if (blame.task == none && blame.event == none) return visit(as(whole, cause_role::idle));
        for (const charge& each : divided(segment, blame)) visit(each);
    }

    /// Calls visit(charge) for the holders of the resources for which the task of a segment waited
    /// while it was suspended, as far as they are known.
    template <class Visit>
    void for_each_holder(const path_segment& segment, Visit visit) const {
        resources_.for_each_in(
            segment.task, segment.start_ns, segment.end_ns,
            [&](const resource_wait& wait, std::int64_t from_ns, std::int64_t to_ns) {
                for_each_hold(wait, from_ns, to_ns, visit);
            });
    }

private:
    template <class Wait, class Visit>
    void for_each_hold(const Wait& wait, std::int64_t from_ns, std::int64_t to_ns,
                       Visit visit) const {
        holds_.for_each_in(
            wait, from_ns, to_ns,
            [&](const thread_work& holder, std::int64_t begin_ns, std::int64_t end_ns) {
                visit(charge{holder.task, holder.scope, holder.thread, cause_role::held,
                             end_ns - begin_ns, resource_of(wait)});
            });
    }

    static std::uint32_t resource_of(const lock_wait& /*wait*/) { return none; }
    static std::uint32_t resource_of(const resource_wait& wait) { return wait.site; }

    /// The times in which blamed work was on its thread, but did not run, or perhaps did not.
    struct stalls {
        std::int64_t preempted_ns = 0;
        /// The thread's states, the work's scope, or perhaps the holder of a lock are missing.
        std::int64_t unknown_ns = 0;
    };

    static charge as(charge of, cause_role role) {
        of.role = role;
        return of;
    }

    [[nodiscard]] std::vector<charge> divided(const path_segment& segment,
                                              const path_blame& blame) const;
    void add_holders(const path_segment& segment, const path_blame& blame,
                     std::vector<charge>& to) const;
    [[nodiscard]] stalls stalls_of(const path_segment& segment, const path_blame& blame) const;
    [[nodiscard]] stalls stalls_between(std::uint32_t thread, std::int64_t from_ns,
                                        std::int64_t to_ns) const;

    const trace& loaded_;
    hold_times holds_;
    std::vector<lock_wait> sampled_;
    items_of_threads<lock_wait> seen_;
    thread_waits waits_;
    blocked_calls calls_;
    items_of_threads<resource_wait> resources_;  // by task in place of the thread
};

}  // namespace coroscope::analysis::inline paths
