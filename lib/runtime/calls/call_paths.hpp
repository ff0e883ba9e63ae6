// SPDX-License-Identifier: Apache-2.0
#pragma once

// The calls on a thread's stack, found by a tree of the paths that were seen before. A step of a
// path is a word of the stack: a return address, or a frame pointer on which the place of the next
// return address depends. The unwind tables of the program say at the first sight of a step which
// word is the next one. Afterwards the walk compares words.
//
// Thread-safe. The first walk along a path takes the lock of the dynamic loader; others take none.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace coroscope::runtime::inline calls {

/// A step of a path. Steps are never freed, and do not change once they can be reached.
struct call_step {
    std::uintptr_t word;  ///< the value; of a frame pointer, its distance from the walk's frame
    std::uint32_t place;  ///< bytes from the walk's frame
    bool is_frame_pointer;
    const call_step* before;             ///< null for the first step of a path
    std::atomic<const call_step*> next;  ///< null: the path ends here
    // The site that was first kept for the end of the path; `site` is written last.
    mutable std::atomic<bool> keeps;
    mutable std::atomic<std::uint32_t> site;
    mutable std::atomic<const void*> type;
    mutable std::atomic<const void*> operation;
    mutable std::atomic<const void*> location;
};

/// A path has at most this many return addresses.
inline constexpr std::size_t most_calls = 40;

/// The memory of a stack.
struct stack_range {
    std::uintptr_t low;
    std::uintptr_t bytes;
};

/// Asks for paths for good, and takes the memory for them. Until then none is looked for, nor if
/// memory is short. Must be called by one thread at a time.
void look_for_call_paths() noexcept;
extern constinit std::atomic<bool> call_paths_wanted;
[[gnu::always_inline]] inline bool wants_call_paths() noexcept {
    return call_paths_wanted.load(std::memory_order_relaxed);
}

/// Returns the end of the path of the calls in which the caller runs, the caller's own first.
/// Returns null if the thread does not run on that stack, if a rule leads out of it, or if there
/// are too many paths.
const call_step* find_call_path(stack_range stack) noexcept;

/// The texts of a site: the addresses of type, operation and location.
struct call_names {
    const char* type;
    const char* operation;
    const void* location;
};

/// Returns the site that was kept for the path's end, if it has these names; else 0.
[[gnu::always_inline]] inline std::uint32_t kept_site(const call_step& end,
                                                      const call_names& of) noexcept {
    const std::uint32_t site = end.site.load(std::memory_order_acquire);  // pairs with keep_site()
    return end.type.load(std::memory_order_relaxed) == of.type &&
                   end.operation.load(std::memory_order_relaxed) == of.operation &&
                   end.location.load(std::memory_order_relaxed) == of.location
               ? site
               : 0;
}
/// Keeps the first site only.
void keep_site(const call_step& end, const call_names& of, std::uint32_t site) noexcept;

/// Writes the path's return addresses, less one each so that they are in the calls, innermost
/// first. Returns their number.
std::size_t calls_of(const call_step& end, std::uint64_t (&calls)[most_calls]) noexcept;

}  // namespace coroscope::runtime::inline calls
