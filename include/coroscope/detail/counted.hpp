// SPDX-License-Identifier: Apache-2.0
#pragma once

// A pointer to an object with a reference count. One thread at a time must use a pointer.

#include <coroscope/detail/hand_over.hpp>

namespace coroscope::detail {

/// The reference count of an object: the members retain() and release(), which must be noexcept and
/// thread-safe. Specialised for classes that no header defines. Free functions would not do:
/// argument-dependent lookup would also search the namespaces of the user's types.
template <class Counted>
struct holder_count {
    static void retain(Counted& counted) noexcept { counted.retain(); }
    static void release(Counted& counted) noexcept { counted.release(); }
};

/// `Counted` may be incomplete if the pointer is only declared.
template <class Counted>
class counted_ptr {
public:
    counted_ptr() noexcept = default;
    /// Takes over the caller's reference.
    explicit counted_ptr(Counted* held) noexcept : held_(held) {}
    counted_ptr(const counted_ptr& other) noexcept : held_(other.held_) {
        if (held_ != nullptr) holder_count<Counted>::retain(*held_);
    }
    counted_ptr(counted_ptr&& other) noexcept : held_(detail::taken(other.held_)) {}
    counted_ptr& operator=(counted_ptr other) noexcept {
        Counted* const before = held_;
        held_ = other.held_;
        other.held_ = before;
        return *this;
    }
    ~counted_ptr() {
        if (held_ != nullptr) holder_count<Counted>::release(*held_);
    }

    Counted* get() const noexcept { return held_; }
    Counted& operator*() const noexcept { return *held_; }
    Counted* operator->() const noexcept { return held_; }
    explicit operator bool() const noexcept { return held_ != nullptr; }

    /// Passes the reference to the caller.
    Counted* detach() noexcept { return detail::taken(held_); }

private:
    Counted* held_ = nullptr;
};

}  // namespace coroscope::detail
