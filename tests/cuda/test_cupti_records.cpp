// SPDX-License-Identifier: Apache-2.0

// The records of CUPTI in the trace.

#include <string>
#include <vector>

#include <unistd.h>

#include "../../lib/cuda/clock_line.hpp"
#include "recorded_devices.hpp"

using namespace coroscope;
using namespace coroscope::test;
using trace::device_activity;
using trace::device_unknown;

namespace {

// A moment of CUPTI's clock that is a little in the past, but inside the session.
std::uint64_t moment() { return fake::now_ns(); }

template <class Record>
Record timed(CUpti_ActivityKind kind) {
    Record record{};
    record.kind = kind;
    record.start = moment();
    record.end = record.start + 500;
    return record;
}

}  // namespace

TEST_SUITE("records of CUPTI") {
    TEST_CASE("nanoseconds are converted to ticks and back without loss, for a century") {
        const cuda::clock_line line =
            cuda::clock_line::through({1'000, 5'000, 70'000}, {13'345'678, 5'005'000, 5'070'000});
        for (std::uint64_t ns = 1; ns < 3'000'000'000'000'000'000; ns = ns * 3 / 2 + 1)
            CHECK(line.ns_at(line.ticks_at(ns + line.base_ns)) == ns + line.base_ns);
        CHECK(line.ns_at(13'345'678) == 5'070'000);
        CHECK(line.ticks_at(5'070'000) == 13'345'678);
        const std::uint64_t earlier = line.ticks_at(3'000'000);
        CHECK(earlier < 13'345'678);
        CHECK(line.ns_at(earlier) <= 3'000'001);
        CHECK(line.ns_at(earlier) >= 2'999'999);
        CHECK(line.ticks_at(0) == 0);
    }

    TEST_CASE("a launch makes a call of its thread, and a kernel with the same number") {
        std::uint32_t number = 0;
        const recorded_devices found = record_devices([&] {
            number = fake::call_launch(
                {.kernel = "_Z5scalePfi", .device = 1, .context = 2, .stream = 13});
        });
        CHECK(found.recorded());
        CHECK(found.message().empty());
        CHECK(found.header.lost_device_records == 0);
        const auto calls = found.of(device_activity::runtime_call);
        REQUIRE(calls.size() == 1);
        CHECK(calls[0].name == "cudaLaunchKernel");
        CHECK(calls[0].body.os_thread_id == static_cast<std::uint64_t>(::gettid()));
        CHECK(calls[0].body.correlation == number);
        CHECK(calls[0].body.stream == device_unknown);
        REQUIRE(found.kernels().size() == 1);
        const recorded_activity kernel = found.kernels()[0];
        CHECK(kernel.name == "scale(float*, int)");
        CHECK(kernel.body.correlation == number);
        CHECK(kernel.body.device == 1);
        CHECK(kernel.body.context == 2);
        CHECK(kernel.body.stream == 13);
        CHECK(kernel.body.queued_ticks == 0);
        CHECK(kernel.start_ticks >= calls[0].start_ticks);
        CHECK(kernel.body.end_ticks > kernel.start_ticks);
        CHECK(fake::thread_ids_are_the_systems());
    }

    TEST_CASE(
        "activities are on the session's clock: between the thread's steps before and after them") {
        std::uint64_t before = 0;
        std::uint64_t behind = 0;
        const recorded_devices found = record_devices([&] {
            before = detail::session_ticks();
            fake::call_launch({});
            behind = detail::session_ticks();
        });
        const auto calls = found.of(device_activity::runtime_call);
        REQUIRE(calls.size() == 1);
        const std::uint64_t slack = 8;  // a nanosecond, in ticks
        CHECK(calls[0].start_ticks + slack >= before);
        CHECK(calls[0].body.end_ticks <= behind + slack);
    }

    TEST_CASE("a kernel has the time at which it came to the device's queue") {
        const recorded_devices found = record_devices([] {
            const std::uint64_t queued = moment();
            fake::call_launch(
                {.start_ns = queued + 4000, .end_ns = queued + 5000, .queued_ns = queued});
        });
        REQUIRE(found.kernels().size() == 1);
        const recorded_activity kernel = found.kernels()[0];
        const auto waited = static_cast<double>(kernel.start_ticks - kernel.body.queued_ticks);
        const auto ran = static_cast<double>(kernel.body.end_ticks - kernel.start_ticks);
        CHECK(waited == doctest::Approx(4 * ran).epsilon(0.01));
    }

    TEST_CASE("if CUPTI refuses the times of queueing, they are unknown, and the status says so") {
        fake::refuse_queue_times(CUPTI_ERROR_NOT_SUPPORTED);
        const recorded_devices found = record_devices([] {
            const std::uint64_t queued = moment();
            fake::call_launch(
                {.start_ns = queued + 4000, .end_ns = queued + 5000, .queued_ns = queued});
        });
        fake::refuse_queue_times(CUPTI_SUCCESS);
        REQUIRE(found.kernels().size() == 1);
        CHECK(found.kernels()[0].body.queued_ticks == 0);
        CHECK(found.recorded());
        CHECK(found.message().starts_with("CUPTI does not record when kernels were queued ("));
    }

    TEST_CASE(
        "copies, sets, memory, synchronisation and overhead have their sizes, kinds and places") {
        const recorded_devices found = record_devices([&] {
            auto context = CUpti_ActivityContext3{};
            context.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
            context.contextId = 3;
            context.deviceId = 5;
            fake::append(context);
            auto copy = timed<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY);
            copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
            copy.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
            copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
            copy.bytes = 4096;
            copy.streamId = 8;
            fake::append(copy);
            auto peer = timed<CUpti_ActivityMemcpyPtoP4>(CUPTI_ACTIVITY_KIND_MEMCPY2);
            peer.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
            peer.bytes = 64;
            fake::append(peer);
            auto set = timed<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET);
            set.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
            set.bytes = 12;
            fake::append(set);
            auto waited =
                timed<CUpti_ActivitySynchronization2>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
            waited.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
            waited.contextId = 3;
            waited.streamId = 8;
            fake::append(waited);
            auto overhead = timed<CUpti_ActivityOverhead3>(CUPTI_ACTIVITY_KIND_OVERHEAD);
            overhead.overheadKind = CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL;
            overhead.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
            overhead.objectId.pt.threadId = 4711;
            fake::append(overhead);
            auto memory = CUpti_ActivityMemory4{};
            memory.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
            memory.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
            memory.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
            memory.address = 0xbeef00;
            memory.bytes = 256;
            memory.timestamp = moment();
            fake::append(memory);
            memory.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
            fake::append(memory);
            memory.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;  // on the host
            fake::append(memory);
        });
        REQUIRE(found.activities.size() == 7);
        const auto& all = found.activities;
        CHECK(all[0].name == "Memcpy HtoD (Pinned -> Device)");
        CHECK(all[0].body.bytes == 4096);
        CHECK(all[0].body.stream == 8);
        CHECK(all[1].name == "Memcpy PtoP (Unknown -> Unknown)");
        CHECK(all[1].body.what == device_activity::copy);
        CHECK(all[2].name == "Memset (Device)");
        CHECK(all[2].body.bytes == 12);
        CHECK(all[3].name == "Stream Sync");
        CHECK(all[3].body.device == 5);
        CHECK(all[3].body.stream == 8);
        CHECK(all[4].name == "Command Buffer Full");
        CHECK(all[4].body.os_thread_id == 4711);
        CHECK(all[5].body.what == device_activity::allocated);
        CHECK(all[5].body.address == 0xbeef00);
        CHECK(all[5].body.end_ticks == all[5].start_ticks);
        CHECK(all[6].body.what == device_activity::released);
        CHECK(all[6].body.bytes == 256);
    }

    TEST_CASE("a device's name is in every session's trace, although CUPTI sends it once") {
        auto device = CUpti_ActivityDevice5{};
        device.kind = CUPTI_ACTIVITY_KIND_DEVICE;
        device.id = 2;
        const std::string name = "A device of the tests' own";
        device.name = name.c_str();
        CHECK(record_devices([&] { fake::append(device); }).device_names.at(2) == name);
        const recorded_devices later = record_devices([] { fake::call_launch({}); });
        CHECK(later.device_names.at(2) == name);
    }

    TEST_CASE("in a session that begins after CUDA, the driver names a device without a name from "
              "CUPTI") {
        auto named = CUpti_ActivityDevice5{};
        named.kind = CUPTI_ACTIVITY_KIND_DEVICE;
        named.id = 0;
        named.name = "CUPTI's name";
        fake::set_driver_devices(2);
        const recorded_devices first = record_devices([&] {
            fake::append(named);
            fake::call_launch({.device = 1});
        });
        fake::set_driver_devices(0);
        CHECK(first.device_names.at(0) == "CUPTI's name");
        CHECK(first.device_names.at(1) == "Device 1");
    }

    TEST_CASE("the driver names a device when the session ends, if CUDA began in it") {
        const recorded_devices first = record_devices([] {
            fake::call_launch({.device = 3});
            fake::deliver();
            fake::set_driver_devices(4);
        });
        fake::set_driver_devices(0);
        CHECK(first.device_names.at(3) == "Device 3");
    }

    TEST_CASE("a stream has the name that the program gave it, in later sessions, too") {
        auto named = CUpti_ActivityName{};
        named.kind = CUPTI_ACTIVITY_KIND_NAME;
        named.objectKind = CUPTI_ACTIVITY_OBJECT_STREAM;
        named.objectId.dcs = {0, 1, 13};
        named.name = "uploads";
        auto created = CUpti_ActivityStream{};
        created.kind = CUPTI_ACTIVITY_KIND_STREAM;
        created.contextId = 1;
        created.streamId = 7;
        created.flag = CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL;
        auto plain = created;
        plain.streamId = 14;
        plain.flag = CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING;
        const std::map<std::pair<std::uint64_t, std::uint32_t>, std::string> wanted{
            {{1, 7}, "default"}, {{1, 13}, "uploads"}};
        const recorded_devices first = record_devices([&] {
            fake::append(named);
            fake::append(created);
            fake::append(plain);
        });
        CHECK(first.stream_names == wanted);
        const recorded_devices later = record_devices([] { fake::call_launch({}); });
        CHECK(later.stream_names == wanted);
    }

    TEST_CASE("an activity that ended before the session is left out, and one that was under way "
              "is not") {
        const std::uint64_t long_ago = moment();
        const recorded_devices found = record_devices([&] {
            fake::call_launch(
                {.kernel = "before", .start_ns = long_ago - 2000, .end_ns = long_ago});
            fake::call_launch({.kernel = "across", .start_ns = long_ago, .end_ns = moment() + 10});
            fake::call_launch({.kernel = "inside"});
        });
        REQUIRE(found.kernels().size() == 2);
        CHECK(found.kernels()[0].name == "across");
        CHECK(found.kernels()[1].name == "inside");
        CHECK(found.header.lost_device_records == 0);
    }

    TEST_CASE("kernels of many streams may come in any order, and keep their times") {
        const recorded_devices found = record_devices([] {
            const std::uint64_t base = moment();
            for (std::uint32_t at = 0; at < 100; ++at) {
                const std::uint64_t start = base + (at * 37 % 100) * 1000;
                fake::call_launch(
                    {.stream = at, .kernel_first = true, .start_ns = start, .end_ns = start + at});
            }
        });
        const auto kernels = found.kernels();
        REQUIRE(kernels.size() == 100);
        const double rate = static_cast<double>(kernels[3].start_ticks - kernels[0].start_ticks) /
                            static_cast<double>((3 * 37 % 100) * 1000);
        for (std::uint32_t at = 0; at < 100; ++at) {
            CHECK(kernels[at].body.stream == at);
            const auto ticks =
                static_cast<double>(kernels[at].start_ticks - kernels[0].start_ticks);
            CHECK(ticks / rate == doctest::Approx((at * 37 % 100) * 1000).epsilon(0.001));
        }
    }

    TEST_CASE("a name of 5,000 characters is cut and counted, and a name that cannot be demangled "
              "is kept") {
        const std::string longest(5000, 'k');
        const recorded_devices found = record_devices([&] {
            fake::call_launch({.kernel = longest.c_str()});
            fake::call_launch({.kernel = longest.c_str()});
            fake::call_launch({.kernel = "_Z9broken!!"});
            fake::call_launch({.kernel = ""});
            fake::call_launch({.kernel = nullptr});
        });
        const auto kernels = found.kernels();
        REQUIRE(kernels.size() == 5);
        CHECK(kernels[0].name == longest.substr(0, trace::payload_limit));
        CHECK(kernels[1].name == kernels[0].name);
        CHECK(found.cut_texts == 1);
        CHECK(kernels[2].name == "_Z9broken!!");
        CHECK(kernels[3].name == "(unnamed kernel)");
        CHECK(kernels[4].name == "(unnamed kernel)");
        const recorded_devices next =
            record_devices([&] { fake::call_launch({.kernel = longest.c_str()}); });
        CHECK(next.cut_texts == 1);
    }

    TEST_CASE("more kernels than the table of names holds keep their names") {
        std::vector<std::string> names;
        for (int at = 0; at < 6000; ++at) names.push_back("kernel_" + std::to_string(at));
        const recorded_devices found = record_devices([&] {
            for (const std::string& name : names) fake::call_launch({.kernel = name.c_str()});
            fake::deliver();
            for (const std::string& name : names) fake::call_launch({.kernel = name.c_str()});
        });
        const auto kernels = found.kernels();
        REQUIRE(kernels.size() == 12000);
        std::size_t wrong = 0;
        for (std::size_t at = 0; at < kernels.size(); ++at)
            wrong += kernels[at].name == names[at % 6000] ? 0U : 1U;
        CHECK(wrong == 0);
    }

    TEST_CASE("if CUPTI does not use our clock, its own clock is read beside ours") {
        fake::refuse_clock(CUPTI_ERROR_NOT_SUPPORTED);
        fake::refuse_callbacks(CUPTI_ERROR_NOT_SUPPORTED);
        const std::uint64_t opened = detail::session_ticks();
        std::uint64_t before = 0;
        std::uint64_t behind = 0;
        const recorded_devices found = record_devices([&] {
            before = detail::session_ticks();
            fake::call_launch({});
            behind = detail::session_ticks();
        });
        fake::refuse_clock(CUPTI_SUCCESS);
        fake::refuse_callbacks(CUPTI_SUCCESS);
        const auto calls = found.of(device_activity::runtime_call);
        REQUIRE(calls.size() == 1);
        // The clocks are read beside each other after `opened`, which bounds the readings' error.
        const std::uint64_t slack = behind - opened;
        CHECK(calls[0].start_ticks + slack >= before);
        CHECK(calls[0].body.end_ticks <= behind + slack);
    }

    TEST_CASE("if CUPTI does not use our clock, each call begins at its thread's time, although "
              "clocks drift") {
        fake::refuse_clock(CUPTI_ERROR_NOT_SUPPORTED);
        std::vector<std::uint64_t> moments;
        const recorded_devices found = record_devices([&] {
            for (const bool with_driver_call : {false, true}) {
                for (const std::int64_t ahead_ns : {0, 50'000, -2'000'000, 700'000}) {
                    fake::skew_clock(ahead_ns);
                    moments.push_back(detail::session_ticks());
                    fake::call_launch({.with_driver_call = with_driver_call});
                }
            }
            moments.push_back(detail::session_ticks());
        });
        fake::skew_clock(0);
        fake::refuse_clock(CUPTI_SUCCESS);
        const auto calls = found.of(device_activity::runtime_call);
        REQUIRE(calls.size() == 8);
        for (std::size_t at = 0; at < calls.size(); ++at) {
            CHECK(calls[at].start_ticks >= moments[at]);
            CHECK(calls[at].start_ticks <= moments[at + 1]);
            CHECK(found.kernels()[at].start_ticks >= calls[at].start_ticks);
        }
        CHECK(found.of(device_activity::driver_call).size() == 4);
    }

    TEST_CASE("an await's stream has CUPTI's number, and so has the default stream") {
        const recorded_devices found = record_devices([&] {
            detail::note_stream_wait(reinterpret_cast<void*>(0x21), 77);
            detail::note_stream_wait(nullptr, 78);
            detail::note_stream_wait(nullptr, 79, true);
        });
        REQUIRE(found.waits.size() == 3);
        CHECK(found.waits[0].task == 77);
        CHECK(found.waits[0].stream == 0x21);
        CHECK(found.waits[0].context == 9);
        CHECK(found.waits[1].stream == 1);
        CHECK(found.waits[2].stream == 2);
        profile without_devices;
        detail::note_stream_wait(nullptr, 80);
        CHECK(decode(without_devices.stop()).waits.empty());
    }
}
