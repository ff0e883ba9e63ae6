// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kernel's records of context switches (perf_event_open), in one ring of memory for each
// processor. Neither the rings nor their memory grow with the number of threads.
//
// A ring belongs to an event of the calling thread that counts nothing. Each thread that is
// followed has one event per processor, which writes into that processor's ring, and which threads
// that it creates inherit. So threads that exist already cost descriptors, and later ones do not.
//
// Threads: one, which has private descriptors.

#include <cstddef>
#include <cstdint>

struct perf_event_mmap_page;

namespace coroscope::runtime::inline kernel {

/// A thread entered a processor or left one, or was created.
struct context_switch {
    std::int64_t time_ns;  ///< CLOCK_MONOTONIC
    std::uint32_t thread;  ///< the kernel's id
    std::uint32_t processor;
    bool entered;
    bool preempted;  ///< beside a thread that left
    bool created;    ///< it has never been on a processor
};

struct lost_switches {
    std::int64_t since_ns;  ///< CLOCK_MONOTONIC
    std::int64_t until_ns;
    std::uint64_t count;
};

class switch_rings {
public:
    static constexpr std::uint32_t most_processors = 512;

    switch_rings() noexcept = default;
    switch_rings(const switch_rings&) = delete;
    switch_rings& operator=(const switch_rings&) = delete;
    /// Closes all.
    ~switch_rings();

    enum class failure : std::uint8_t { none, event, memory };

    /// Makes the rings. Returns the failed step, whose errno is in error().
    failure open() noexcept;
    int error() const noexcept { return error_; }

    /// Follows a thread, and those that it creates from here on. Returns 0 or an errno: EMFILE if
    /// there is no descriptor for it, ESRCH if it has ended.
    int follow(std::uint32_t thread) noexcept;

    /// Returns the number of descriptors that are not reserved for events.
    std::uint64_t spare_descriptors() const noexcept;

    /// Calls `switched(context_switch)` and `lost(lost_switches)` for the new records, in the order
    /// of each processor. Ends early if `goes_on()` returns false before a record.
    template <class GoesOn, class Switched, class Lost>
    void drain(GoesOn goes_on, Switched switched, Lost lost) noexcept;

private:
    struct ring {
        perf_event_mmap_page* page;
        int descriptor;
        std::uint32_t processor;
        std::uint32_t last_thread;
        bool last_entered;
        std::int64_t last_ns;
    };
    /// A record in a ring.
    struct entry {
        bool is_switch;  ///< or a thread's creation
        bool is_of_process;
        context_switch switched;
        std::uint64_t lost;
    };

    std::uint64_t begin_reading(const ring& each) const noexcept;
    std::uint64_t read(const ring& each, std::uint64_t at, entry& to) const noexcept;
    void end_reading(const ring& each, std::uint64_t at) const noexcept;
    bool is_repeated(const ring& each, const context_switch& now) const noexcept {
        return each.last_thread == now.thread && each.last_entered == now.entered;
    }
    failure open_rings(std::uint32_t processors) noexcept;
    void close_rings() noexcept;
    failure open_ring(std::uint32_t processor) noexcept;
    void choose_size(std::uint32_t processors) noexcept;

    ring* rings_ = nullptr;
    std::uint32_t count_ = 0;
    std::size_t ring_bytes_ = 0;  // of records, a power of two
    std::size_t page_bytes_ = 0;
    std::uint32_t process_ = 0;
    bool threads_only_ = true;  // events are inherited by threads, not by processes
    int* descriptors_ = nullptr;
    std::uint32_t descriptors_used_ = 0;
    std::uint32_t descriptor_room_ = 0;
    int error_ = 0;
};

template <class GoesOn, class Switched, class Lost>
void switch_rings::drain(GoesOn goes_on, Switched switched, Lost lost) noexcept {
    for (std::uint32_t number = 0; number < count_; ++number) {
        ring& from = rings_[number];
        const std::uint64_t end = begin_reading(from);
        std::uint64_t at = 0;
        entry next{};
        while (at < end && goes_on()) {
            at += read(from, at, next);
            const context_switch& now = next.switched;
            if (next.lost != 0) {
                lost(lost_switches{from.last_ns, now.time_ns, next.lost});
                from.last_thread = 0;
            } else if (next.is_switch && next.is_of_process && !is_repeated(from, now)) {
                switched(now);
                from.last_thread = now.thread;
                from.last_entered = now.entered;
            }
            if (now.time_ns != 0) from.last_ns = now.time_ns;
        }
        end_reading(from, at);
    }
}

}  // namespace coroscope::runtime::inline kernel
