// SPDX-License-Identifier: Apache-2.0
#pragma once

// A pointer to something that counts those who hold it, by retain(Counted&) and release(Counted&), which
// argument-dependent lookup finds. Both are noexcept and safe from any thread; the pointer itself
// belongs to one thread at a time. `Counted` may be incomplete.

#include <coroscope/detail/hand_over.hpp>

namespace coroscope::detail {

template <class Counted>
class counted_ptr {
public:
    counted_ptr() noexcept = default;
    /// Takes over the caller's hold.
    explicit counted_ptr(Counted* held) noexcept : held_(held) {}
    counted_ptr(const counted_ptr& other) noexcept : held_(other.held_) {
        if (held_ != nullptr) retain(*held_);
    }
    counted_ptr(counted_ptr&& other) noexcept : held_(taken(other.held_)) {}
    counted_ptr& operator=(counted_ptr other) noexcept {
        Counted* const before = held_;
        held_ = other.held_;
        other.held_ = before;
        return *this;
    }
    ~counted_ptr() {
        if (held_ != nullptr) release(*held_);
    }

    Counted* get() const noexcept { return held_; }
    Counted& operator*() const noexcept { return *held_; }
    Counted* operator->() const noexcept { return held_; }
    explicit operator bool() const noexcept { return held_ != nullptr; }

    /// Gives the hold to the caller.
    Counted* detach() noexcept { return taken(held_); }

private:
    Counted* held_ = nullptr;
};

}  // namespace coroscope::detail
