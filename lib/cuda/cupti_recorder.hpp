// SPDX-License-Identifier: Apache-2.0
#pragma once

// The recording of a session: subscribes to CUPTI, enables its kinds of activities, and exchanges
// buffers with it.
//
//   a followed call of CUDA's ──► event_follower
//   start ── subscribe, enable ─► buffer_requested ◄─ CUPTI ─► buffer_completed ─► activity_reader
//   collection goes off ── flush, leave out new activities; on ── ids of another number
//   stop ── disable, flush (forced), count missing records, unsubscribe
//
// Thread-safety: start, collect and stop must be called one at a time. Any thread may call follow,
// for itself. CUPTI calls the other functions at any time, also after a stop. Nothing waits for a
// device.

#include <atomic>
#include <cstdint>
#include <mutex>

#include "activity_reader.hpp"
#include "buffer_flusher.hpp"
#include "buffer_pool.hpp"
#include "event_follower.hpp"

namespace coroscope::cuda {

class cupti_recorder {
public:
    bool start(std::uint64_t start_ticks, detail::device_message& message) noexcept;
    void collect(bool on) noexcept;
    void stop() noexcept;
    void follow(std::uint64_t task) noexcept;

    void flush_at_exit() noexcept;

    void request(std::uint8_t** buffer, std::size_t* bytes) noexcept;
    void complete(std::uint8_t* buffer, std::size_t bytes) noexcept;
    void called(CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                const CUpti_CallbackData& data) noexcept;

    detail::device_event find_event(const void* event) const noexcept {
        return events_.find(event);
    }

    recorded_work work() noexcept;

    /// CUPTI's time. Valid once the first session has started.
    std::uint64_t now_ns() const noexcept { return clock_.ns_at(detail::session_ticks()); }

private:
    bool subscribe(detail::device_message& message) noexcept;
    bool set_clock(detail::device_message& message) noexcept;
    bool read_clock(detail::device_message& message) noexcept;
    bool enable_kinds(detail::device_message& message) noexcept;
    void disable_kinds() noexcept;
    void name_devices() noexcept;
    std::uint32_t next_period() const noexcept;
    bool keep(std::uint8_t* buffer, std::size_t bytes) noexcept;
    void read(std::uint8_t* buffer, std::size_t bytes) noexcept;
    void read_kept() noexcept;
    bool fail(detail::device_message& message, const char* what, CUptiResult result) noexcept;
    void count_missing() noexcept;
    void collect_dropped() noexcept;

    const cupti_functions* cupti_ = nullptr;
    CUpti_SubscriberHandle subscriber_ = nullptr;
    clock_line clock_;        ///< of this process; must not change once CUPTI uses it
    clock_line record_line_;  ///< of the times in CUPTI's records
    bool has_clock_ = false;
    std::uint32_t enabled_ = 0;       ///< a bit for each kind
    std::uint32_t taken_before_ = 0;  ///< buffers that earlier sessions did not get back
    int process_ = 0;                 ///< the process that uses CUPTI; 0: none
    std::atomic<std::uint32_t> session_{0};
    std::atomic<std::uint32_t> period_{0};  ///< number in the ids that threads push
    std::atomic<std::uint64_t> dropped_{0};
    std::atomic<bool> recording_{false};
    std::atomic<bool> has_exit_{false};  ///< flush_at_exit() is registered
    std::atomic<bool> notes_moments_{false};
    call_moments moments_;
    event_follower events_;
    buffer_pool pool_;
    buffer_flusher flusher_;
    // Buffers that came back while collection was off. The first of them may contain records from
    // before the pause.
    struct kept_buffer {
        std::uint8_t* buffer;
        std::size_t bytes;
    };
    static constexpr std::size_t most_kept = 8;
    std::mutex reading_;  ///< guards the members below
    activity_reader reader_;
    kept_buffer kept_[most_kept] = {};
    std::size_t kept_count_ = 0;
};

/// Returns the process's recorder. It is never destroyed, because CUPTI calls it until the process
/// ends.
cupti_recorder& the_recorder() noexcept;

}  // namespace coroscope::cuda
