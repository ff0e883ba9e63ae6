// SPDX-License-Identifier: Apache-2.0
#pragma once

// The sites of Asio's operations and of the coroutines that co_spawn starts.

#include <atomic>
#include <cstdint>

#include "../../runtime/calls/call_paths.hpp"
#include "../../runtime/writer/recorder.hpp"
#include "../../runtime/writer/thread_record.hpp"

namespace coroscope::asio {

/// A table of the recently used kinds of operations and their sites. An entry is one word: the
/// upper bits of a hash of the three addresses (type, operation, location), and the id of the site.
/// A kind is stored only after tracked code has made a scheduler, so a lookup that succeeds need
/// not check for a tracked scheduler again.
class recent_operations {
public:
    /// Returns false if the kind is not in the table.
    [[gnu::always_inline]] static bool find(const char* type, const char* operation,
                                            const void* location, std::uint32_t& site) noexcept {
        const std::uint64_t hash = hash_of(type, operation, location);
        const std::uint64_t entry = slot_of(hash).load(std::memory_order_relaxed);
        site = static_cast<std::uint32_t>(entry & (kept_bit - 1));
        return (entry ^ hash) >> site_bits == 0;
    }

    static void keep(const char* type, const char* operation, const void* location,
                     std::uint32_t site) noexcept {
        if (site >= kept_bit) return;
        const std::uint64_t hash = hash_of(type, operation, location);
        slot_of(hash).store(hash | site, std::memory_order_relaxed);
    }

private:
    // The lower bits are left to the site's id. The hash is never zero, so an empty slot never
    // matches.
    [[gnu::always_inline]] static std::uint64_t hash_of(const char* type, const char* operation,
                                                        const void* location) noexcept {
        constexpr std::uint64_t spread = 0x9e3779b97f4a7c15U;
        const auto word = [](const void* of) { return reinterpret_cast<std::uintptr_t>(of); };
        const std::uint64_t hash =
            ((word(operation) ^ word(type) * spread) * spread ^ word(location)) * spread;
        return (hash | kept_bit) & ~(kept_bit - 1);
    }
    [[gnu::always_inline]] static std::atomic<std::uint64_t>& slot_of(std::uint64_t hash) noexcept {
        return slots[hash >> 56];
    }

    static constexpr unsigned site_bits = 16;
    static constexpr std::uint64_t kept_bit = 1U << site_bits;
    static std::atomic<std::uint64_t> slots[256];
};

/// Returns the site of any kind, which is made at its first use. A null std::source_location is
/// unknown.
std::uint32_t operation_site(const char* type, const char* operation,
                             const void* location) noexcept;

/// The unusual cases of spawn_site(). `calls` may be null.
std::uint32_t look_up_spawn(const runtime::call_names& of,
                            const runtime::call_step* calls) noexcept;

/// Returns the site of an operation that is a task, for spawns by the calls in which the caller
/// runs. Must not be called if nothing records.
[[gnu::always_inline]] inline std::uint32_t spawn_site(const char* type, const char* operation,
                                                       const void* location) noexcept {
    if (!runtime::wants_call_paths()) [[likely]]
        return operation_site(type, operation, location);
    const detail::thread_record* const record = runtime::this_thread.record;
    const runtime::call_names names{type, operation, location};
    if (record == nullptr) [[unlikely]]
        return look_up_spawn(names, nullptr);
    const runtime::call_step* const calls =
        runtime::find_call_path({record->stack_low, record->stack_bytes});
    const std::uint32_t kept = calls == nullptr ? 0 : runtime::kept_site(*calls, names);
    return kept != 0 ? kept : look_up_spawn(names, calls);
}

/// Returns the number of the object of an operation of that type; 0 if there is none. Must not be
/// called if nothing records.
std::uint32_t number_of(const char* type, const void* object) noexcept;

/// Returns the site of the coroutine that a co_spawn has started. `inside` is the first await in
/// its function. `place` is the place of its spawn; null if that is unknown.
std::uint32_t coroutine_site(const void* inside, const void* place) noexcept;
/// Finds that site only if it belongs to one of the program's coroutines and was used recently.
/// Returns false otherwise.
bool find_coroutine_site(const void* inside, const void* place, std::uint32_t& site) noexcept;

}  // namespace coroscope::asio
