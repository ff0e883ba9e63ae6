// SPDX-License-Identifier: Apache-2.0
#pragma once

// The context: what follows a task. A small value that can be copied, stored and installed on any
// thread. It says to which session the work belongs, which task it is, and its attributes.

#include <cstdint>

#include <coroscope/detail/export.hpp>

namespace coroscope {

struct context {
    std::uint64_t task = 0;        ///< id of the task; 0: none
    std::uint32_t session = 0;     ///< generation of a session that follows its work; 0: none of its own
    std::uint32_t attributes = 0;  ///< handle of the attributes; 0: none

    friend bool operator==(const context&, const context&) = default;
};
static_assert(sizeof(context) == 16);

/// The calling thread's context. Any thread, any time.
COROSCOPE_API context current_context() noexcept;

/// Installs a context on this thread until the end of the block, then restores the previous one.
/// Scopes in between belong to that context's task. Must end on the thread where it began.
class [[nodiscard]] context_guard {
public:
    COROSCOPE_API explicit context_guard(const context& next) noexcept;
    COROSCOPE_API ~context_guard();
    context_guard(const context_guard&) = delete;
    context_guard& operator=(const context_guard&) = delete;

private:
    context previous_;
    void* previous_frame_;
};

}  // namespace coroscope
