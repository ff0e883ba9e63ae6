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
// Ending a range twice, or one that never began, does nothing.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <coroscope/config.hpp>
#include <coroscope/scope.hpp>

namespace coroscope {

namespace detail {

/// A begun range: its start and where its label stands in the trace. 24 bytes.
struct range_start {
    scope_start start{0, 0};
    std::uint32_t label = 0;  ///< serial of the label record of the starting thread
};
COROSCOPE_API void begin_range(range_start& range, const char* label, std::size_t size) noexcept;
COROSCOPE_API void end_range(const range_start& range) noexcept;

}  // namespace detail

inline namespace COROSCOPE_ABI {

/// With COROSCOPE_ENABLED=0 it does nothing.
class record_function {
public:
    record_function() noexcept = default;

    /// Begins. `label` is anything with data() and size(), or a C string.
    template <class Label>
    explicit record_function(const Label& label) noexcept {
        begin(label);
    }
    record_function(const record_function&) = delete;
    record_function& operator=(const record_function&) = delete;
    ~record_function() { end(); }

    /// Begins the range; one that is open is ended first.
    template <class Label>
    void begin(const Label& label) noexcept {
        end();
        if (COROSCOPE_ENABLED == 0 || detail::load_gate() == 0) [[likely]]
            return;
        if constexpr (std::is_convertible_v<const Label&, const char*>) {
            const char* text = label;
            detail::begin_range(range_, text, __builtin_strlen(text));
        } else {
            detail::begin_range(range_, label.data(), label.size());
        }
    }

    /// Ends the range now, on this thread.
    void end() noexcept {
        if (range_.start.ticks == 0) [[likely]]
            return;
        detail::end_range(range_);
        range_.start.ticks = 0;
    }

    /// A callable that records a range of this label around each call. The label must outlive it.
    template <class Callable>
    static auto of(const char* label, Callable callable) {
        return
            [label, callable = std::move(callable)](auto&&... arguments) mutable -> decltype(auto) {
                const record_function range(label);
                return callable(static_cast<decltype(arguments)&&>(arguments)...);
            };
    }

private:
    detail::range_start range_;
};

}  // namespace COROSCOPE_ABI
}  // namespace coroscope
