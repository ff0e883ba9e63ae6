// SPDX-License-Identifier: Apache-2.0
#pragma once

// The scope of COROSCOPE_ARGS: a scope that writes its arguments into the trace when it begins, if
// the session asks for them.

#include <coroscope/arguments.hpp>
#include <coroscope/detail/value_source.hpp>
#include <coroscope/scope.hpp>
#include <coroscope/shapes.hpp>

namespace coroscope::detail {

/// The forms of arguments that the session of this thread asks for; 0: none.
enum argument_wishes : std::uint32_t { wants_values = 1U << 0, wants_shapes = 1U << 1 };
COROSCOPE_API std::uint32_t arguments_wanted() noexcept;

/// Writes the arguments of the scope at `where` that began with `start`.
COROSCOPE_API void record_arguments(site& where, const scope_start& start,
                                    const argument_writer& values) noexcept;

template <class... Arguments>
[[gnu::noinline]] void capture_shapes(const scope_start& start,
                                      const Arguments&... arguments) noexcept {
    shape_writer writer;
    (detail::write_shape(writer, arguments), ...);
    detail::record_shapes(start, writer);
}

template <class... Arguments>
[[gnu::noinline]] void capture_arguments(site& where, const scope_start& start,
                                         const Arguments&... arguments) noexcept {
    const std::uint32_t wanted = detail::arguments_wanted();
    if ((wanted & wants_shapes) != 0) detail::capture_shapes(start, arguments...);
    if ((wanted & wants_values) == 0) return;
    argument_writer writer;
    detail::write_arguments(writer, arguments...);
    detail::record_arguments(where, start, writer);
}

template <class... Arguments>
[[gnu::noinline]] void begin_with_arguments(scope_start* start, site& where,
                                            const Arguments&... arguments) noexcept {
    detail::with_values(
        [start, &where](const value_source& inputs) {
            detail::begin_scope_slow(start, where, inputs);
        },
        arguments...);
}

/// A class of its own, so that it is compiled once for arguments of the same types.
struct arguments_start : scope_start {
    template <class... Arguments>
    [[gnu::always_inline]] explicit arguments_start(site& where,
                                                    const Arguments&... arguments) noexcept {
        // Inlined, because g++ would else write its captures into memory before the test of the
        // gate.
        detail::begin_scope(*this, [&](scope_start* slow) __attribute__((always_inline)) {
            detail::begin_with_arguments(slow, where, arguments...);
        });
        if (detail::was_begun(*this) && detail::arguments_wanted() != 0) [[unlikely]]
            detail::capture_arguments(where, *this, arguments...);
    }
    arguments_start() noexcept : scope_start{0, 0} {}
    arguments_start(const arguments_start&) = delete;
    arguments_start& operator=(const arguments_start&) = delete;
};

/// As selected_scope. If it is compiled out, its arguments are type-checked and not evaluated.
template <bool Enabled, class Site>
class arguments_scope {
public:
    /// Replaces a scope whose arguments must not be evaluated.
    static arguments_scope none() noexcept { return arguments_scope(nothing()); }
    template <class... Arguments>
    [[gnu::always_inline]] explicit arguments_scope(const Arguments&... arguments) noexcept
        : start_(Site{}(), arguments...) {}
    [[gnu::always_inline]] ~arguments_scope() {
        if (detail::hardly_ever(detail::was_begun(start_))) detail::end_scope(Site{}(), &start_);
    }

private:
    struct nothing {};
    explicit arguments_scope(nothing) noexcept {}

    arguments_start start_;
};

template <class Site>
struct arguments_scope<false, Site> : no_scope {
    // Not a constructor; see no_scope.
    [[gnu::always_inline]] static arguments_scope none() noexcept { return {}; }
    arguments_scope() = default;
    template <class... Arguments>
    explicit arguments_scope(const Arguments&...) noexcept {}
};

}  // namespace coroscope::detail
