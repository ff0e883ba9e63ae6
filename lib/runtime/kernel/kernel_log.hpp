// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes the kernel's facts into chunks of a session's store (trace/kernel_format.hpp).
//
// If there is no room, records are dropped. The log counts them, and writes the count as a fact of
// kind switches_lost as soon as there is room, at the latest in finish(): each chunk keeps a place
// for it.
//
// Threads: one.

#include <cstddef>
#include <cstdint>

#include <coroscope/trace/kernel_format.hpp>

#include "../store/chunk_store.hpp"

namespace coroscope::runtime::inline kernel {

class kernel_log {
public:
    explicit kernel_log(chunk_store& store) noexcept : store_(store) {}
    kernel_log(const kernel_log&) = delete;
    kernel_log& operator=(const kernel_log&) = delete;

    /// Whether a record finds room now, or is to be dropped because no room will come. Otherwise
    /// the caller should come back after a turn of the store's helper.
    bool is_ready() noexcept;

    /// Whether the log has ever had a chunk.
    bool has_begun() const noexcept { return chunk_ != nullptr; }

    /// `flags`: trace::processor_flags.
    void switched(std::int64_t time_ns, std::uint32_t thread, std::uint32_t flags,
                  std::uint32_t processor) noexcept;

    void times(std::int64_t time_ns, const trace::thread_times_body& body) noexcept {
        fact(time_ns, trace::fact_kind::thread_times, &body, sizeof body);
    }
    void lost(std::int64_t time_ns, const trace::switches_lost_body& body) noexcept {
        fact(time_ns, trace::fact_kind::switches_lost, &body, sizeof body);
    }
    void blocked(std::int64_t time_ns, const trace::blocked_body& body) noexcept {
        fact(time_ns, trace::fact_kind::blocked, &body, sizeof body);
    }

    /// Writes the count of dropped records, if there are any. Nothing may be written afterwards.
    void finish() noexcept;

private:
    void fact(std::int64_t time_ns, trace::fact_kind kind, const void* body,
              std::size_t bytes) noexcept;
    bool make_room(std::size_t bytes) noexcept;
    bool take_chunk() noexcept;
    void write(std::int64_t time_ns, std::uint64_t tag, const void* body,
               std::size_t bytes) noexcept;
    void write_dropped() noexcept;
    std::size_t room() const noexcept;

    chunk_store& store_;
    trace::chunk_header* chunk_ = nullptr;
    char* cursor_ = nullptr;
    trace::switches_lost_body dropped_{};  // since the last time that there was room
};

}  // namespace coroscope::runtime::inline kernel
