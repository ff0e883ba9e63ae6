// SPDX-License-Identifier: Apache-2.0
#pragma once

// range: a labelled stretch that ends at a completion or by a call, and not at the end of a block.
//
//   coroscope::range upload("upload");             // begins
//   upload.on_end([] { … });                       // end callbacks, in the order they were added
//   upload.end();                                  // or when the last handle is destroyed
//
// Handles are shared: copies refer to the same range, and the last one to be destroyed ends it. The
// label is copied and the context captured when the range begins. future_adaptor.hpp ends a range
// when a future completes.
//
// Thread-safety: one handle must be used by one thread at a time. Any thread may end or watch the
// range through a handle of its own.
//
// A range costs one allocation, whether or not a session records. If memory is short, the handle
// refers to no range: end() does nothing, and a callback runs at once. With COROSCOPE_ENABLED=0
// nothing is recorded, but callbacks still run.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <coroscope/config.hpp>
#include <coroscope/detail/callback_list.hpp>
#include <coroscope/detail/counted.hpp>
#include <coroscope/detail/exceptions.hpp>
#include <coroscope/detail/export.hpp>
#include <coroscope/detail/hand_over.hpp>

namespace coroscope {

/// Faults of ranges in this process so far. The first fault of each kind writes one line to stderr.
struct range_faults {
    std::uint64_t ends_after_stop = 0;      ///< ranges that ended after their session
    std::uint64_t borrowed_died_early = 0;  ///< a record_function ended before its future completed
    std::uint64_t attached_twice = 0;       ///< refused: a range ends with one future only
    std::uint64_t callbacks_that_threw = 0;  ///< exceptions of end callbacks, dropped
};
/// Any thread may call it. The counters are read one after the other, so a fault that happens
/// meanwhile may be missing from those that were read first.
COROSCOPE_API range_faults current_range_faults() noexcept;

namespace detail {

class range_state;
COROSCOPE_API void retain(range_state& state) noexcept;
COROSCOPE_API void release(range_state& state) noexcept;

/// Begins a range. Returns null if memory is short. `records`: whether a session may record it.
COROSCOPE_API range_state* begin_shared_range(const char* label, std::size_t size,
                                              bool records) noexcept;
/// The same for a range that is a request. It is recorded inside a request that is left out, too.
COROSCOPE_API range_state* begin_shared_request(const char* label, std::size_t size,
                                                bool records) noexcept;
/// Ends the range. Returns true for the one call that ended it. On return the end callbacks have
/// run, on this thread or on another one. The exception is a call in one of these callbacks: it
/// returns at once.
COROSCOPE_API bool end_shared_range(range_state& state) noexcept;
COROSCOPE_API bool has_ended(const range_state& state) noexcept;
/// Returns false, and does not take `added`, if the range has ended.
COROSCOPE_API bool add_end_callback(range_state& state, callback& added) noexcept;
COROSCOPE_API void note_thrown_callback() noexcept;

template <>
struct holder_count<range_state> {
    static void retain(range_state& state) noexcept { detail::retain(state); }
    static void release(range_state& state) noexcept { detail::release(state); }
};
using range_ptr = counted_ptr<range_state>;

/// A user's end callback as a node of the list.
template <class Function>
class end_callback final : public callback {
public:
    explicit end_callback(Function function) : callback(call), function_(detail::moved(function)) {}

    static void run_guarded(Function& function) noexcept {
        COROSCOPE_DETAIL_TRY { function(); }
        COROSCOPE_DETAIL_CATCH(...) { detail::note_thrown_callback(); }
    }

private:
    static void call(callback& self) noexcept {
        auto& mine = static_cast<end_callback&>(self);
        run_guarded(mine.function_);
        delete __builtin_addressof(mine);
    }

    Function function_;
};

/// Adds a callable to the range's end callbacks, or runs it if the range has ended.
template <class Function>
void call_on_end(range_state* state, Function&& function) {
    using stored = std::decay_t<Function>;
    if (state != nullptr && !detail::has_ended(*state)) {
        auto* added = new end_callback<stored>(static_cast<Function&&>(function));
        if (!detail::add_end_callback(*state, *added)) added->run(*added);
    } else {
        stored now(static_cast<Function&&>(function));
        end_callback<stored>::run_guarded(now);
    }
}

inline namespace COROSCOPE_ABI {

using begin_function = range_state*(const char* label, std::size_t size, bool records) noexcept;

/// The label must be a C string or have data() and size().
template <class Label>
range_state* begin_by(begin_function& begin, const Label& label) noexcept {
    constexpr bool records = COROSCOPE_ENABLED != 0;
    if constexpr (std::is_convertible_v<const Label&, const char*>) {
        const char* text = label;
        return begin(text, text == nullptr ? 0 : __builtin_strlen(text), records);
    } else {
        return begin(label.data(), label.size(), records);
    }
}
template <class Label>
range_state* begin_shared_range(const Label& label) noexcept {
    return detail::begin_by(detail::begin_shared_range, label);
}
template <class Label>
range_state* begin_shared_request(const Label& label) noexcept {
    return detail::begin_by(detail::begin_shared_request, label);
}

}  // namespace COROSCOPE_ABI
}  // namespace detail

inline namespace COROSCOPE_ABI {

/// A handle on a range; see above. One thread at a time must use a handle.
class range {
public:
    /// Refers to no range.
    range() noexcept = default;

    /// Begins a range. `label` must be a C string or have data() and size().
    template <class Label>
        requires(!std::is_base_of_v<range, Label>)
    explicit range(const Label& label) noexcept : state_(detail::begin_shared_range(label)) {}

    /// Ends the range now, on this thread, and then runs its end callbacks. If the range has ended,
    /// does nothing. If another thread is ending it, waits for that thread.
    void end() const noexcept {
        if (state_) detail::end_shared_range(*state_);
    }

    /// Returns whether the range has ended; true if the handle refers to no range.
    bool ended() const noexcept { return !state_ || detail::has_ended(*state_); }

    /// Calls `callback()` once, on the thread that ends the range, right after the end was
    /// recorded. If the range has ended, calls it at once. An exception of the callback is dropped
    /// and counted. Throws std::bad_alloc, and the exceptions of copying the callback.
    template <class Callback>
    void on_end(Callback&& callback) const {
        detail::call_on_end(state_.get(), static_cast<Callback&&>(callback));
    }

    const detail::range_ptr& coroscope_state() const noexcept { return state_; }

protected:
    /// Takes over a range that has begun.
    explicit range(detail::range_state* begun) noexcept : state_(begun) {}

private:
    detail::range_ptr state_;
};

}  // namespace COROSCOPE_ABI
}  // namespace coroscope
