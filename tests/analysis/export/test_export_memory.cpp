// SPDX-License-Identifier: Apache-2.0

// The memory that exports allocate beside the loaded trace. This is a program of its own because it
// replaces operator new, to count.

#include <coroscope/analysis/chrome.hpp>
#include <coroscope/analysis/event_exports.hpp>
#include <coroscope/analysis/folded_stacks.hpp>
#include <coroscope/analysis/perfetto.hpp>
#include <coroscope/analysis/profile_exports.hpp>
#include <coroscope/analysis/span_exports.hpp>
#include <coroscope/analysis/table_exports.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <malloc.h>

#include "../small_traces.hpp"

namespace {

std::size_t allocated = 0;
std::size_t most_allocated = 0;

void* counted(std::size_t bytes) noexcept {
    void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
    if (memory == nullptr) return nullptr;
    allocated += malloc_usable_size(memory);
    most_allocated = std::max(most_allocated, allocated);
    return memory;
}

void uncounted(void* memory) noexcept {
    if (memory == nullptr) return;
    allocated -= malloc_usable_size(memory);
    std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes) {
    void* const memory = counted(bytes);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes); }
// The default operators for arrays call these, but a sanitizer's do not.
void* operator new[](std::size_t bytes) { return operator new(bytes); }
void operator delete(void* memory) noexcept { uncounted(memory); }
void operator delete(void* memory, std::size_t) noexcept { uncounted(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { uncounted(memory); }
void operator delete[](void* memory) noexcept { uncounted(memory); }
void operator delete[](void* memory, std::size_t) noexcept { uncounted(memory); }

namespace {

using namespace coroscope::analysis;
using coroscope_tests::empty_trace;
using coroscope_tests::scope_at;

constexpr std::uint32_t few = 10'000;
constexpr std::uint32_t many = 8 * few;
constexpr std::size_t small_constant = 4096;

bool discard(std::string_view) { return true; }

/// The largest amount of memory that the export holds while it writes.
template <class Export, class Loaded>
std::size_t memory_of(Export write_out, const Loaded& loaded) {
    const byte_sink sink = discard;
    const std::size_t before = most_allocated = allocated;
    REQUIRE(write_out(loaded, sink).has_value());
    return most_allocated - before;
}

/// The additional memory for many elements, compared with few.
template <class Export, class Make>
std::size_t growth_of(Export write_out, Make make) {
    const std::size_t of_few = memory_of(write_out, make(few));
    const std::size_t of_many = memory_of(write_out, make(many));
    CHECK(of_few > small_constant);  // the buffer at least: otherwise nothing was counted
    return of_many - std::min(of_few, of_many);
}

const auto chrome = [](const trace& from, const byte_sink& sink) {
    return export_chrome(from, sink);
};
const auto perfetto = [](const trace& from, const byte_sink& sink) {
    return export_perfetto(from, sink);
};
const auto kineto = [](const event_list& from, const byte_sink& sink) {
    return export_chrome_trace(from, sink);
};

/// Requests of three scopes each, on two threads. The second and the third scope of a request
/// overlap.
trace scopes(std::uint32_t count) {
    trace made = empty_trace();
    for (std::uint32_t each = 0; each < count; ++each) {
        const std::int64_t start = std::int64_t{each} * 100;
        made.events.push_back(scope_at(start, start + 90));
        made.events.push_back(scope_at(start + 10, start + 50));
        made.events.push_back(scope_at(start + 40, start + 80));
        for (std::size_t at = made.events.size() - 3; at < made.events.size(); ++at)
            made.events[at].thread = each % 2;
    }
    return made;
}

/// Pairs of tasks that take turns, each with two slices around an await.
trace tasks(std::uint32_t count) {
    trace made = empty_trace();
    for (std::uint32_t each = 0; each < count; ++each) {
        const std::int64_t start = std::int64_t{each / 2} * 1000 + each % 2 * 10;
        task_info task = coroscope_tests::task_trace().tasks.front();
        task.id = each + 1;
        task.spawn_ns = task.first_wake_ns = start;
        task.end_ns = start + 900;
        task.slices = {2 * each, 2};
        task.awaits = {each, 1};
        made.tasks.push_back(task);
        made.slices.push_back({start + 1, start + 10, each, 0});
        made.slices.push_back({start + 500, start + 509, each, 1});
        await_info await;
        await.task = each;
        await.site = 1;
        await.waker_thread = 1;
        await.suspend_ns = start + 10;
        await.wake_ns = start + 400;
        await.resume_ns = start + 500;
        made.awaits.push_back(await);
    }
    return made;
}

/// Calls, each with the kernel that it launched, which waited in its stream.
trace kernels(std::uint32_t count) {
    using kind = coroscope::trace::device_activity;
    trace made = empty_trace();
    made.devices = {{0, "device"}};
    for (std::uint32_t each = 0; each < count; ++each) {
        device_activity call;
        call.start_ns = std::int64_t{each} * 100;
        call.end_ns = call.start_ns + 10;
        call.what = kind::runtime_call;
        call.name = call.thread = 0;
        call.correlation = each + 1;
        device_activity kernel = call;
        kernel.what = kind::kernel;
        kernel.start_ns += 20;
        kernel.end_ns += 80;
        kernel.thread = none;
        kernel.device = kernel.context = kernel.stream = 0;
        kernel.call = 2 * each;
        made.stream_order.push_back(2 * each + 1);
        made.device_activities.insert(made.device_activities.end(), {call, kernel});
    }
    return made;
}

/// Operations, and the arrows between them that their file has.
event_list operations(std::uint32_t count) {
    event_list made;
    const std::uint32_t lane = made.lane("1", "2");
    const std::uint32_t name = made.intern("aten::mm");
    for (std::uint32_t each = 0; each < count; ++each) {
        event_row& row = made.rows.emplace_back();
        row.start_ns = std::int64_t{each} * 100;
        row.end_ns = row.start_ns + 50;
        row.name = name;
        row.thread = lane;
        for (const bool start : {true, false}) {
            event_flow& flow = made.flows.emplace_back();
            flow.id = each;
            flow.time_ns = row.start_ns;
            flow.category = name;
            flow.thread = lane;
            flow.start = start;
        }
    }
    return made;
}

/// Calls that each launched a kernel. The export makes the arrows between them.
event_list launches(std::uint32_t count) {
    event_list made = operations(2 * count);
    made.flows.clear();
    for (std::uint32_t each = 0; each < 2 * count; ++each) {
        event_row& row = made.rows[each];
        row.correlation = each / 2 + 1;
        row.what = each % 2 == 0 ? activity::runtime : activity::kernel;
        row.device = each % 2 == 0 ? device_kind::cpu : device_kind::cuda;
    }
    return made;
}

}  // namespace

TEST_CASE("an export to Chrome or Perfetto takes the same memory however many scopes there are") {
    CHECK(growth_of(chrome, scopes) <= small_constant);
    CHECK(growth_of(perfetto, scopes) <= small_constant);
}

TEST_CASE("an export takes at most four bytes and a bit for each task, slice and await") {
    constexpr std::size_t tasks_more = many - few;
    constexpr std::size_t of_a_task = 4 + 2 * 4 + 4;  // itself, two slices, an await
    constexpr std::size_t bits = 1;
    constexpr std::size_t most = tasks_more * (of_a_task + bits) + small_constant;
    CHECK(growth_of(chrome, tasks) <= most);
    CHECK(growth_of(perfetto, tasks) <= most);
}

TEST_CASE("an export takes at most 32 bytes for each kernel, and a bit for each call") {
    constexpr std::size_t kernels_more = many - few;
    constexpr std::size_t most = kernels_more * (32 + 1) + small_constant;
    CHECK(growth_of(chrome, kernels) <= most);
    CHECK(growth_of(perfetto, kernels) <= most);
}

TEST_CASE(
    "an export in Kineto's form takes the same memory however many events and arrows there are") {
    CHECK(growth_of(kineto, operations) <= small_constant);
}

TEST_CASE(
    "an export in Kineto's form takes at most 48 bytes for each call that launched a kernel") {
    constexpr std::size_t calls_more = many - few;
    constexpr std::size_t of_a_call = 48;  // a node and its share of the table
    CHECK(growth_of(kineto, launches) <= calls_more * of_a_call + small_constant);
}

TEST_CASE("an export of stacks takes at most eight bytes for each scope") {
    constexpr std::size_t scopes_more = 3 * (many - few);
    for (const auto& export_profile : {export_speedscope, export_pprof, export_firefox})
        CHECK(growth_of([&](const trace& from,
                            const byte_sink& sink) { return export_profile(from, sink); },
                        scopes) <= scopes_more * 8 + small_constant);
    CHECK(growth_of(
              [](const trace& from, const byte_sink& sink) {
                  return export_folded_stacks(from, folded_time::wall, sink);
              },
              scopes) <= scopes_more * 8 + small_constant);
}

TEST_CASE("the tables of scopes take the same memory however many scopes there are") {
    for (const rows_form form : {rows_form::csv, rows_form::ndjson})
        CHECK(growth_of(
                  [form](const trace& from, const byte_sink& sink) {
                      return export_table(from, "scopes", form, sink);
                  },
                  scopes) <= small_constant);
}

TEST_CASE("an export of spans takes at most 320 bytes for each task that is a request") {
    constexpr std::size_t of_a_request = 320;
    CHECK(growth_of(
              [](const trace& from, const byte_sink& sink) {
                  return export_otlp(from, otlp_form::protobuf, sink);
              },
              tasks) <= (many - few) * of_a_request + small_constant);
}
