// SPDX-License-Identifier: Apache-2.0
#pragma once

// record_function: a range whose label is known only at run time, in three forms.
//
//   coroscope::record_function range(name);             // from here to the end of the block
//   auto timed = coroscope::record_function::of("parse", parse);   // a decorator of a callable
//   coroscope::record_function range; range.begin("upload"); … range.end();   // no block encloses it
//
// The label is copied into the trace when the range begins, and not looked at when nothing records.
// begin() and end() may stand on different threads and in different tasks; the user orders them.
// Ending a range twice, or one that never began, does nothing. A range that ends when a future
// completes is attached to it (future_adaptor.hpp); it must then live until that: prefer
// coroscope::range, whose handle is shared.

#include <type_traits>

#include <coroscope/config.hpp>
#include <coroscope/detail/hand_over.hpp>
#include <coroscope/detail/invoke.hpp>
#include <coroscope/detail/range_start.hpp>
#include <coroscope/detail/value_source.hpp>
#include <coroscope/range.hpp>
#include <coroscope/scope.hpp>

namespace coroscope {

namespace detail {

/// Makes a shared range of what was begun, for callbacks and futures; null where there is no memory.
COROSCOPE_API range_state* share_range(const range_start& begun) noexcept;
/// As of a begun range, unless it has ended or is attached.
COROSCOPE_API void offer_outputs(const range_state& state, const value_source& outputs) noexcept;
/// The borrower's hold ends: the range, too, if it has not. `died`: by destruction, which must not
/// happen before its future has completed.
COROSCOPE_API void leave_shared_range(range_state& state, bool died) noexcept;

}  // namespace detail

inline namespace COROSCOPE_ABI {

/// With COROSCOPE_ENABLED=0 nothing is recorded, and end callbacks run all the same.
class record_function {
public:
    record_function() noexcept = default;

    /// Begins. `label` is anything with data() and size(), or a C string. Observers that need inputs see
    /// the values of `inputs`, as COROSCOPE_ARGS shows them.
    template <class Label, class... Inputs>
    explicit record_function(const Label& label, const Inputs&... inputs) noexcept {
        begin_as({detail::range_form::block}, label, inputs...);
    }
    /// The same, at a place in a sequence of deferred work (sequence.hpp).
    template <class Label, class... Inputs>
    record_function(const Label& label, const deferred& place, const Inputs&... inputs) noexcept {
        begin_as({detail::range_form::block, place}, label, inputs...);
    }
    record_function(const record_function&) = delete;
    record_function& operator=(const record_function&) = delete;
    ~record_function() { finish(true); }

    /// Begins the range; one that is open is ended first.
    template <class Label, class... Inputs>
    void begin(const Label& label, const Inputs&... inputs) noexcept {
        finish(false);
        begin_as({detail::range_form::by_hand}, label, inputs...);
    }
    template <class Label, class... Inputs>
    void begin(const Label& label, const deferred& place, const Inputs&... inputs) noexcept {
        finish(false);
        begin_as({detail::range_form::by_hand, place}, label, inputs...);
    }

    /// What the range results in, for observers that need outputs: as text, before its end, and before it is attached
    /// to a future, which may end it on another thread.
    template <class... Outputs>
    void outputs(const Outputs&... outputs) const noexcept {
        if (!detail::is_observed(range_.start) && shared_ == nullptr) [[likely]]
            return;
        detail::with_values(
            [this](const detail::value_source& values) {
                if (shared_ == nullptr)
                    detail::offer_outputs(range_, values);
                else
                    detail::offer_outputs(*shared_, values);
            },
            outputs...);
    }

    /// Ends the range now, on this thread, and runs its end callbacks.
    void end() noexcept { finish(false); }

    /// Calls `callback()` once, as coroscope::range does.
    template <class Callback>
    void on_end(Callback&& callback) {
        detail::call_on_end(coroscope_state(), static_cast<Callback&&>(callback));
    }

    /// The shared half, made at the first call; null where the range is not open or memory is short.
    detail::range_state* coroscope_state() noexcept {
        if (open_ && shared_ == nullptr) {
            shared_ = detail::share_range(range_);
            if (shared_ != nullptr) range_.start.ticks = 0;
        }
        return shared_;
    }

    /// A callable that records a range of this label around each call; arguments and result are its
    /// inputs and outputs. The label must outlive it.
    template <class Callable>
    static auto of(const char* label, Callable callable) {
        return [label,
                callable = detail::moved(callable)](auto&&... arguments) mutable -> decltype(auto) {
            const record_function range(label, arguments...);
            using result = std::invoke_result_t<Callable&, decltype(arguments)...>;
            if constexpr (std::is_void_v<result> || !std::is_move_constructible_v<result>) {
                return detail::invoke(callable, static_cast<decltype(arguments)&&>(arguments)...);
            } else {
                result given =
                    detail::invoke(callable, static_cast<decltype(arguments)&&>(arguments)...);
                range.outputs(given);
                return given;
            }
        };
    }

private:
    template <class Label, class... Inputs>
    void begin_as(detail::range_traits traits, const Label& label,
                  const Inputs&... inputs) noexcept {
        open_ = true;
        if (COROSCOPE_ENABLED == 0 || !detail::wants_scopes(detail::load_gate())) [[likely]]
            return;
        const auto begin_with = [&](const detail::value_source* values) noexcept {
            traits.inputs = values;
            if constexpr (std::is_convertible_v<const Label&, const char*>) {
                const char* text = label;
                detail::begin_range(range_, text, text == nullptr ? 0 : __builtin_strlen(text),
                                    traits);
            } else {
                detail::begin_range(range_, label.data(), label.size(), traits);
            }
        };
        if constexpr (sizeof...(inputs) == 0) {
            begin_with(nullptr);
        } else {
            detail::with_values([&](const detail::value_source& values) { begin_with(&values); },
                                inputs...);
        }
    }

    void finish(bool died) noexcept {
        if (!open_) return;
        open_ = false;
        if (range_.start.ticks != 0) [[unlikely]] {
            detail::end_range(range_, detail::range_extent::block);
            range_.start.ticks = 0;
        }
        if (shared_ != nullptr) [[unlikely]]
            detail::leave_shared_range(*detail::taken(shared_), died);
    }

    detail::range_start range_;
    detail::range_state* shared_ = nullptr;
    bool open_ = false;
};

}  // namespace COROSCOPE_ABI
}  // namespace coroscope
