// SPDX-License-Identifier: Apache-2.0
#pragma once

// The reasons for which threads were blocked, as texts and numbers for a picture.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/lock_holders.hpp>
#include <coroscope/analysis/model.hpp>

#include "../../words/call_names.hpp"

namespace coroscope::analysis::inline timelines {

/// One reason. Empty texts, -1 and `none` mean unknown.
struct blocked_reason {
    std::string call;  ///< name of the system call, or kind of the awaited lock
    std::int64_t descriptor = -1;
    std::string address;                ///< of the futex or the lock: "0x7f12a0"
    std::string_view lock;              ///< kind of the lock at that address
    std::string holder;                 ///< the thread that held it: "worker (4250)"
    std::uint32_t holder_task = none;   ///< index into trace::tasks
    std::uint32_t holder_scope = none;  ///< index into trace::events
};

class blocked_reasons {
public:
    explicit blocked_reasons(const trace& from);

    /// Returns the reason by the wait for a lock that contains that time. Else by the looks at the
    /// thread in that time: the first one that found a holder, else the first one that found the
    /// call.
    [[nodiscard]] blocked_reason of(std::uint32_t thread, std::int64_t from_ns,
                                    std::int64_t to_ns) const;

private:
    [[nodiscard]] const lock_wait* wait_around(std::uint32_t thread, std::int64_t from_ns,
                                               std::int64_t to_ns) const;
    [[nodiscard]] blocked_reason reason_of(const lock_wait& wait) const;
    [[nodiscard]] std::string name_of_thread(std::uint32_t thread, std::uint64_t os_id) const;

    const trace& from_;
    call_names calls_;
    std::vector<lock_holder> holders_;               ///< by look
    std::vector<std::vector<std::uint32_t>> waits_;  ///< for locks, by thread and start
};

}  // namespace coroscope::analysis::inline timelines
