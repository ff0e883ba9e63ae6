// SPDX-License-Identifier: Apache-2.0
#pragma once

// The context: what follows a task. A small value that can be copied, stored and installed on any
// thread. It says to which session the work belongs, which task it is, and its attributes.

#include <cstdint>

#include <coroscope/detail/export.hpp>

namespace coroscope {

namespace detail {

/// Keeps the attributes of a handle alive; gives 0 where they are gone. Any thread.
COROSCOPE_API std::uint32_t retain_attributes(std::uint32_t handle) noexcept;
COROSCOPE_API void release_attributes(std::uint32_t handle) noexcept;

}  // namespace detail

/// 16 bytes. A copy costs nothing but where there are attributes: it keeps them alive.
struct context {
    std::uint64_t task = 0;  ///< id of the task; 0: none
    std::uint32_t session =
        0;  ///< generation of a session that follows its work; 0: none of its own
    std::uint32_t attributes = 0;  ///< handle of the attributes; 0: none

    constexpr context() noexcept = default;
    /// Takes over the caller's hold on the attributes.
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
    context installed_;  // keeps its attributes alive
    context previous_;
    void* previous_frame_;
};

}  // namespace coroscope
