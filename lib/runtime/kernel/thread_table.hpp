// SPDX-License-Identifier: Apache-2.0
#pragma once

// The watcher's data of each thread of the process, by the kernel's ids. The threads that wait in
// the kernel are in a list, in about the order in which they began to wait.
//
// Threads: one.

#include <cstddef>
#include <cstdint>

#include "../base/own_memory.hpp"
#include "task_files.hpp"

namespace coroscope::runtime::inline kernel {

enum class thread_place : std::uint8_t { unknown, on_processor, preempted, waits };

struct watched_thread {
    std::uint32_t id = 0;                  ///< the kernel's; 0: free
    std::uint32_t before = 0, behind = 0;  // in the list of those that wait, or of free entries
    thread_place place = thread_place::unknown;
    bool is_listed = false;        ///< it waits, and its wait has not been looked at
    bool is_followed = false;      ///< its switches arrive
    bool has_changed = false;      ///< since its sums were written
    bool is_written = false;       ///< the latest look at its sums was written
    bool is_ours = false;          ///< a thread of the recorder, which is not recorded
    bool is_due = false;           ///< in switches: its sums are to be read soon
    bool was_looked_at = false;    ///< in samples: its wait
    std::uint8_t quiet_looks = 0;  ///< in samples: without a change
    int file = -1;                 ///< of its sums, or none
    std::int64_t since_ns = 0;  ///< it has been in its place; in samples: its sums have been equal
    std::int64_t seen_ns = 0;   ///< the latest look at its sums
    std::int64_t due_ns = 0;    ///< in samples: the next look
    thread_sums sums;           ///< at the latest look
};

class thread_table {
public:
    thread_table() noexcept = default;
    thread_table(const thread_table&) = delete;
    thread_table& operator=(const thread_table&) = delete;
    ~thread_table();

    /// The entry of a thread, or null.
    watched_thread* find(std::uint32_t id) noexcept;

    /// The same, made if need be. Null without memory, or if the table has its most entries. An
    /// entry made later may move it.
    watched_thread* find_or_add(std::uint32_t id) noexcept;

    void remove(watched_thread& thread) noexcept;

    /// Entries, some of which are free, by number.
    std::uint32_t size() const noexcept { return used_; }
    watched_thread& at(std::uint32_t number) noexcept { return entries_[number]; }

    /// The first of the list, or null.
    watched_thread* first_waiting() noexcept;
    watched_thread* next_waiting(const watched_thread& thread) noexcept;

    /// Enters a thread at the end of the list, or takes it out. Nothing happens to one that is
    /// there (or is not).
    void list(watched_thread& thread) noexcept;
    void unlist(watched_thread& thread) noexcept;

private:
    static constexpr std::uint32_t most_entries = 16'384;
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    std::uint32_t number_of(const watched_thread& thread) const noexcept {
        return static_cast<std::uint32_t>(&thread - entries_);
    }
    std::uint32_t slot_of(std::uint32_t id) const noexcept;
    bool grow() noexcept;
    void index(std::uint32_t number) noexcept;

    watched_thread* entries_ = nullptr;
    std::uint32_t* slots_ = nullptr;  // hash of an id to the number of its entry, plus 1
    std::uint32_t capacity_ = 0;      // of entries, a power of two; of slots twice as much
    std::uint32_t used_ = 0;
    std::uint32_t free_ = none;
    std::uint32_t first_ = none, last_ = none;
};

}  // namespace coroscope::runtime::inline kernel
