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

#include <coroscope/trace/await_format.hpp>
#include <coroscope/trace/buffer.hpp>
#include <coroscope/trace/executor_format.hpp>
#include <coroscope/trace/kernel_format.hpp>
#include <coroscope/trace/open_format.hpp>
#include <coroscope/trace/resource_format.hpp>
#include <coroscope/trace/spawn_format.hpp>

namespace coroscope::test {

class trace_builder;

/// The values of a device record. Times are nanoseconds since the session's start.
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

/// The fields of a record of a wait for a resource, besides its times. Tasks and threads are marks.
struct resource_values {
    std::uint32_t site = 0;
    std::uint32_t instance = 1;
    std::uint64_t waiter = 0;
    std::uint64_t holder = 0;
    std::uint64_t releaser = 0;
    std::int64_t released = -1;  ///< -1: unknown
    std::uint32_t flags = 0;     ///< trace::resource_wait_bits
    std::uint32_t capacity = 1;
};

/// The stream of one thread. All times are nanoseconds since the session's start.
class thread_writer {
public:
    thread_writer(trace_builder& owner, std::uint32_t thread) : owner_(&owner), thread_(thread) {}

    thread_writer& scope(std::uint32_t site, std::int64_t start, std::int64_t end);
    thread_writer& long_scope(std::uint32_t site, std::int64_t start, std::int64_t end,
                              std::uint32_t flags, std::uint64_t task = 0,
                              std::uint32_t start_thread = 0);
    /// `object`: the number of the awaited object.
    thread_writer& suspend(std::int64_t at, std::uint64_t task, std::uint32_t site = 0,
                           std::uint64_t next = 0, std::uint32_t object = 0);
    thread_writer& resume(std::int64_t at, std::uint64_t task, std::uint64_t previous = 0,
                          std::uint32_t flags = 0, std::uint32_t executor = 0);
    thread_writer& transfer(std::int64_t at, std::uint64_t awaiter, std::uint64_t awaited,
                            std::uint32_t site = 0);
    thread_writer& finish_transfer(std::int64_t at, std::uint64_t finished, std::uint64_t resumed,
                                   std::uint32_t flags = 0);
    thread_writer& cancel(std::int64_t at, std::uint64_t task);
    thread_writer& spawn(std::int64_t at, std::uint64_t task, std::uint32_t site = 0,
                         std::uint32_t flags = 0, std::uint64_t parent = 0);
    /// A spawn record with ticks 0.
    thread_writer& adopt(std::uint64_t task, std::uint32_t site = 0);
    thread_writer& wake(std::int64_t at, std::uint64_t task, std::uint64_t waker = 0,
                        std::uint32_t waker_thread = 0, std::uint32_t executor = 0);
    thread_writer& finish(std::int64_t at, std::uint64_t task, std::uint64_t next = 0,
                          std::uint32_t flags = 0);
    thread_writer& awaiting(std::int64_t at, std::uint64_t awaiter, std::uint64_t awaited);
    thread_writer& context(std::int64_t at, std::uint64_t task, std::uint64_t previous);
    thread_writer& label(std::int64_t at, std::uint32_t serial, std::string_view text);
    /// An item of the range whose label has that serial on `start_thread`; 0 means this thread.
    thread_writer& item(std::int64_t at, std::uint32_t serial, std::uint64_t number,
                        std::uint32_t start_thread = 0);
    thread_writer& arguments(std::int64_t scope_start, std::uint32_t site, std::string_view text);
    thread_writer& note(std::int64_t scope_start, trace::note_kind what, std::string_view says);
    thread_writer& memory(std::int64_t at, trace::memory_event what, std::uint64_t address,
                          std::uint64_t bytes, std::uint64_t allocated, std::uint64_t reserved);

    /// Write the short records of an await. At the suspension `task` must be the current task. At
    /// the resumption the thread must have no task.
    thread_writer& plain_suspend(std::int64_t at, std::uint64_t task, std::uint32_t site = 0);
    thread_writer& plain_resume(std::int64_t at, std::uint64_t task);

    /// A fact that replaces the outcome of the task's last await.
    thread_writer& outcome(std::int64_t at, std::uint64_t task, trace::await_outcome outcome);
    thread_writer& mark(std::int64_t at, trace::mark_kind what);

    thread_writer& resource_wait(std::int64_t start, std::int64_t end,
                                 const resource_values& values);

