// SPDX-License-Identifier: Apache-2.0
#pragma once

// A context is a small value that follows a task. It can be copied, stored and installed on any
// thread. It holds the session that records the task's work, the task's id, and the task's
// attributes.

#include <cstdint>

#include <coroscope/detail/export.hpp>

namespace coroscope {

namespace detail {

/// Keeps the attributes of a handle alive. Returns the handle; if its attributes no longer exist,
/// returns only its bit for unknown attributes (0 if the bit is not set). Any thread may call it;
/// each retained handle must be released once.
COROSCOPE_API std::uint32_t retain_attributes(std::uint32_t handle) noexcept;
COROSCOPE_API void release_attributes(std::uint32_t handle) noexcept;

}  // namespace detail

/// 16 bytes. A copy of a context with attributes keeps the attributes alive. A context without
/// attributes is copied without a call of the runtime.
struct context {
    std::uint64_t task = 0;  ///< id of the task; 0: none
    /// Generation of the session that records the task's work; 0: the context has no session of its
    /// own. Two more bits show whether the work belongs to a request that is recorded in full or
    /// left out.
    std::uint32_t session = 0;
    std::uint32_t attributes = 0;  ///< handle of the attributes; 0: none

    constexpr context() noexcept = default;
    /// Takes over the caller's reference to the attributes.
    constexpr context(std::uint64_t of_task, std::uint32_t of_session,
                      std::uint32_t held_attributes) noexcept
        : task(of_task), session(of_session), attributes(held_attributes) {}
    constexpr context(const context& other) noexcept
        : context(other.task, other.session, retain(other.attributes)) {}
    constexpr context(context&& other) noexcept
        : context(other.task, other.session, other.attributes) {
        other.attributes = 0;
    }
    constexpr context& operator=(context other) noexcept {
        task = other.task;
        session = other.session;
        const std::uint32_t before = attributes;
        attributes = other.attributes;
        other.attributes = before;
        return *this;
    }
    constexpr ~context() {
        if (attributes != 0) detail::release_attributes(attributes);
    }

    friend bool operator==(const context&, const context&) = default;

private:
    static constexpr std::uint32_t retain(std::uint32_t handle) noexcept {
        return handle == 0 ? 0 : detail::retain_attributes(handle);
    }
};
static_assert(sizeof(context) == 16);

/// Returns the calling thread's context. Any thread may call it at any time.
COROSCOPE_API context current_context() noexcept;

/// Installs a context on this thread until the end of the block, then restores the previous one.
/// Scopes that begin on this thread before the end of the block belong to that context's task. A
/// guard must be destroyed on the thread on which it was constructed.
class [[nodiscard]] context_guard {
public:
    /// Installs `next`, and records the change if a session records.
    COROSCOPE_API explicit context_guard(const context& next) noexcept;
    COROSCOPE_API ~context_guard();
    context_guard(const context_guard&) = delete;
    context_guard& operator=(const context_guard&) = delete;

private:
    context installed_;  // keeps its attributes alive
    context previous_;
    void* previous_frame_;
};

}  // namespace coroscope
