// SPDX-License-Identifier: Apache-2.0

// From the program to the analysis: the work that awaits of events waited for, and the device's
// work for ranges.

#include <coroscope/integration/cuda_completion.hpp>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include <coroscope/analysis/device_statistics.hpp>

#include "../runtime/support/executors.hpp"
#include "../runtime/support/recording.hpp"
#include "fake_cudart.hpp"
#include "fake_cupti.hpp"

using namespace coroscope;
using namespace coroscope::test;
namespace fake = coroscope::test::fake_cupti;

namespace {

constexpr std::uint32_t the_context = 9;  // the context of every stream here

// The number of the stream in the fake CUPTI.
std::uint32_t number_of(fake_stream& stream) {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(stream.handle()));
}

/// Makes the program's call. run_kernel() makes the record of the kernel.
std::uint32_t launch(fake_stream& stream) {
    stream.work();
    return fake::call_launch({.without_kernel = true});
}

void run_kernel(const char* name, fake_stream& stream, std::uint32_t correlation) {
    CUpti_ActivityDevice5 device{};
    device.kind = CUPTI_ACTIVITY_KIND_DEVICE;
    device.name = "a device";
    fake::append(device);
    CUpti_ActivityKernel10 kernel{};
    kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    kernel.start = fake::now_ns();
    while (kernel.end <= kernel.start + 1000) kernel.end = fake::now_ns();
    kernel.queued = kernel.start - 1;
    kernel.contextId = the_context;
    kernel.streamId = number_of(stream);
    kernel.correlationId = correlation;
    kernel.name = name;
    fake::append(kernel);
}

void record(fake_event& event, fake_stream& stream) {
    event.record(stream);
    fake::call_event_record(event.handle(), number_of(stream));
}

/// Waits until the waking thread has queried again, which it does while a coroutine waits.
void wait_for_looks() {
    const int before = fake_cuda_counts().queries;
    while (fake_cuda_counts().queries < before + 3) std::this_thread::yield();
}

using texts = std::vector<std::string>;

std::string name_at(const analysis::trace& loaded, std::uint32_t position) {
    return loaded.strings[loaded.device_activities[loaded.stream_order[position]].name];
}

/// The work that the suspensions of that task waited for, in all streams.
texts awaited_by(const recorded& found, const std::string& task) {
    texts names;
    for (const analysis::device_wait& wait : found.trace.device_waits) {
        if (wait.task != found.task_index(task)) continue;
        REQUIRE(wait.await != analysis::none);
        for (const std::uint32_t at : wait.activities) names.push_back(name_at(found.trace, at));
    }
    std::sort(names.begin(), names.end());
    return names;
}

const profile_options with_devices{.all_threads = true, .use_device = "cuda"};

task<> awaits_event(fake_event& event, thread_executor& pool) {
    co_await cuda::completion(event.handle(), pool);
}

task<> polls_event(fake_event& event, thread_executor& pool) {
    co_await cuda::polling(event.handle(), pool);
}

}  // namespace

