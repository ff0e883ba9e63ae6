// SPDX-License-Identifier: Apache-2.0
#include "blame.hpp"

#include <algorithm>
#include <cstddef>

#include "../model/result_waits.hpp"
#include "../model/thread_waits.hpp"
#include "work_ahead.hpp"
#include <coroscope/analysis/lock_holders.hpp>

namespace coroscope::analysis::inline paths {
namespace {

class blame_builder {
public:
    blame_builder(surroundings& around, std::vector<critical_path>& paths)
        : loaded_(around.loaded()),
          holds_(around.waits().holds()),
          paths_(paths),
          waits_(loaded_),
          ahead_(around) {}

    void build() {
        for (const critical_path& path : paths_)
            for (const path_segment& each : path.segments)
                if (each.kind == path_kind::queued) ahead_.watch(each);
        ahead_.read();
        for (critical_path& path : paths_)
            for (path_segment& each : path.segments) add(path, each);
    }

private:
    void add(critical_path& path, path_segment& segment) {
        const std::size_t first = path.blame.size();
        if (segment.kind == path_kind::queued) {
            const std::vector<path_blame> work = ahead_.of(segment);
            path.blame.insert(path.blame.end(), work.begin(), work.end());
        }
        if (segment.kind == path_kind::blocked) add_holders(path, segment);
        segment.blame = {static_cast<std::uint32_t>(first),
                         static_cast<std::uint32_t>(path.blame.size() - first)};
    }

    // Recorded waits name the holders of locks and resources exactly. Without them each look at the
    // thread names the lock's holder at that moment.
    void add_holders(critical_path& path, const path_segment& blocked) {
        bool is_recorded = false;
        const auto add = [&](const thread_work& holder, std::int64_t from_ns, std::int64_t to_ns) {
            add_holder(path, holder, to_ns - from_ns);
        };
        waits_.locks.for_each_in(
            blocked.thread, blocked.start_ns, blocked.end_ns,
            [&](const lock_wait& wait, std::int64_t from_ns, std::int64_t to_ns) {
                is_recorded = true;
                holds_.for_each_in(wait, from_ns, to_ns, add);
            });
        waits_.resources.for_each_in(
            blocked.thread, blocked.start_ns, blocked.end_ns,
            [&](const resource_wait& wait, std::int64_t from_ns, std::int64_t to_ns) {
                if (is_for_result(loaded_, wait)) return;
                is_recorded = true;
                holds_.for_each_in(wait, from_ns, to_ns, add);
            });
        if (!is_recorded) add_seen_holder(path, blocked);
    }

    static void add_holder(critical_path& path, const thread_work& work, std::int64_t time_ns) {
        if (work.thread != none || work.task != none)
            path.blame.push_back({work.thread, work.task, work.scope, time_ns, time_ns});
    }

    // The last look that names a holder counts.
    void add_seen_holder(critical_path& path, const path_segment& blocked) {
        const auto looks =
            loaded_.states.looks_at(blocked.thread, blocked.start_ns, blocked.end_ns);
        const auto named = std::find_if(looks.rbegin(), looks.rend(), [](const blocked_look& look) {
            return look.holder != none;
        });
        if (named == looks.rend()) return;
        if (holders_.empty()) holders_ = lock_holders(loaded_);
        const auto index = static_cast<std::size_t>(&*named - loaded_.states.looks.data());
        const lock_holder& holder = holders_[index];
        path.blame.push_back(
            {holder.thread, holder.task, holder.event, blocked.length_ns(), blocked.length_ns()});
    }

    const trace& loaded_;
    const hold_times& holds_;
    std::vector<critical_path>& paths_;
    thread_waits waits_;
    work_ahead ahead_;
    std::vector<lock_holder> holders_;
};

}  // namespace

void add_blame(surroundings& around, std::vector<critical_path>& paths) {
    blame_builder(around, paths).build();
}

}  // namespace coroscope::analysis::inline paths
