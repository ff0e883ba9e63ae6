// SPDX-License-Identifier: Apache-2.0

// Events: the stream of each event's last record, as an await names it, and the dependencies of
// streams. Nothing is guessed.

#include <thread>
#include <vector>

#include "recorded_devices.hpp"

using namespace coroscope;
using namespace coroscope::test;
using trace::device_activity;
using trace::device_unknown;

namespace {

constexpr std::uint32_t the_context = 9;  // the context of every stream here

// Handles of events. The memory behind them is never read.
char handles[4];
const void* const event = &handles[0];
const void* const other = &handles[1];

recorded_wait await_event(const void* awaited) {
    const recorded_devices found =
        record_devices([&] { detail::note_event_wait(awaited, 77); }, {.all_threads = true});
    REQUIRE(found.waits.size() == 1);
    return found.waits[0];
}

// The record of an await of `event` after `calls`.
template <class Calls>
recorded_wait await_after(const Calls& calls) {
    const recorded_devices found = record_devices([&] {
        calls();
        detail::note_event_wait(event, 77);
    });
    REQUIRE(found.waits.size() == 1);
    CHECK(found.waits[0].kind == trace::device_wait_kind::event);
    CHECK(found.waits[0].task == 77);
    CHECK(found.header.lost_device_records == 0);
    return found.waits[0];
}

bool is_unknown(const recorded_wait& wait) {
    return wait.stream == device_unknown && wait.context == device_unknown && wait.number == 0;
}

}  // namespace

