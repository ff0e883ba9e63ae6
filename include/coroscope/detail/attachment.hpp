// SPDX-License-Identifier: Apache-2.0
#pragma once

// The connection between the completion of a future and the end of a range.

#include <coroscope/config.hpp>
#include <coroscope/detail/callback_list.hpp>
#include <coroscope/detail/export.hpp>
#include <coroscope/detail/hand_over.hpp>
#include <coroscope/range.hpp>

namespace coroscope {
namespace detail {

/// Attaches the range to one future and captures the current context. Returns false if the range is
/// attached already; the first time, this writes one line to stderr.
[[nodiscard]] COROSCOPE_API bool attach(range_state& state) noexcept;
COROSCOPE_API void retain_attachment(range_state& state) noexcept;
/// The last release ends the range if the completion was never reported.
COROSCOPE_API void release_attachment(range_state& state) noexcept;
/// Ends the range in the context of its attachment.
COROSCOPE_API void complete_attached(range_state& state) noexcept;

/// A node for callback lists, which holds one attachment.
struct attachment_callback final : callback {
    attachment_callback() noexcept : callback(call) {}
    static void call(callback& self) noexcept {
        range_state& state = *static_cast<attachment_callback&>(self).state;
        detail::complete_attached(state);
        detail::release_attachment(state);
    }
    range_state* state = nullptr;
};
COROSCOPE_API attachment_callback& callback_of(range_state& state) noexcept;

}  // namespace detail

/// The function object that an adaptor must call just before it completes its returned future, on
/// any thread. It ends the range in the context of the attachment, and runs the end callbacks.
/// Copyable; further calls do nothing. If all copies are destroyed without a call, the future was
/// abandoned, and the range ends then.
class range_end {
public:
    /// Takes over an attachment. If it is null, calls do nothing.
    explicit range_end(detail::range_state* attached) noexcept : state_(attached) {}
    range_end(const range_end& other) noexcept : state_(other.state_) {
        if (state_ != nullptr) detail::retain_attachment(*state_);
    }
    range_end(range_end&& other) noexcept : state_(detail::taken(other.state_)) {}
    range_end& operator=(range_end other) noexcept {
        detail::range_state* const before = state_;
        state_ = other.state_;
        other.state_ = before;
        return *this;
    }
    ~range_end() {
        if (state_ != nullptr) detail::release_attachment(*state_);
    }

    void operator()() const noexcept {
        if (state_ != nullptr) detail::complete_attached(*state_);
    }

    /// Adds the call to a list that is closed before the future completes. If the list is closed
    /// already, calls at once.
    void add_to(detail::callback_list& before) && noexcept {
        detail::range_state* state = detail::taken(state_);
        if (state == nullptr) return;
        detail::callback& added = detail::callback_of(*state);
        if (!before.add(added)) added.run(added);
    }

private:
    detail::range_state* state_;
};

}  // namespace coroscope
