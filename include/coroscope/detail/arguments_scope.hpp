// SPDX-License-Identifier: Apache-2.0
#pragma once

// The scope of COROSCOPE_ARGS: a scope whose arguments go into the trace when it begins, if the
// session asks for them.

#include <coroscope/arguments.hpp>
#include <coroscope/scope.hpp>

namespace coroscope::detail {

/// Does the session that records on this thread want arguments?
COROSCOPE_API bool arguments_wanted() noexcept;

/// Writes the arguments of the scope at `where` that began so.
COROSCOPE_API void record_arguments(site& where, const scope_start& start,
                                    const argument_writer& values) noexcept;

template <class... Arguments>
[[gnu::noinline]] void capture_arguments(site& where, const scope_start& start,
                                         const Arguments&... arguments) noexcept {
    argument_writer writer;
    write_arguments(writer, arguments...);
    record_arguments(where, start, writer);
}

template <class... Arguments>
[[gnu::noinline]] void begin_with_arguments(scope_start* start, site& where,
                                            const Arguments&... arguments) noexcept {
    with_values(
        [start, &where](const value_source& inputs) { begin_scope_slow(start, where, inputs); },
        arguments...);
}

template <site& Site>
class arguments_scope {
public:
    template <class... Arguments>
    [[gnu::always_inline]] explicit arguments_scope(const Arguments&... arguments) noexcept {
        begin_scope(start_, [&](scope_start* slow) noexcept {
            begin_with_arguments(slow, Site, arguments...);
        });
        if (start_.ticks != 0 && arguments_wanted()) [[unlikely]]
            capture_arguments(Site, start_, arguments...);
    }
    [[gnu::always_inline]] ~arguments_scope() {
        if (start_.ticks != 0) [[unlikely]]
            end_scope(Site, &start_);
    }
    arguments_scope(const arguments_scope&) = delete;
    arguments_scope& operator=(const arguments_scope&) = delete;

private:
    scope_start start_;
};

}  // namespace coroscope::detail
