// SPDX-License-Identifier: Apache-2.0
#pragma once

// Builds traces in memory, well-formed and not, record by record. The clock counts nanoseconds from
// 1'000'000 on, so that a record at tick 1'000'000 + n lies n ns into the session; every call takes
// session time and adds that base.
//
//     trace_builder trace;
//     const auto site = trace.site("render", "render.cpp", 12);
//     trace.on(1).scope(site, 100, 250);
//     auto loaded = coroscope::analysis::load(trace.finish());

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/trace/buffer.hpp>
#include <coroscope/trace/format.hpp>

namespace coroscope::test {

class trace_builder;

/// What a device record says. Moments are nanoseconds since the session's start.
struct device_values {
    trace::device_activity what = trace::device_activity::kernel;
    std::int64_t start = 0;
    std::int64_t end = 0;
    std::uint32_t site = 0;
    std::uint64_t task = 0;
    std::uint64_t os_thread_id = 0;
    std::uint32_t correlation = 0;
    std::uint32_t device = 0;
    std::uint32_t context = 1;
    std::uint32_t stream = 7;
    std::uint64_t bytes = 0;
    std::int64_t queued = -1;  ///< -1: unknown
    std::uint64_t address = 0;
    std::uint32_t awaited_stream = 0;  ///< of a dependency, in the same context
    std::uint32_t awaited_correlation = 0;
};

/// The stream of one thread. All times are nanoseconds since the session's start.
class thread_writer {
public:
    thread_writer(trace_builder& owner, std::uint32_t thread) : owner_(&owner), thread_(thread) {}

    thread_writer& scope(std::uint32_t site, std::int64_t start, std::int64_t end);
    thread_writer& long_scope(std::uint32_t site, std::int64_t start, std::int64_t end,
                              std::uint32_t flags, std::uint64_t task = 0,
                              std::uint32_t start_thread = 0);
    thread_writer& suspend(std::int64_t at, std::uint64_t task, std::uint32_t site = 0,
                           std::uint64_t next = 0);
    thread_writer& resume(std::int64_t at, std::uint64_t task, std::uint64_t previous = 0,
                          std::uint32_t flags = 0);
    thread_writer& transfer(std::int64_t at, std::uint64_t awaiter, std::uint64_t awaited,
                            std::uint32_t site = 0);
    thread_writer& finish_transfer(std::int64_t at, std::uint64_t finished, std::uint64_t resumed,
                                   std::uint32_t flags = 0);
    thread_writer& cancel(std::int64_t at, std::uint64_t task);
    thread_writer& spawn(std::int64_t at, std::uint64_t task, std::uint32_t site = 0,
                         std::uint32_t flags = 0, std::uint64_t parent = 0);
    /// A spawn record whose ticks are 0.
    thread_writer& adopt(std::uint64_t task, std::uint32_t site = 0);
    thread_writer& wake(std::int64_t at, std::uint64_t task, std::uint64_t waker = 0,
                        std::uint32_t waker_thread = 0);
    thread_writer& finish(std::int64_t at, std::uint64_t task, std::uint64_t next = 0,
                          std::uint32_t flags = 0);
    thread_writer& awaiting(std::int64_t at, std::uint64_t awaiter, std::uint64_t awaited);
    thread_writer& context(std::int64_t at, std::uint64_t task, std::uint64_t previous);
    thread_writer& label(std::int64_t at, std::uint32_t serial, std::string_view text);
    /// Of the range whose label has that serial on `start_thread`, which is this one if it is 0.
    thread_writer& item(std::int64_t at, std::uint32_t serial, std::uint64_t number,
                        std::uint32_t start_thread = 0);
    thread_writer& arguments(std::int64_t scope_start, std::uint32_t site, std::string_view text);
    thread_writer& note(std::int64_t scope_start, trace::note_kind what, std::string_view says);
    thread_writer& memory(std::int64_t at, trace::memory_event what, std::uint64_t address,
                          std::uint64_t bytes, std::uint64_t allocated, std::uint64_t reserved);

    thread_writer& device(const device_values& values);
    /// A call on thread `id` of the builder, whose id of the system is 1000 + id.
    thread_writer& device_call(std::int64_t start, std::int64_t end, std::uint32_t correlation,
                               std::uint32_t site = 0, std::uint32_t id = 1,
                               std::uint64_t task = 0);
    thread_writer& device_wait(std::int64_t at, std::uint64_t task, std::uint32_t stream = 7,
                               std::uint32_t context = 1);
    /// For an event that the call of that number recorded in the stream.
    thread_writer& event_wait(std::int64_t at, std::uint64_t task, std::uint32_t correlation,
                              std::uint32_t stream = 7, std::uint32_t context = 1);
    /// A range (see item()) is tied to the stream.
    thread_writer& range_wait(std::int64_t at, std::uint32_t serial, std::uint32_t stream = 7,
                              std::uint32_t start_thread = 0, std::uint32_t context = 1);
    /// The call of that number made a stream wait for what `awaited_correlation` recorded in another.
    thread_writer& dependency(std::int64_t at, std::uint32_t stream, std::uint32_t correlation,
                              std::uint32_t awaited_stream, std::uint32_t awaited_correlation);

