// SPDX-License-Identifier: Apache-2.0
#pragma once

// Records that belong to another session than this thread's: of a range, a job, a task or a fiber that somebody ends
// elsewhere.

#include <cstdint>

#include <coroscope/detail/task_state.hpp>

#include "registry.hpp"
#include "session_table.hpp"

namespace coroscope::detail {

/// While it lives the thread carries this session, 0 for none of its own, and neither task nor attributes: what runs here
/// is the business of the session that it was in. Nothing changes where the thread carries that one already.
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
    // The thread's own part stays: it may be registered meanwhile.
    static void set_task(std::uint64_t mark) noexcept {
        this_thread.mark = (mark & ~mark_thread_mask) | (this_thread.mark & mark_thread_mask);
    }

    std::uint64_t carried_;
    std::uint64_t mark_;
    bool switched_;
};

/// Back to a session, if it still records, for as long as this lives.
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
