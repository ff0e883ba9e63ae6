// SPDX-License-Identifier: Apache-2.0
#include "option_checks.hpp"

#include <fcntl.h>

#include <coroscope/trace/format.hpp>

#include "../base/kept_errno.hpp"

namespace coroscope::runtime::inline sessions {
namespace {

// The trace's header stores the policy by its number, so both enumerations must agree.
constexpr bool is_same(overflow one, trace::overflow_policy other) noexcept {
    return static_cast<std::uint32_t>(one) == static_cast<std::uint32_t>(other);
}
static_assert(is_same(overflow::drop_newest, trace::overflow_policy::drop_newest) &&
              is_same(overflow::overwrite_oldest, trace::overflow_policy::overwrite_oldest) &&
              is_same(overflow::wait, trace::overflow_policy::wait));

// Smaller files would consist of names, and larger ones could not grow to twice their size.
constexpr std::size_t least_rotation = std::size_t{1} << 20;
constexpr std::size_t most_rotation = std::size_t{1} << 46;

struct check {
    bool (*fails)(const profile_options&) noexcept;
    const char* message;
};

constexpr check refusals[] = {
    {[](const profile_options& options) noexcept { return options.policy > overflow::wait; },
     "The policy is none of drop_newest, overwrite_oldest and wait: give one of these."},
    {[](const profile_options& options) noexcept {
         return options.output != nullptr && *options.output == '\0';
     },
     "The path of the trace file is empty: give one, or null for a trace in memory."},
    {[](const profile_options& options) noexcept {
         return !(options.budget_percent >= 0 && options.budget_percent <= 100);
     },
     "The budget is not a percentage: give 0 to 100."},
    {[](const profile_options& options) noexcept {
         return options.rotate_bytes != 0 && (options.output == nullptr || !options.all_threads);
     },
     "A session with several files needs an output file and records all threads: give output and "
     "all_threads."},
    {[](const profile_options& options) noexcept {
         return options.rotate_bytes != 0 && options.policy == overflow::overwrite_oldest;
     },
     "A session with several files overwrites nothing: give the policy drop_newest or wait."},
    {[](const profile_options& options) noexcept {
         return options.rotate_bytes != 0 &&
                (options.rotate_bytes < least_rotation || options.rotate_bytes > most_rotation);
     },
     "The size of each file is too small or too large: give 1 MiB or more."},
    {[](const profile_options& options) noexcept {
         return options.rotate_bytes != 0 && options.keep_files == 0;
     },
     "A session keeps one file at least: give keep_files 1 or more."},
};

constexpr check replacements[] = {
    {[](const profile_options& options) noexcept {
         return usable_chunk_bytes(options.chunk_bytes) != options.chunk_bytes;
     },
     "chunk_bytes is not a multiple of 4096 between 4096 and 1048576: the next smaller one is "
     "used, "
     "or "
     "4096."},
    {[](const profile_options& options) noexcept { return options.node_id < -1; },
     "node_id is negative: the trace names no node. Give 0 or more, or -1 for none."},
    {[](const profile_options& options) noexcept { return options.crash_report < -1; },
     "crash_report is not a descriptor: crashes are not reported. Give an open one, or -1 for "
     "none."},
    {[](const profile_options& options) noexcept {
         const kept_errno programs;
         return options.crash_report >= 0 && ::fcntl(options.crash_report, F_GETFD) < 0;
     },
     "crash_report is not an open descriptor: crashes are reported in the trace only."},
};

template <std::size_t Count>
const char* first_of(const check (&checks)[Count], const profile_options& options) noexcept {
    for (const check& each : checks)
        if (each.fails(options)) return each.message;
    return nullptr;
}

}  // namespace

const char* why_no_session(const profile_options& options) noexcept {
    return first_of(refusals, options);
}

const char* what_is_replaced(const profile_options& options) noexcept {
    const char* message = first_of(replacements, options);
    return message == nullptr ? "" : message;
}

}  // namespace coroscope::runtime::inline sessions
