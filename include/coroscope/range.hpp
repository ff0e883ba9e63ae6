// SPDX-License-Identifier: Apache-2.0
#pragma once

// range: a labelled stretch that ends when something completes or somebody says so, not where a block
// ends.
//
//   coroscope::range upload("upload");             // begins
//   upload.on_end([] { … });                       // end callbacks, in the order they were added
//   upload.end();                                  // or when the last handle goes
//
// A handle is shared: copies name the same range, and the last one that goes ends it. The label is copied
// when the range begins, the context is captured. Handles are values: each belongs to one thread at a
// time, the range itself may be ended, and watched, from any thread. future_adaptor.hpp ends a range when a
// future completes.
//
// A range costs one allocation, whether anything records or not. Where there is no memory the handle names
// no range: ending it does nothing, and a callback given to it runs at once. With COROSCOPE_ENABLED=0
// nothing is recorded and callbacks run all the same.

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

/// What went wrong with ranges, in this process so far. The first of each kind writes one line to stderr.
struct range_faults {
    std::uint64_t ends_after_stop = 0;       ///< ended when the session that recorded them was over
    std::uint64_t borrowed_died_early = 0;   ///< a record_function went before its future completed
    std::uint64_t attached_twice = 0;        ///< refused: a range ends with one future
    std::uint64_t callbacks_that_threw = 0;  ///< an end callback's exception, dropped
};
/// Any thread. Figures may be of slightly different moments.
COROSCOPE_API range_faults current_range_faults() noexcept;

namespace detail {

class range_state;
COROSCOPE_API void retain(range_state& state) noexcept;
COROSCOPE_API void release(range_state& state) noexcept;

/// Begins a range; null where there is no memory. `records`: whether it may be recorded.
COROSCOPE_API range_state* begin_shared_range(const char* label, std::size_t size,
                                              bool records) noexcept;
/// True for the one call that ended it. Returns when the end callbacks have run, whoever ran them.
COROSCOPE_API bool end_shared_range(range_state& state) noexcept;
COROSCOPE_API bool has_ended(const range_state& state) noexcept;
COROSCOPE_API bool add_end_callback(range_state& state, callback& added) noexcept;
COROSCOPE_API void note_thrown_callback() noexcept;

using range_ptr = counted_ptr<range_state>;

/// A user's end callback on its way through the list.
template <class Function>
class end_callback final : public callback {
public:
    explicit end_callback(Function function) : callback(call), function_(detail::moved(function)) {}

    static void run_guarded(Function& function) noexcept {
        COROSCOPE_DETAIL_TRY { function(); }
        COROSCOPE_DETAIL_CATCH(...) { note_thrown_callback(); }
    }

private:
    static void call(callback& self) noexcept {
        auto& mine = static_cast<end_callback&>(self);
        run_guarded(mine.function_);
        delete &mine;
    }

    Function function_;
};

/// Adds a callable to the range's end callbacks, or runs it where the range has ended.
template <class Function>
void call_on_end(range_state* state, Function&& function) {
    using stored = std::decay_t<Function>;
    if (state != nullptr && !has_ended(*state)) {
        auto* added = new end_callback<stored>(static_cast<Function&&>(function));
        if (!add_end_callback(*state, *added)) added->run(*added);
    } else {
        stored now(static_cast<Function&&>(function));
        end_callback<stored>::run_guarded(now);
    }
}

inline namespace COROSCOPE_ABI {

/// Label's text: anything with data() and size(), or a C string.
template <class Label>
range_state* begin_shared_range(const Label& label) noexcept {
    constexpr bool records = COROSCOPE_ENABLED != 0;
    if constexpr (std::is_convertible_v<const Label&, const char*>) {
        const char* text = label;
        return detail::begin_shared_range(text, text == nullptr ? 0 : __builtin_strlen(text),
                                          records);
    } else {
        return detail::begin_shared_range(label.data(), label.size(), records);
    }
}

}  // namespace COROSCOPE_ABI
}  // namespace detail

inline namespace COROSCOPE_ABI {

class range {
public:
    /// Names no range.
    range() noexcept = default;

    /// Begins. `label` is anything with data() and size(), or a C string.
    template <class Label>
        requires(!std::is_base_of_v<range, Label>)
    explicit range(const Label& label) noexcept : state_(detail::begin_shared_range(label)) {}

    /// Ends the range now, on this thread, then runs its end callbacks. Where that has been done it does
    /// nothing; where another thread is at it, it waits for that.
    void end() const noexcept {
        if (state_) detail::end_shared_range(*state_);
    }

    bool ended() const noexcept { return !state_ || detail::has_ended(*state_); }

    /// Calls `callback()` once, on the thread that ends the range, right after the end was recorded; at
    /// once where it has ended. What the callback throws is dropped and counted. Throws what copying the
    /// callback throws, and std::bad_alloc.
    template <class Callback>
    void on_end(Callback&& callback) const {
        detail::call_on_end(state_.get(), static_cast<Callback&&>(callback));
    }

    const detail::range_ptr& coroscope_state() const noexcept { return state_; }

private:
    detail::range_ptr state_;
};

}  // namespace COROSCOPE_ABI
}  // namespace coroscope
