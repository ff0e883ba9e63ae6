// SPDX-License-Identifier: Apache-2.0
#pragma once

// The scope of COROSCOPE_ARGS: a scope whose arguments go into the trace when it begins, if the
// session asks for them.

#include <coroscope/arguments.hpp>
#include <coroscope/scope.hpp>

namespace coroscope::detail {

/// Does the session that records on this thread want arguments?
COROSCOPE_API bool arguments_wanted() noexcept;

/// Writes the arguments of the scope at `where` that began at `start_ticks`.
COROSCOPE_API void record_arguments(site& where, std::uint64_t start_ticks,
                                    const argument_writer& values) noexcept;

template <class... Arguments>
[[gnu::noinline]] void capture_arguments(site& where, std::uint64_t start_ticks,
                                         const Arguments&... arguments) noexcept {
    argument_writer writer;
    bool first = true;
    ((first ? void(first = false) : writer.text(", ", 2), write_argument(writer, arguments)), ...);
    record_arguments(where, start_ticks, writer);
}

template <site& Site>
class arguments_scope {
public:
    template <class... Arguments>
    [[gnu::always_inline]] explicit arguments_scope(const Arguments&... arguments) noexcept {
        begin_scope(start_);
        if (start_.ticks != 0 && arguments_wanted()) [[unlikely]]
            capture_arguments(Site, start_.ticks, arguments...);
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
