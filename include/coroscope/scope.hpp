// SPDX-License-Identifier: Apache-2.0
#pragma once

// scope: a labelled stretch of one block's execution, from construction to the end of the block.
// It survives co_await and thread hops. The macros of macro.hpp make it; its site is constant data.
//
// Threading: begins and ends on whatever thread runs the block. noexcept, no allocation, no lock, no
// system call; 16 bytes of frame in a coroutine.

#include <coroscope/config.hpp>
#include <coroscope/detail/scope_facts.hpp>
#include <coroscope/detail/thread_state.hpp>
#include <coroscope/site.hpp>

namespace coroscope::detail {

/// What a scope remembers of its start. Deliberately without initialisers: an inactive scope writes
/// one word.
struct scope_start {
    std::uint64_t ticks;  ///< below unbegun_ticks: nothing was recording when the scope began
    std::uint64_t mark;   ///< task and thread of the start; of an observed scope its observation
};

/// Below it is no clock's value but what the gate was: it is in a register already, and zero would be four bytes of
/// code more per scope.
inline constexpr std::uint64_t unbegun_ticks = gate_live + 1;

/// Is there anything to do at its end?
[[gnu::always_inline]] inline bool was_begun(const scope_start& start) noexcept {
    return start.ticks >= unbegun_ticks;
}

/// `condition`, for the compiler to expect so rarely that it spends no padding on where the code for it begins.
[[gnu::always_inline]] constexpr bool hardly_ever(bool condition) noexcept {
    return __builtin_expect_with_probability(condition, false, 0.999999);
}

/// The ticks of a scope that observers see: no clock shows them, and no duration from them is short, so that the
/// end goes the slow way.
inline constexpr std::uint64_t observed_ticks = std::uint64_t{1} << 63;

[[gnu::always_inline]] inline bool is_observed(const scope_start& start) noexcept {
    return start.ticks == observed_ticks;
}

/// Records a scope that ends now. `start` is where the scope lives: in the frame of a coroutine or
/// on the stack, which tells whether it may have been suspended.
COROSCOPE_API COROSCOPE_NO_PLT void end_scope(site& where, const scope_start* start) noexcept;

/// Begins a scope the careful way: an unregistered thread, a machine without a usable counter, or a scope
/// that somebody observes. Not declared cold: calls of it would be put elsewhere, with longer jumps there and back.
COROSCOPE_API void begin_scope_slow(scope_start* start, site& where) noexcept;

/// The same, with values that observers may ask for.
COROSCOPE_API void begin_scope_slow(scope_start* start, site& where,
                                    const value_source& inputs) noexcept;

/// The same for what only sessions are told.
COROSCOPE_API void begin_unobserved(scope_start* start) noexcept;

template <class Slow>
COROSCOPE_THREAD_ACCESS void begin_scope(scope_start& start, const Slow& begin_slow) noexcept {
    const std::int32_t gate = load_gate();
    if (!hardly_ever(wants_scopes(gate))) {
        start.ticks = static_cast<std::uint32_t>(gate);
    } else if (gate <= gate_live) [[unlikely]] {  // negative: the same comparison, read with sign
        begin_slow(&start);
    } else {
        start.mark = here().mark;
        start.ticks = counter_ticks();
    }
}

[[gnu::always_inline]] inline void begin_scope(scope_start& start, site& where) noexcept {
    begin_scope(start, [&where](scope_start* slow) noexcept { begin_scope_slow(slow, where); });
}

struct begun_scope : scope_start {
    [[gnu::always_inline]] explicit begun_scope(site& where) noexcept { begin_scope(*this, where); }
    begun_scope(const begun_scope&) = delete;
    begun_scope& operator=(const begun_scope&) = delete;
};

/// The automatic object of the scope macros. The site is part of the type, so that nothing of it is
/// stored. An aggregate, to be initialised by {}: a constructor would be one more function to compile per site. A
/// class itself and no alias: the macros stand in templates, where clang 19 takes a site amiss that an alias passes on.
template <bool Enabled, site& Site>
struct selected_scope {
    begun_scope start{Site};
    [[gnu::always_inline]] ~selected_scope() {
        if (hardly_ever(was_begun(start))) end_scope(Site, &start);
    }
};

// What stands for a scope whose category or level is compiled out: a type of size 0, because a
// coroutine's frame has a place for every local variable, used or not. Without constructors: for an object of no bytes
// clang's UBSan finds no room at a call of one.
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

template <site& Site>
struct selected_scope<false, Site> : no_scope {};

}  // namespace coroscope::detail
