// SPDX-License-Identifier: Apache-2.0
#pragma once

// Switches the thread to another session for a few records. The end of a range, job, task or fiber
// belongs to the session in which it began, but may happen on a thread of another session.

#include <cstdint>

#include <coroscope/detail/task_state.hpp>

#include "../writer/registry.hpp"
#include "../writer/session_table.hpp"

namespace coroscope::detail {

/// Makes the thread carry `session` (0: none of its own) for the object's lifetime. Meanwhile the
/// thread carries no task and no attributes, because the running code belongs to the previous
/// session. If the thread carries `session` already, nothing changes.
class session_switch {
public:
    explicit session_switch(std::uint32_t session) noexcept
        : carried_(this_thread.carried),
          mark_(this_thread.mark),
          switched_(carried_session(carried_) != session) {
        if (!switched_) return;
        set_task(0);
        rebind(make_carried(session, 0));
    }
    session_switch(const session_switch&) = delete;
    session_switch& operator=(const session_switch&) = delete;
    ~session_switch() {
        if (!switched_) return;
        set_task(mark_);
        rebind(carried_);
    }

private:
    // Keeps the thread's id in the mark: the thread may be registered meanwhile.
    static void set_task(std::uint64_t mark) noexcept {
        this_thread.mark = (mark & ~mark_thread_mask) | (this_thread.mark & mark_thread_mask);
    }

    std::uint64_t carried_;
    std::uint64_t mark_;
    bool switched_;
};

/// Makes the thread record into the session `generation` for the object's lifetime, if that session
/// is still live. Otherwise nothing changes.
class session_return {
public:
    explicit session_return(std::uint32_t generation) noexcept
        : live_(runtime::find_session(generation) != nullptr),
          there_(live_ && runtime::effective_generation(this_thread) != generation
                     ? generation
                     : static_cast<std::uint32_t>(carried_session(this_thread.carried))) {}
    bool live() const noexcept { return live_; }

private:
    bool live_;
    session_switch there_;
};

}  // namespace coroscope::detail