TEST_SUITE("events of CUDA") {
    TEST_CASE("an await names the stream in which its event was recorded, and the call") {
        std::uint32_t number = 0;
        const recorded_wait wait =
            await_after([&] { number = fake::call_event_record(event, 33); });
        CHECK(wait.stream == 33);
        CHECK(wait.context == the_context);
        CHECK(wait.number == number);
    }

    TEST_CASE("the driver's functions count like the runtime's, and default streams have numbers") {
        CHECK(await_after([] {
                  fake::call_event_record(event, 5, fake::through::driver);
              }).stream == 5);
        CHECK(await_after([] { fake::call_event_record(event, 0); }).stream == 1);
        for (const fake::through by :
             {fake::through::per_thread_runtime, fake::through::per_thread_driver})
            CHECK(await_after([by] { fake::call_event_record(event, 0, by); }).stream == 2);
    }

    TEST_CASE("an await of an event that is recorded again names the last record") {
        std::uint32_t number = 0;
        const recorded_wait wait = await_after([&] {
            fake::call_event_record(event, 33);
            fake::call_event_record(other, 35);
            number = fake::call_event_record(event, 34);
        });
        CHECK(wait.stream == 34);
        CHECK(wait.number == number);
    }

    TEST_CASE("an event that was not seen being recorded is unknown") {
        CHECK(is_unknown(await_after([] {})));
        // Recorded in an earlier session, and without a session:
        record_devices([] { fake::call_event_record(event, 33); });
        fake::call_event_record(event, 34);
        CHECK(is_unknown(await_event(event)));
    }

    TEST_CASE("a record call that fails changes nothing") {
        const recorded_wait wait = await_after([] {
            fake::call_event_record(event, 33);
            fake::fail_next_event_call();
            fake::call_event_record(event, 34);
        });
        CHECK(wait.stream == 33);
    }

    TEST_CASE("a handle that is reused after its event was destroyed is another event") {
        for (const fake::through by : {fake::through::runtime, fake::through::driver})
            CHECK(is_unknown(await_after([by] {
                fake::call_event_record(event, 33);
                fake::call_event_destroy(event, by);
            })));
    }

    TEST_CASE(
        "an event that a graph records is unknown from then on, whenever the graph is launched") {
        CHECK(is_unknown(await_after([] {
            fake::call_event_record(event, 33);
            fake::add_to_graph(event);
            fake::call_event_record(event, 34);
        })));
        CHECK(await_after([] {
                  fake::add_to_graph(event);
                  fake::call_event_destroy(event);
                  fake::call_event_record(event, 35);
              }).stream == 35);
    }

    TEST_CASE("an event that a graph records is unknown also if CUPTI keeps its own clock") {
        fake::refuse_clock(CUPTI_ERROR_NOT_SUPPORTED);
        const auto graph = [](fake::through by) {
            return await_after([by] {
                fake::call_event_record(event, 33);
                fake::add_to_graph(event, by);
                fake::call_event_record(event, 34);
            });
        };
        CHECK(is_unknown(graph(fake::through::driver)));
        CHECK(is_unknown(graph(fake::through::runtime)));
        CHECK(await_after([] { fake::call_event_record(event, 33); }).stream == 33);
        fake::refuse_clock(CUPTI_SUCCESS);
    }

    TEST_CASE("a record call in a captured stream records nothing yet") {
        CHECK(is_unknown(await_after([] {
            fake::call_event_record(event, 33);
            fake::capture(34, true);
            fake::call_event_record(event, 34);
            fake::call_stream_wait(34, other);
            fake::capture(34, false);
        })));
        CHECK(await_after([] {
                  fake::capture(34, true);
                  fake::call_event_record(event, 34);
                  fake::capture(34, false);
                  fake::call_event_record(event, 34);
              }).stream == 34);
        // An event that a graph will record stays unknown afterwards, too.
        CHECK(is_unknown(await_after([] {
            fake::capture(34, true);
            fake::call_event_record(event, 34, fake::through::runtime, true);
            fake::capture(34, false);
            fake::call_event_record(event, 34);
        })));
    }

    TEST_CASE("an event that is recorded again during its await was waited for in both streams") {
        const recorded_devices found = record_devices([] {
            fake::call_event_record(event, 33);
            detail::noted_event_wait wait = detail::note_event_wait(event, 77);
            detail::look_at_event(wait, event);
            const std::uint32_t number = fake::call_event_record(event, 34);
            detail::look_at_event(wait, event);
            fake::call_event_record(event, 35);  // after the query that found it done
            detail::note_event_told(wait, 77);
            CHECK(wait.latest.correlation == number);
        });
        REQUIRE(found.waits.size() == 2);
        CHECK(found.waits[0].stream == 33);
        CHECK(found.waits[1].stream == 34);
        CHECK(found.waits[1].ticks == found.waits[0].ticks);
        CHECK(found.waits[1].task == 77);
        const recorded_devices once = record_devices([] {
            fake::call_event_record(event, 33);
            detail::noted_event_wait wait = detail::note_event_wait(event, 77);
            detail::look_at_event(wait, event);
            detail::note_event_told(wait, 77);
        });
        CHECK(once.waits.size() == 1);
    }

    TEST_CASE("the findings of an await from an earlier session do not enter a later one") {
        detail::noted_event_wait wait;
        record_devices([&] {
            fake::call_event_record(event, 33);
            wait = detail::note_event_wait(event, 77);
        });
        CHECK(wait.ticks != 0);
        const recorded_devices later = record_devices([&] {
            fake::call_event_record(event, 34);
            detail::look_at_event(wait, event);
            detail::note_event_told(wait, 77);
        });
        CHECK(wait.latest.stream == 34);
        CHECK(later.waits.empty());
    }

    TEST_CASE("a stream that waits for an event depends on the stream of the event's record") {
        std::uint32_t recorded = 0;
        std::uint32_t waits = 0;
        for (const fake::through by : {fake::through::runtime, fake::through::driver}) {
            const recorded_devices found = record_devices([&] {
                recorded = fake::call_event_record(event, 33, by);
                waits = fake::call_stream_wait(34, event, by);
                fake::call_event_record(event, 35);
            });
            const auto all = found.of(device_activity::dependency);
            REQUIRE(all.size() == 1);
            CHECK(all[0].body.context == the_context);
            CHECK(all[0].body.stream == 34);
            CHECK(all[0].body.correlation == waits);
            CHECK(all[0].body.awaited_context == the_context);
            CHECK(all[0].body.awaited_stream == 33);
            CHECK(all[0].body.awaited_correlation == recorded);
            CHECK(all[0].body.end_ticks == all[0].start_ticks);
        }
    }

    TEST_CASE("a stream that waits for its own event, or by a call that fails, has no dependency") {
        const recorded_devices found = record_devices([] {
            fake::call_event_record(event, 33);
            fake::call_stream_wait(33, event);
            fake::fail_next_event_call();
            fake::call_stream_wait(34, event);
        });
        CHECK(found.of(device_activity::dependency).empty());
    }

    TEST_CASE("a stream that waits for an unknown event has an unknown dependency") {
        const recorded_devices found = record_devices([] { fake::call_stream_wait(34, event); });
        const auto all = found.of(device_activity::dependency);
        REQUIRE(all.size() == 1);
        CHECK(all[0].body.awaited_stream == device_unknown);
        CHECK(all[0].body.awaited_correlation == 0);
    }

    TEST_CASE("if CUPTI makes no callbacks, events are unknown, and the session says so") {
        fake::refuse_callbacks(CUPTI_ERROR_NOT_SUPPORTED);
        const recorded_devices found = record_devices([] {
            fake::call_event_record(event, 33);
            detail::note_event_wait(event, 77);
            fake::call_launch({});
        });
        fake::refuse_callbacks(CUPTI_SUCCESS);
        CHECK(found.recorded());
        CHECK(found.message() == "CUPTI does not record events (CUPTI_ERROR_NOT_SUPPORTED)");
        CHECK(found.kernels().size() == 1);
        REQUIRE(found.waits.size() == 1);
        CHECK(is_unknown(found.waits[0]));
    }

    TEST_CASE("without devices an await of an event records nothing") {
        profile session;
        detail::noted_event_wait wait = detail::note_event_wait(event, 77);
        detail::look_at_event(wait, event);
        detail::note_event_told(wait, 77);
        CHECK(wait.ticks == 0);
        CHECK(decode(session.stop()).waits.empty());
    }

    TEST_CASE("threads may record, wait for and destroy their own events at the same time") {
        constexpr int rounds = 500;
        const recorded_devices found = record_devices(
            [] {
                std::vector<std::thread> threads;
                for (std::uint32_t each = 0; each < 4; ++each)
                    threads.emplace_back([each] {
                        const void* const own = &handles[each];
                        for (int round = 0; round < rounds; ++round) {
                            fake::call_event_record(own, 100 + each);
                            fake::call_stream_wait(200 + each, own);
                            detail::note_event_wait(own, each + 1);
                            fake::call_event_destroy(own);
                        }
                    });
                for (std::thread& thread : threads) thread.join();
            },
            {.all_threads = true});
        REQUIRE(found.waits.size() == 4 * rounds);
        for (const recorded_wait& wait : found.waits) CHECK(wait.stream == 99 + wait.task);
        const auto all = found.of(device_activity::dependency);
        CHECK(all.size() == 4 * rounds);
        for (const recorded_activity& each : all)
            CHECK(each.body.stream == each.body.awaited_stream + 100);
    }
}
