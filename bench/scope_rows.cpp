// SPDX-License-Identifier: Apache-2.0

// One scope: begin and end.

#include <coroscope/macro.hpp>
#include <coroscope/observer.hpp>

#include "harness.hpp"

namespace bench {
namespace {

// A function that the compiler must not analyse when it compiles the callers.
#ifdef __clang__
[[gnu::noinline]]
#else
[[gnu::noinline, gnu::noipa]]
#endif
void opaque() {
    clobber();
}

std::uint64_t empty_loop(std::uint64_t operations) {
    return repeat(operations, [] {});
}

std::uint64_t call_loop(std::uint64_t operations) {
    return repeat(operations, [] { opaque(); });
}

std::uint64_t two_reads(std::uint64_t operations) {
    return repeat(operations, [] {
        const std::uint64_t start = counter_ticks();
        keep(counter_ticks() - start);
    });
}

std::uint64_t scope_around_nothing(std::uint64_t operations) {
    return repeat(operations, [] { COROSCOPE("bench"); });
}

std::uint64_t scope_around_a_call(std::uint64_t operations) {
    return repeat(operations, [] {
        COROSCOPE("bench");
        opaque();
    });
}

// The same under an observer that does nothing.
std::uint64_t observed_scopes(std::uint64_t operations, double probability) {
    const auto handle = coroscope::add_global_observer(
        coroscope::observer([](const coroscope::scope_info&) {}).sampling_probability(probability));
    const std::uint64_t ticks = scope_around_nothing(operations);
    coroscope::remove_observer(handle);
    return ticks;
}

std::uint64_t after_observers(std::uint64_t operations) {
    observed_scopes(1, 1);
    return scope_around_nothing(operations);
}
std::uint64_t observed_always(std::uint64_t operations) { return observed_scopes(operations, 1); }
std::uint64_t observed_rarely(std::uint64_t operations) {
    return observed_scopes(operations, 1e-4);
}

}  // namespace

std::vector<row> scope_rows() {
    return {
        {"scope.inactive.empty", scope_around_nothing, empty_loop, empty_loop},
        {"scope.inactive.call", scope_around_a_call, call_loop, call_loop},
        {"observer.none", after_observers, empty_loop, empty_loop},
        {"observer.noop", observed_always, empty_loop, empty_loop},
        {"observer.sampled", observed_rarely, empty_loop, empty_loop},
        {"scope.recording.1", scope_around_nothing, two_reads, empty_loop, session_trace::open},
        {"scope.recording.2", scope_around_nothing, two_reads, empty_loop, session_trace::open, 2},
        {"scope.open.recording", scope_around_nothing, two_reads, empty_loop,
         session_trace::naming},
        {"scope.dropped.1", scope_around_nothing, two_reads, empty_loop, session_trace::full},
        {"scope.dropped.2", scope_around_nothing, two_reads, empty_loop, session_trace::full, 2},
    };
}

}  // namespace bench
