// SPDX-License-Identifier: Apache-2.0
#pragma once

// record_function: a range whose label is known only at run time, in three forms.
//
//   coroscope::record_function range(name);  // from here to the end of the block
//   auto timed = coroscope::record_function::of("parse", parse);  // a decorator of a callable
//   coroscope::record_function range; range.begin("upload"); … range.end();  // without a block
//
// The label is copied into the trace when the range begins. If nothing records, the label is not
// read. begin() and end() may be called on different threads and in different tasks; the user must
// order the calls. A second end, or an end of a range that never began, does nothing. A range that
// ends with a future is attached to it (future_adaptor.hpp) and must then live until the future
// completes. For that purpose coroscope::range, whose handle is shared, should be preferred.

#include <type_traits>

#include <coroscope/config.hpp>
#include <coroscope/detail/hand_over.hpp>
#include <coroscope/detail/invoke.hpp>
#include <coroscope/detail/range_start.hpp>
#include <coroscope/detail/value_source.hpp>
#include <coroscope/range.hpp>
#include <coroscope/scope.hpp>

#if COROSCOPE_ENABLED
#define COROSCOPE_DETAIL_NEEDED
#else
#define COROSCOPE_DETAIL_NEEDED [[gnu::weak]]  // without end callbacks a program needs no library
#endif

namespace coroscope {

namespace detail {

/// Makes a shared range of a begun one, for callbacks and futures. Returns null if memory is short.
COROSCOPE_API range_state* share_range(const range_start& begun) noexcept;
/// Offers outputs as for a range_start, unless the range has ended or is attached.
COROSCOPE_API void offer_outputs(const range_state& state, const value_source& outputs) noexcept;
/// Releases the borrower's reference, and ends the range if it is open. `died`: the borrower was
/// destroyed, which must not happen before the range's future has completed.
COROSCOPE_DETAIL_NEEDED COROSCOPE_API void leave_shared_range(range_state& state,
                                                              bool died) noexcept;

}  // namespace detail

inline namespace COROSCOPE_ABI {

/// With COROSCOPE_ENABLED=0 nothing is recorded, but end callbacks still run. Not thread-safe, as
/// described above.
class [[nodiscard]] record_function {
public:
    record_function() noexcept = default;

    /// Begins a range. `label` must be a C string or have data() and size(). Observers that need
    /// inputs see the values of `inputs`, in the form of COROSCOPE_ARGS.
    template <class Label, class... Inputs>
    [[nodiscard("the range ends at once: name this object")]] explicit record_function(
        const Label& label, const Inputs&... inputs) noexcept {
        begin_as({detail::range_form::block}, label, inputs...);
    }
    /// As above, at a place in a sequence of deferred work (sequence.hpp).
    template <class Label, class... Inputs>
    [[nodiscard("the range ends at once: name this object")]] record_function(
        const Label& label, const deferred& place, const Inputs&... inputs) noexcept {
        begin_as({detail::range_form::block, place}, label, inputs...);
    }
    record_function(const record_function&) = delete;
    record_function& operator=(const record_function&) = delete;
    ~record_function() { finish(true); }

    /// Begins a range. If this object has an open range, ends that first.
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

    /// Offers the results of the range, as text, to observers that need outputs. Must be called
    /// before the range ends, and before it is attached to a future, which may end it on another
    /// thread.
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

    /// Returns the shared state of the range, which the first call makes. Returns null if the range
    /// is not open or memory is short.
    detail::range_state* coroscope_state() noexcept {
        if (open_ && shared_ == nullptr) {
            shared_ = detail::share_range(range_);
            if (shared_ != nullptr) range_.start.ticks = 0;
        }
        return shared_;
    }

    /// Returns a callable that records a range of this label around each call. Arguments and result
    /// are its inputs and outputs. The label must outlive the callable.
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
        if (COROSCOPE_ENABLED != 0 && range_.start.ticks != 0) [[unlikely]] {
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