TEST_SUITE("explained by devices") {
    TEST_CASE("an await of an event waited for launches before the event's record, and for none "
              "after it") {
        fake_stream stream;
        fake_event event;
        recording session(with_devices);
        thread_executor pool(1);
        const std::uint32_t before = launch(stream);
        record(event, stream);
        const std::uint32_t after = launch(stream);
        std::thread device([&] {
            wait_for_looks();
            run_kernel("before", stream, before);
            run_kernel("after", stream, after);
            stream.complete();
        });
        sync_wait(awaits_event(event, pool));
        device.join();
        pool.join();
        const recorded found = session.stop();
        CHECK(awaited_by(found, "awaits_event") == texts{"before"});
        CHECK(found.trace.health.warnings.empty());
    }

    TEST_CASE("the work of another stream counts if the event's stream waits for it") {
        fake_stream uploads, kernels;
        fake_event uploaded, event;
        recording session(with_devices);
        thread_executor pool(1);
        const std::uint32_t upload = launch(uploads);
        record(uploaded, uploads);
        const std::uint32_t next = launch(uploads);
        fake::call_stream_wait(number_of(kernels), uploaded.handle());
        const std::uint32_t compute = launch(kernels);
        record(event, kernels);
        std::thread device([&] {
            wait_for_looks();
            run_kernel("upload", uploads, upload);
            run_kernel("next upload", uploads, next);
            run_kernel("compute", kernels, compute);
            kernels.complete();
        });
        sync_wait(awaits_event(event, pool));
        device.join();
        pool.join();
        const recorded found = session.stop();
        CHECK(awaited_by(found, "awaits_event") == texts{"compute", "upload"});
    }

    TEST_CASE("an event that is recorded again during its await was waited for in both streams") {
        fake_stream first, second;
        fake_event event;
        recording session(with_devices);
        thread_executor pool(1);
        const std::uint32_t one = launch(first);
        record(event, first);
        std::thread device([&] {
            wait_for_looks();
            const std::uint32_t two = launch(second);
            record(event, second);
            wait_for_looks();
            run_kernel("one", first, one);
            first.complete();
            wait_for_looks();
            run_kernel("two", second, two);
            second.complete();
        });
        sync_wait(awaits_event(event, pool));
        device.join();
        pool.join();
        CHECK(awaited_by(session.stop(), "awaits_event") == texts{"one", "two"});
    }

    TEST_CASE("polling an event is explained in the same way") {
        fake_stream stream, other;
        fake_event event;
        recording session(with_devices);
        thread_executor pool(1);
        const std::uint32_t one = launch(stream);
        record(event, stream);
        std::thread device([&] {
            wait_for_looks();
            run_kernel("first", stream, one);
            const std::uint32_t two = launch(other);
            record(event, other);
            wait_for_looks();
            run_kernel("second", other, two);
            other.complete();
        });
        sync_wait(polls_event(event, pool));
        device.join();
        pool.join();
        CHECK(awaited_by(session.stop(), "polls_event") == texts{"first", "second"});
    }

    TEST_CASE("an event that was recorded before the session is unknown, and nothing is guessed") {
        fake_stream stream;
        fake_event event;
        const std::uint32_t early = launch(stream);
        record(event, stream);
        recording session(with_devices);
        thread_executor pool(1);
        std::thread device([&] {
            wait_for_looks();
            run_kernel("early", stream, early);
            stream.complete();
        });
        sync_wait(awaits_event(event, pool));
        device.join();
        pool.join();
        const recorded found = session.stop();
        REQUIRE(found.trace.device_waits.size() == 1);
        const analysis::device_wait& wait = found.trace.device_waits[0];
        CHECK(wait.is_event);
        CHECK(wait.stream == analysis::none);
        CHECK(analysis::device_coverage(found.trace).of(wait.await).unknown == 1);
    }

    TEST_CASE("a session may stop during the await of an event: finished work is in it, and the "
              "await goes on") {
        fake_stream stream;
        fake_event event;
        recording session(with_devices);
        thread_executor pool(1);
        const std::uint32_t ran = launch(stream);
        static_cast<void>(launch(stream));
        record(event, stream);
        std::thread awaiting([&] { sync_wait(awaits_event(event, pool)); });
        wait_for_looks();
        run_kernel("ran", stream, ran);
        const recorded found = session.stop();
        stream.complete();
        awaiting.join();
        pool.join();
        CHECK(awaited_by(found, "awaits_event") == texts{"ran"});
    }

    TEST_CASE("a range that ends with a stream has its own launches there, and their times") {
        fake_stream stream, elsewhere;
        recording session(with_devices);
        const std::uint32_t before = launch(stream);
        const range upload("upload");
        const std::uint32_t own = launch(stream), another = launch(elsewhere);
        CHECK(call_end_callbacks_on_stream(upload, stream.handle()) == cudaSuccess);
        const std::uint32_t behind = launch(stream);
        run_kernel("before", stream, before);
        run_kernel("own", stream, own);
        run_kernel("elsewhere", elsewhere, another);
        stream.complete_one();
        stream.complete_one();
        stream.complete_one();
        CHECK(upload.ended());
        run_kernel("behind", stream, behind);
        stream.complete();
        elsewhere.complete();
        const recorded found = session.stop();
        REQUIRE(found.trace.device_ranges.size() == 1);
        const analysis::device_range& range = found.trace.device_ranges[0];
        CHECK(&found.trace.events[range.event] == &found.event("upload"));
        CHECK(range.context == the_context);
        CHECK(range.stream == number_of(stream));
        REQUIRE(range.work.size() == 1);
        CHECK(name_at(found.trace, found.trace.range_work[range.work.front()]) == "own");
        const analysis::device_share share = analysis::device_coverage(found.trace).of_range(0);
        REQUIRE(share.start_ns.has_value());
        REQUIRE(share.end_ns.has_value());
        CHECK(*share.start_ns >= range.attached_ns);
        CHECK(*share.end_ns <= *range.end_ns);
        CHECK(share.covered_ns == *share.end_ns - *share.start_ns);
        CHECK(share.queued_ns.has_value());
    }

    TEST_CASE("a range on an idle stream, and a record_function, have their launches, too") {
        fake_stream stream;
        recording session(with_devices);
        const std::uint32_t done = launch(stream);
        const range idle("idle");
        const std::uint32_t own = launch(stream);
        stream.complete();
        CHECK(call_end_callbacks_on_stream(idle, stream.handle()) == cudaSuccess);
        CHECK(idle.ended());
        record_function kept("kept");
        const std::uint32_t last = launch(stream);
        CHECK(call_end_callbacks_on_stream(kept, stream.handle()) == cudaSuccess);
        stream.complete();
        kept.end();
        run_kernel("before", stream, done);
        run_kernel("own", stream, own);
        run_kernel("last", stream, last);
        const recorded found = session.stop();
        REQUIRE(found.trace.device_ranges.size() == 2);
        for (const analysis::device_range& range : found.trace.device_ranges) {
            REQUIRE(range.work.size() == 1);
            const bool is_idle = found.trace.strings[range.name] == "idle";
            CHECK(name_at(found.trace, found.trace.range_work[range.work.front()]) ==
                  (is_idle ? "own" : "last"));
        }
    }

    TEST_CASE("without devices a range on a stream has no device records") {
        fake_stream stream;
        stream.work();
        recording session;
        const range plain("plain");
        CHECK(call_end_callbacks_on_stream(plain, stream.handle()) == cudaSuccess);
        stream.complete();
        CHECK(session.stop().trace.device_ranges.empty());
    }
}