    thread_writer& device(const device_values& values);
    /// A call on the builder's thread `id`, which has the system id 1000 + id.
    thread_writer& device_call(std::int64_t start, std::int64_t end, std::uint32_t correlation,
                               std::uint32_t site = 0, std::uint32_t id = 1,
                               std::uint64_t task = 0);
    thread_writer& device_wait(std::int64_t at, std::uint64_t task, std::uint32_t stream = 7,
                               std::uint32_t context = 1);
    /// A wait for an event that the call of that number recorded in the stream.
    thread_writer& event_wait(std::int64_t at, std::uint64_t task, std::uint32_t correlation,
                              std::uint32_t stream = 7, std::uint32_t context = 1);
    /// Ties a range (see item()) to the stream.
    thread_writer& range_wait(std::int64_t at, std::uint32_t serial, std::uint32_t stream = 7,
                              std::uint32_t start_thread = 0, std::uint32_t context = 1);
    /// The call of that number made a stream wait for the event that call `awaited_correlation`
    /// recorded in another stream.
    thread_writer& dependency(std::int64_t at, std::uint32_t stream, std::uint32_t correlation,
                              std::uint32_t awaited_stream, std::uint32_t awaited_correlation);

    /// Closes the chunk. The next record opens another chunk, whose header says that `current_task`
    /// runs.
    thread_writer& next_chunk(std::int64_t opened_at, std::uint64_t current_task = 0);

    /// This thread goes on in the last chunk of thread `from`, which ends.
    thread_writer& takes_over(std::uint32_t from, std::int64_t at, std::uint64_t current_task = 0);

    /// Any record. The words follow the tag, in whole units.
    thread_writer& raw(std::uint64_t first, std::uint64_t tag,
                       const std::vector<std::uint64_t>& words = {});

private:
    trace_builder* owner_;
    std::uint32_t thread_;
};

/// The kernel's facts about threads of the builder, whose ids of the system are 1000 + id. All times
/// are nanoseconds since the session's start.
class kernel_writer {
public:
    explicit kernel_writer(trace_builder& owner) : owner_(&owner) {}

    kernel_writer& enters(std::uint32_t id, std::int64_t at, std::uint32_t processor = 0);
    kernel_writer& leaves(std::uint32_t id, std::int64_t at);  ///< it waits in the kernel
    kernel_writer& preempted(std::uint32_t id, std::int64_t at);
    kernel_writer& created(std::uint32_t id, std::int64_t at);
    kernel_writer& times(std::uint32_t id, std::int64_t at, std::uint64_t on_cpu_ns,
                         std::uint64_t delay_ns);
    kernel_writer& lost(std::int64_t since, std::int64_t at, std::uint64_t count);
    /// `since`: -1 is unknown. `body.thread` and `body.holder` are ids of the builder; 0 is none.
    kernel_writer& blocked(std::int64_t at, std::int64_t since, trace::blocked_body body);
    kernel_writer& fact(std::int64_t at, std::uint32_t id, const void* body, std::size_t bytes);
    /// The next fact opens another chunk.
    kernel_writer& next_chunk(std::int64_t opened_at);

private:
    kernel_writer& switched(std::uint32_t id, std::int64_t at, std::uint32_t flags);

    trace_builder* owner_;
};

class trace_builder {
public:
    static constexpr std::uint64_t base_ticks = 1'000'000;
    static constexpr std::size_t small_chunk = 4096;

    explicit trace_builder(std::size_t chunk_bytes = small_chunk);

    /// The header of the trace. Tests may change it.
    trace::file_header header{};

    /// The length of the session in nanoseconds: sets the last clock point.
    trace_builder& lasts(std::int64_t duration);

    /// A site's id. Sites without a kind are plain scopes.
    std::uint32_t site(std::string_view label, std::string_view file = "test.cpp",
                       std::uint32_t line = 1, trace::site_kind kind = trace::site_kind::scope,
                       std::string_view function = "function", std::string_view category = "");

    /// The size of a coroutine's frame, in its site.
    trace_builder& frame_of(std::uint32_t site, std::uint32_t bytes);

    /// Gives the site of a coroutine a place of spawns.
    trace_builder& spawn_place(std::uint32_t site, std::uint64_t inside, std::uint64_t caller);

    /// Describes an awaited object.
    trace_builder& object(std::uint32_t number, trace::object_kind kind,
                          std::string_view name = "");

