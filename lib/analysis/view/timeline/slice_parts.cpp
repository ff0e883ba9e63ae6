// SPDX-License-Identifier: Apache-2.0
#include "slice_parts.hpp"

#include "../../model/interruptions.hpp"

namespace coroscope::analysis::inline timelines {

slice_parts::slice_parts(const trace& from)
    : from_(from), is_continued_(from.slices.size()), is_held_(from.slices.size()) {
    for (const task_info& task : from.tasks) join(task);
}

std::uint32_t slice_parts::last_part(std::uint32_t slice) const {
    while (slice + 1 < is_continued_.size() && is_continued_[slice + 1]) ++slice;
    return slice;
}

std::int64_t slice_parts::end_ns(std::uint32_t slice) const {
    const std::uint32_t last = last_part(slice);
    return is_held_[last] ? from_.duration_ns : from_.slices[last].end_ns;
}

void slice_parts::join(const task_info& task) {
    std::size_t next = 0;
    for (const std::uint32_t index : task.awaits) {
        if (index >= from_.awaits.size() || from_.awaits[index].task >= from_.tasks.size())
            continue;
        const await_info& await = from_.awaits[index];
        const bool held = is_held(from_, await);
        if (!held && (!is_interruption(await) || !await.resume_ns || await.clipped)) continue;
        for (; next < task.slices.size(); ++next) {
            const std::uint32_t before = task.slices[next];
            if (before >= from_.slices.size()) return;
            if (from_.slices[before].end_ns < await.suspend_ns) continue;
            if (held)
                is_held_[before] = from_.slices[before].end_ns == await.suspend_ns;
            else if (next + 1 < task.slices.size() && goes_on(before, await))
                is_continued_[before + 1] = true;
            break;
        }
    }
}

// Returns whether the await is the time between the slice and the next one of the same task.
bool slice_parts::goes_on(std::uint32_t before, const await_info& await) const {
    if (before + 1 >= from_.slices.size()) return false;
    const slice& ended = from_.slices[before];
    const slice& after = from_.slices[before + 1];
    return ended.end_ns == await.suspend_ns && after.start_ns == *await.resume_ns &&
           after.task == await.task && after.thread == ended.thread;
}

}  // namespace coroscope::analysis::inline timelines