    /// Closes the chunk; the next record opens another, in which `current_task` is said to run.
    thread_writer& next_chunk(std::int64_t opened_at, std::uint64_t current_task = 0);

    /// Any record: words after the tag follow it in whole units.
    thread_writer& raw(std::uint64_t first, std::uint64_t tag,
                       const std::vector<std::uint64_t>& words = {});

private:
    trace_builder* owner_;
    std::uint32_t thread_;
};

class trace_builder {
public:
    static constexpr std::uint64_t base_ticks = 1'000'000;
    static constexpr std::size_t small_chunk = 4096;

    explicit trace_builder(std::size_t chunk_bytes = small_chunk);

    /// The header as it will be written; change it at will.
    trace::file_header header{};

    /// The length of the session in nanoseconds: sets the last clock point.
    trace_builder& lasts(std::int64_t duration);

    /// A site's id. Sites without a kind are plain scopes.
    std::uint32_t site(std::string_view label, std::string_view file = "test.cpp",
                       std::uint32_t line = 1, trace::site_kind kind = trace::site_kind::scope,
                       std::string_view function = "function", std::string_view category = "");

    /// The body of the thread's metadata record, made on first use.
    trace::thread_body& thread(std::uint32_t id);

    /// The stream of a thread; describes the thread in the metadata.
    thread_writer on(std::uint32_t id);

    /// The stream of a thread that the metadata does not describe.
    thread_writer on_unknown(std::uint32_t id) { return {*this, id}; }

    trace_builder& clock_point(std::uint64_t ticks, std::int64_t monotonic_ns);
    trace_builder& module(std::uint64_t load_address, std::uint64_t bytes, std::string_view path,
                          std::string_view build_id = "");
    trace_builder& device_name(std::uint32_t id, std::string_view name);
    trace_builder& stream_name(std::uint32_t context, std::uint32_t stream, std::string_view name);
    trace_builder& live_task(const trace::task_slot& slot);

    /// Chunks are sealed unless this is called: then record chunks stay open, as after a kill.
    trace_builder& leave_open();

    /// Sites are named by records but not described.
    trace_builder& forget_sites();

    /// The whole trace.
    [[nodiscard]] std::vector<unsigned char> bytes() const;
    [[nodiscard]] trace::buffer finish() const;

private:
    friend class thread_writer;
    struct chunk {
        trace::chunk_kind kind = trace::chunk_kind::records;
        std::uint32_t thread = 0;
        std::uint64_t current_task = 0;
        std::uint64_t opened_ticks = base_ticks;
        std::uint32_t records = 0;
        std::vector<unsigned char> content;
    };

    chunk& chunk_of(std::uint32_t thread, std::size_t bytes);
    void append(chunk& to, const void* data, std::size_t size) const;
    void write_record(chunk& to, std::uint64_t first, std::uint64_t tag, const void* rest,
                      std::size_t size) const;
    std::uint32_t string(std::string_view text, chunk& metadata) const;
    [[nodiscard]] std::vector<chunk> metadata() const;

    struct site_entry {
        std::string label, function, file, category;
        std::uint32_t line;
        trace::site_kind kind;
    };
    std::size_t chunk_bytes_;
    bool open_ = false;
    std::vector<site_entry> sites_;
    bool sites_forgotten_ = false;
    std::map<std::uint32_t, trace::thread_body> threads_;
    std::vector<trace::clock_point> clock_points_;
    std::vector<trace::task_slot> live_tasks_;
    struct module_entry {
        std::uint64_t load_address;
        std::string payload;
    };
    std::vector<module_entry> modules_;
    std::map<std::uint32_t, std::string> devices_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> streams_;
    std::vector<chunk> chunks_;
};

/// What the clock counted when the session was that old.
inline std::uint64_t ticks_of(std::int64_t session_ns) {
    return trace_builder::base_ticks + static_cast<std::uint64_t>(session_ns);
}

/// The first `size` bytes.
trace::buffer truncated(const std::vector<unsigned char>& bytes, std::size_t size);

/// The same bytes with one bit turned over.
trace::buffer flipped(const std::vector<unsigned char>& bytes, std::size_t bit);

/// A small trace with every kind of record in it, for tests that damage it.
trace_builder sample_trace();

}  // namespace coroscope::test