    /// The body of the thread's metadata record, made on first use.
    trace::thread_body& thread(std::uint32_t id);

    /// Sets the time at which the thread joined the session. Without it, that is the session's
    /// start.
    trace_builder& joins(std::uint32_t id, std::int64_t at);

    /// Returns the stream of a thread, and describes the thread in the metadata.
    thread_writer on(std::uint32_t id);

    /// The facts of the kernel. From the first one on, each context switch counts as recorded.
    kernel_writer kernel();

    /// Returns the stream of a thread that the metadata does not describe.
    thread_writer on_unknown(std::uint32_t id) { return {*this, id}; }

    trace_builder& clock_point(std::uint64_t ticks, std::int64_t monotonic_ns);
    trace_builder& module(std::uint64_t load_address, std::uint64_t bytes, std::string_view path,
                          std::string_view build_id = "");
    trace_builder& device_name(std::uint32_t id, std::string_view name);
    trace_builder& stream_name(std::uint32_t context, std::uint32_t stream, std::string_view name);
    trace_builder& live_task(const trace::task_slot& slot);
    /// Describes an executor. A second call for a number adds a second fact. `inner`: a number.
    trace_builder& executor(std::uint32_t number, trace::executor_kind kind,
                            std::string_view name = "", std::uint32_t inner = 0);

    /// A scope that has not ended. `flags`: trace::scope_flags.
    trace_builder& open_scope(std::uint32_t thread, std::uint32_t site, std::int64_t start,
                              std::uint64_t task = 0, std::uint32_t flags = 0);
    /// The place of an open scope as given, well-formed or not.
    trace_builder& open_place(const trace::open_scope& place);

    /// Leaves record chunks open, as after a kill. Otherwise chunks are sealed.
    trace_builder& leave_open();

    /// Leaves out the descriptions of sites that records name.
    trace_builder& forget_sites();

    /// The whole trace.
    [[nodiscard]] std::vector<unsigned char> bytes() const;
    [[nodiscard]] trace::buffer finish() const;

private:
    friend class thread_writer;
    friend class kernel_writer;
    struct chunk {
        trace::chunk_kind kind = trace::chunk_kind::records;
        std::uint32_t thread = 0;
        std::uint32_t writer = 0;  ///< the last thread that wrote to it
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
    static void name_descriptions(std::vector<chunk>& all);
    [[nodiscard]] std::vector<chunk> metadata() const;

    struct site_entry {
        std::string label, function, file, category;
        std::uint32_t line;
        trace::site_kind kind;
        std::uint32_t frame_bytes = 0;
    };
    std::size_t chunk_bytes_;
    bool open_ = false;
    std::vector<site_entry> sites_;
    bool sites_forgotten_ = false;
    std::map<std::uint32_t, trace::thread_body> threads_;
    std::map<std::uint32_t, std::uint64_t> joined_;
    std::vector<trace::clock_point> clock_points_;
    struct object_entry {
        trace::object_kind kind;
        std::string payload;
    };
    std::vector<object_entry> objects_;
    std::vector<trace::task_slot> live_tasks_;
    std::vector<trace::open_scope> open_scopes_;
    std::vector<std::string> executors_;  // the payloads of their facts
    std::vector<trace::spawn_place_body> spawn_places_;
    struct module_entry {
        std::uint64_t load_address;
        std::string payload;
    };
    std::vector<module_entry> modules_;
    std::map<std::uint32_t, std::string> devices_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> streams_;
    std::vector<chunk> chunks_;
};

/// The clock's value at that time of the session.
inline std::uint64_t ticks_of(std::int64_t session_ns) {
    return trace_builder::base_ticks + static_cast<std::uint64_t>(session_ns);
}

/// The first `size` bytes.
trace::buffer truncated(const std::vector<unsigned char>& bytes, std::size_t size);

/// The same bytes with one bit flipped.
trace::buffer flipped(const std::vector<unsigned char>& bytes, std::size_t bit);

/// The bits from byte `from` on that a test of damage flips: every bit of the written bytes and of
/// the 64 bytes after them, and in the empty room that follows one bit in each word of eight bytes.
std::vector<std::size_t> bits_to_flip(const std::vector<unsigned char>& bytes,
                                      std::size_t from = 0);

/// A small trace with every kind of record in it, for tests that damage it.
trace_builder sample_trace();

}  // namespace coroscope::test
