// SPDX-License-Identifier: Apache-2.0
#pragma once

// scope: a labelled stretch of one block's execution, from construction to the end of the block. It
// survives co_await and thread hops. The macros of macro.hpp construct it; its site is constant
// data.
//
// Thread-safety: a scope begins and ends on the threads that run its block. It is noexcept,
// allocates nothing, takes no lock, makes no system call, and takes 16 bytes of a coroutine's
// frame.

#include <coroscope/config.hpp>
#include <coroscope/detail/scope_facts.hpp>
#include <coroscope/detail/thread_state.hpp>
#include <coroscope/site.hpp>

namespace coroscope::detail {

/// The start of a scope. The members deliberately have no initialisers: an inactive scope writes
/// one word.
struct scope_start {
    std::uint64_t ticks;  ///< below unbegun_ticks: nothing recorded when the scope began
    /// The task and thread of the start. If the scope is observed, its observation. If it is named
    /// while it is open, its open_entry.
    std::uint64_t mark;
};

/// Smaller values are not timestamps: an inactive scope stores the gate word here. That word is in
/// a register already; a zero would cost four more bytes of code per scope.
inline constexpr std::uint64_t unbegun_ticks = gate_live + 1;

/// Returns whether the end of the scope has any effect.
[[gnu::always_inline]] inline bool was_begun(const scope_start& start) noexcept {
    return start.ticks >= unbegun_ticks;
}

/// Returns `condition`, and makes the compiler expect it so rarely that it adds no padding before
/// the code for it.
[[gnu::always_inline]] constexpr bool hardly_ever(bool condition) noexcept {
    return __builtin_expect_with_probability(condition, false, 0.999999);
}

/// The ticks of an observed scope. No clock reaches this value, and no duration from it is short,
/// so the end takes the slow path.
inline constexpr std::uint64_t observed_ticks = std::uint64_t{1} << 63;

/// The ticks of a scope that is named while it is open (profile_options::open_scopes). Its end
/// takes the slow path, too.
inline constexpr std::uint64_t open_ticks = observed_ticks + 1;

[[gnu::always_inline]] inline bool is_observed(const scope_start& start) noexcept {
    return start.ticks == observed_ticks;
}

/// Records a scope that ends now. `start` must be the scope's own start: its address, in the frame
/// of a coroutine or on the stack, decides whether the scope may have been suspended. Caller: the
/// destructor, if was_begun().
COROSCOPE_API COROSCOPE_NO_PLT void end_scope(site& where, const scope_start* start) noexcept;

/// Begins a scope on the slow path: on an unregistered thread, on a machine without a usable
/// counter, or if the scope is observed or named while it is open. Not declared cold: the compiler
/// would move its calls away, with longer jumps.
COROSCOPE_API void begin_scope_slow(scope_start* start, site& where) noexcept;

/// As above, with values that observers may need.
COROSCOPE_API void begin_scope_slow(scope_start* start, site& where,
                                    const value_source& inputs) noexcept;

/// As above, for a scope that observers do not see.
COROSCOPE_API void begin_unobserved(scope_start* start) noexcept;

template <class Slow>
COROSCOPE_THREAD_ACCESS void begin_scope(scope_start& start, const Slow& begin_slow) noexcept {
    const std::int32_t gate = detail::load_gate();
    if (!detail::hardly_ever(detail::wants_scopes(gate))) {
        start.ticks = static_cast<std::uint32_t>(gate);
    } else if (gate <= gate_live) [[unlikely]] {  // signed, so true of a negative gate
        begin_slow(&start);
    } else {
        start.mark = detail::here().mark;
        start.ticks = detail::counter_ticks();
    }
}

[[gnu::always_inline]] inline void begin_scope(scope_start& start, site& where) noexcept {
    detail::begin_scope(
        start, [&where](scope_start* slow) noexcept { detail::begin_scope_slow(slow, where); });
}

struct begun_scope : scope_start {
    [[gnu::always_inline]] explicit begun_scope(site& where) noexcept {
        detail::begin_scope(*this, where);
    }
    begun_scope(const begun_scope&) = delete;
    begun_scope& operator=(const begun_scope&) = delete;
};

/// The automatic object of the scope macros. The site is a part of the type, so the object does not
/// store it. An aggregate, which must be initialised by {}: a constructor would be one more
/// function to compile per site. It is a class and not an alias, because the macros are used in
/// templates, and clang 19 rejects a site that an alias passes on.
template <bool Enabled, class Site>
struct selected_scope {
    begun_scope start{Site{}()};
    [[gnu::always_inline]] ~selected_scope() {
        if (detail::hardly_ever(detail::was_begun(start))) detail::end_scope(Site{}(), &start);
    }
};

// Replaces a scope whose category or level is compiled out. The type has size 0, because a
// coroutine's frame has room for every local variable, used or not. It has no constructor: clang's
// UBSan reports a constructor call on an object of no bytes.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#if defined(__clang__)
#pragma GCC diagnostic ignored "-Wzero-length-array"
#endif
struct zero_bytes {
    __extension__ char none[0];
};
struct no_scope {
    zero_bytes zero[1];
};
#pragma GCC diagnostic pop
static_assert(sizeof(no_scope) == 0);

template <class Site>
struct selected_scope<false, Site> : no_scope {};

}  // namespace coroscope::detail
