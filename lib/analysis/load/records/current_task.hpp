// SPDX-License-Identifier: Apache-2.0
#pragma once

// Follows the task that is current on a thread from record to record, because short records of
// suspensions do not name their task.

#include <cstdint>

#include <coroscope/trace/format.hpp>
#include <coroscope/trace/reader.hpp>

namespace coroscope::analysis::inline records {

class current_task {
public:
    /// Must be called at the beginning of a chunk or of a section.
    void begin(std::uint64_t task) { task_ = task; }

    /// Must be called after each record of a task, except the short ones.
    void follow(const coroscope::trace::record_view& record) {
        using coroscope::trace::record_kind;
        switch (record.kind()) {
            case record_kind::resume:
            case record_kind::cancel:
            case record_kind::context: task_ = record.word(2); break;
            case record_kind::suspend:
            case record_kind::transfer:
            case record_kind::finish_transfer:
            case record_kind::finish: task_ = record.word(3); break;
            case record_kind::spawn:
                if (starts(record.value())) task_ = record.word(2);
                break;
            default: break;
        }
    }

    [[nodiscard]] std::uint64_t now() const noexcept { return task_; }

    /// Must be called after a plain resumption. Returns its task.
    std::uint64_t resume(std::uint64_t tag) { return task_ = coroscope::trace::plain_task(tag); }

    /// Must be called after a plain suspension. Returns its task, or 0 if it is unknown because it
    /// is not the current one.
    std::uint64_t suspend(std::uint64_t tag) {
        if (!coroscope::trace::is_plain_task(tag, task_)) return 0;
        const std::uint64_t suspended = task_;
        task_ = 0;
        return suspended;
    }

private:
    static bool starts(std::uint32_t flags) {
        return (flags & coroscope::trace::spawn_started) != 0 &&
               (flags & coroscope::trace::spawn_adopted) == 0;
    }

    std::uint64_t task_ = 0;
};

}  // namespace coroscope::analysis::inline records
