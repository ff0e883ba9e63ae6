// SPDX-License-Identifier: Apache-2.0
#pragma once

// Executors and their numbers. An executor gets its number at its first use while something
// records. Its definition is then written to the trace of each live session, and to that of each
// later session at its start. A number is never used again. An executor in the memory of an ended
// one gets a number of its own if it differs in `told`, or after forget_context() or
// detail::forget_executor().
//
// Thread-safe. The first use of an executor takes sites_mutex(); a lookup does not.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <coroscope/detail/executor.hpp>

#include "../store/chunk_store.hpp"

namespace coroscope::runtime::inline writer {

/// A number as the lookups return it: in the upper 16 bits of a word. 0: unknown.
using executor_bits = std::uint64_t;
inline constexpr unsigned executor_number_shift = 48;

constexpr std::uint32_t executor_number(executor_bits of) noexcept {
    return static_cast<std::uint32_t>(of >> executor_number_shift);
}

/// A slot of the table of executors by address, which uses open addressing. Both words are changed
/// one after the other. A lookup that meets the change finds the earlier executor or the later one;
/// it may do so only if the program uses an executor while another one is made in its memory.
struct executor_slot {
    std::atomic<std::uintptr_t> address;  ///< 0: empty
    std::atomic<executor_bits> number;    ///< valid while the slot has an address
};
inline constexpr std::size_t executor_slots = std::size_t{1} << 14;
extern constinit executor_slot executor_table[executor_slots];

/// An executor that was seen. Executors at one address differ in `told`: the context of a strand,
/// or the name of an executor.
struct known_executor {
    std::uintptr_t address;
    const void* told;
};

/// The executors by number.
inline constexpr std::size_t most_executors = std::size_t{1} << 15;
extern constinit std::atomic<const known_executor*> executor_directory[most_executors];

/// Operations of Asio that enqueue have the type of their context; those of timers and sockets do
/// not. The key of a context is its address, or typed_step bytes more if its type is known (as
/// asio::context_key()).
using detail::typed_step;
executor_bits look_up_context(std::uintptr_t key, const char* type) noexcept;
executor_bits look_up_strand(const void* strand, const void* context) noexcept;
executor_bits look_up_place(const detail::executor_place& of) noexcept;

/// Finds the executor if it is in the first slot of its search. Returns false if it is not.
[[gnu::always_inline]] inline bool find_at_first_place(std::uintptr_t address,
                                                       executor_bits& found) noexcept {
    const executor_slot& slot = executor_table[address / typed_step % executor_slots];
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    // As below, without the register and the instruction of a separate load.
    bool same = false;
    asm("cmpq %[there], %[address]\n\tmovq %[number], %[found]"
        : "=@ccz"(same), [found] "=&r"(found)
        : [there] "m"(slot.address), [number] "m"(slot.number), [address] "r"(address));
    return same;
#else
    if (slot.address.load(std::memory_order_acquire) != address) return false;  // pairs with keep()
    found = slot.number.load(std::memory_order_relaxed);
    return true;
#endif
}

[[gnu::always_inline]] inline bool is_told(executor_bits found, const void* told) noexcept {
    return executor_directory[executor_number(found)].load(std::memory_order_relaxed)->told == told;
}

/// Returns the strand with this implementation, which runs on the context.
[[gnu::always_inline]] inline executor_bits find_strand(const void* strand,
                                                        const void* context) noexcept {
    executor_bits found = 0;
    return find_at_first_place(reinterpret_cast<std::uintptr_t>(strand), found) &&
                   is_told(found, context)
               ? found
               : look_up_strand(strand, context);
}

[[gnu::always_inline]] inline executor_bits find_place(const detail::executor_place& of) noexcept {
    if (of.address == nullptr) return 0;
    executor_bits found = 0;
    return find_at_first_place(reinterpret_cast<std::uintptr_t>(of.address), found) &&
                   is_told(found, of.name)
               ? found
               : look_up_place(of);
}

/// Must be called when a context of Asio was created at the address. An earlier context there has
/// ended, with its strands.
void forget_context(const void* context) noexcept;

/// Writes the definitions of all known executors that have not ended. The session must be live
/// already, so that an executor that is first seen afterwards adds its own definition.
void define_all_executors(chunk_store& store) noexcept;

}  // namespace coroscope::runtime::inline writer
