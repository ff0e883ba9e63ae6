// SPDX-License-Identifier: Apache-2.0

// Sessions that record devices: losses are counted, refusals are reported, and nothing hangs.

#include <atomic>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "../runtime/support/build.hpp"
#include "recorded_devices.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// Restores the usual answers of the fake CUPTI at the end of the test.
struct refusal {
    ~refusal() {
        fake::refuse_subscribers(CUPTI_SUCCESS);
        for (const CUpti_ActivityKind kind :
             {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMORY2,
              CUPTI_ACTIVITY_KIND_OVERHEAD})
            fake::refuse_kind(kind, CUPTI_SUCCESS);
    }
};

struct refused_session {
    session_status status;
    recorded_devices found;
};

// A session that asks for devices, does not get them, and still records a scope.
refused_session run_refused() {
    profile session({.use_device = "cuda"});
    {
        COROSCOPE("on the host");
    }
    fake::call_launch({});
    const session_status status = session.status();
    return {status, decode(session.stop())};
}

void check_refused(const refused_session& refused, const std::string& why) {
    CHECK(refused.status.state == session_state::recording);
    CHECK_MESSAGE(contains(refused.status.message, why), refused.status.message);
    CHECK("Devices are not recorded: " + refused.found.message() == refused.status.message);
    CHECK(refused.found.header.devices ==
          static_cast<std::uint64_t>(trace::device_recording::not_recorded));
    CHECK(refused.found.activities.empty());
    CHECK(refused.found.scopes == std::vector<std::string>{"on the host"});
}

// A session starts a thread and allocates. In the child of a process with several threads
// ThreadSanitizer refuses new threads, and AddressSanitizer's allocator may stay locked.
constexpr bool child_may_start_session = !sanitized;

// In the child: no function of CUPTI is called, and a session reports that.
bool behave_as_child() {
    const std::uint64_t before = fake::calls();
    {
        const context_guard guard(context(5, current_context().session, 0));
        const detail::noted_event_wait wait = detail::note_event_wait(&before, 5);
        detail::note_stream_wait(nullptr, 5);
        if (wait.ticks != 0) return false;
    }
    if (cuda::latest_recorded_work().activities != 0) return false;
    if (child_may_start_session) {
        profile session({.use_device = "cuda"});
        const context_guard guard(context(5, current_context().session, 0));
        const session_status status = session.status();
        session.stop();
        if (status.state != session_state::recording || !contains(status.message, "forked"))
            return false;
    }
    return fake::calls() == before;
}

// The child's exit code. A child that hangs is killed and is a failure.
int wait_for(pid_t child) {
    int status = -1;
    for (int tries = 0; tries < 60'000; ++tries) {
        if (::waitpid(child, &status, WNOHANG) == child)
            return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    return -2;
}

}  // namespace

TEST_SUITE("sessions with devices") {
    TEST_CASE("a session that does not ask for devices has none, and calls no function of CUPTI") {
        const std::uint64_t before = fake::calls();
        profile session;
        const recorded_devices found = decode(session.stop());
        CHECK(fake::calls() == before);
        CHECK(found.header.devices ==
              static_cast<std::uint64_t>(trace::device_recording::not_asked));
        CHECK(found.message().empty());
    }

    TEST_CASE("a CUPTI that keeps full buffers until a flush loses no record") {
        constexpr std::uint64_t buffers = 33;  // one more than CUPTI has
        constexpr std::uint64_t launches_of_each = 100;
        fake::keep_buffers(true);
        std::uint64_t launches = 0;
        const recorded_devices found = record_devices([&] {
            for (std::uint64_t buffer = 0; buffer < buffers; ++buffer) {
                // A flush takes the buffer before it is full if launches are slow.
                for (std::uint64_t each = 0; each < launches_of_each; ++each, ++launches)
                    fake::call_launch({});
                fake::fill_buffer();
                for (int tries = 0; fake::kept_buffers() != 0 && tries < 60'000; ++tries)
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                if (fake::kept_buffers() != 0) break;
            }
        });
        fake::keep_buffers(false);
        CHECK(launches == buffers * launches_of_each);
        CHECK(found.kernels().size() == launches);
        CHECK(found.header.lost_device_records == 0);
    }

    TEST_CASE("the availability of CUPTI can be queried without a session") {
        CHECK(cuda::available());
        CHECK(std::string(cuda::why_unavailable()).empty());
    }

    TEST_CASE("another subscribed profiler is reported with CUPTI's error") {
        const refusal restored;
        fake::refuse_subscribers(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
        check_refused(run_refused(), "another profiler has subscribed "
                                     "(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)");
        CHECK_FALSE(fake::is_subscribed());
    }

    TEST_CASE("missing permission is reported, and CUPTI is left to others") {
        const refusal restored;
        fake::refuse_kind(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                          CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
        check_refused(run_refused(), "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES");
        CHECK_FALSE(fake::is_subscribed());
    }

    TEST_CASE("an error for which CUPTI has no text is reported, too") {
        const refusal restored;
        fake::refuse_subscribers(static_cast<CUptiResult>(4321));
        check_refused(run_refused(), "cuptiSubscribe answers an error that CUPTI has no text for");
    }

    TEST_CASE("a kind that CUPTI refuses is left out and named, and the rest is recorded") {
        const refusal restored;
        fake::refuse_kind(CUPTI_ACTIVITY_KIND_MEMORY2, CUPTI_ERROR_NOT_SUPPORTED);
        fake::refuse_kind(CUPTI_ACTIVITY_KIND_OVERHEAD, CUPTI_ERROR_NOT_INITIALIZED);
        const recorded_devices found = record_devices([] { fake::call_launch({}); });
        CHECK(found.recorded());
        CHECK(found.message() == "CUPTI does not record overhead (CUPTI_ERROR_NOT_INITIALIZED), "
                                 "memory (CUPTI_ERROR_NOT_SUPPORTED)");
        CHECK(found.kernels().size() == 1);
    }

    TEST_CASE("one session at a time records devices") {
        profile first({.use_device = "cuda"});
        CHECK(fake::is_subscribed());
        std::thread([] {
            profile second({.use_device = "cuda"});
            CHECK(second.status().state == session_state::recording);
            CHECK(contains(second.status().message, "another session records them"));
            fake::call_launch({.kernel = "beside"});
            const recorded_devices found = decode(second.stop());
            CHECK_FALSE(found.recorded());
            CHECK(found.activities.empty());
        }).join();
        fake::call_launch({.kernel = "own"});
        const recorded_devices found = decode(first.stop());
        CHECK(found.recorded());
        CHECK(found.kernels().size() == 2);
        CHECK_FALSE(fake::is_subscribed());
        CHECK(record_devices([] { fake::call_launch({}); }).kernels().size() == 1);
    }

    TEST_CASE("records that CUPTI drops are counted") {
        const recorded_devices found = record_devices([] {
            fake::call_launch({});
            fake::drop(5);
            fake::deliver();
            fake::drop(12);
        });
        CHECK(found.header.lost_device_records == 17);
        CHECK(contains(found.message(), "17 records"));
        CHECK(record_devices([] {}).header.lost_device_records == 0);
    }

    TEST_CASE("a session that is stopped with work in flight counts the missing records") {
        const recorded_devices found = record_devices([] {
            fake::call_launch({.kernel = "done"});
            for (int at = 0; at < 3; ++at) fake::call_launch({.unfinished = true});
        });
        CHECK(found.kernels().size() == 1);
        CHECK(found.of(trace::device_activity::runtime_call).size() == 4);
        CHECK(found.header.lost_device_records == 3);
    }

    TEST_CASE("buffers that never come back are counted, and records after the stop do no harm") {
        const recorded_devices found = record_devices([] {
            fake::call_launch({});
            fake::hold_buffers(true);
        });
        CHECK(found.activities.empty());
        CHECK(found.header.lost_device_records == 1);
        CHECK(contains(found.message(), "1 buffers did not come back"));
        fake::hold_buffers(false);
        fake::deliver();
        const recorded_devices next = record_devices([] { fake::call_launch({}); });
        CHECK(next.kernels().size() == 1);
        CHECK(next.header.lost_device_records == 0);
    }

    TEST_CASE("an old buffer that comes back in a later session adds nothing to it") {
        record_devices([] {
            fake::call_launch({.kernel = "old"});
            fake::hold_buffers(true);
        });
        const recorded_devices next = record_devices([] {
            fake::hold_buffers(false);
            fake::deliver();
            fake::call_launch({.kernel = "new"});
        });
        REQUIRE(next.kernels().size() == 1);
        CHECK(next.kernels()[0].name == "new");
    }

    TEST_CASE("if all buffers are out, CUPTI gets none, and its drops are counted") {
        const recorded_devices found = record_devices([] {
            fake::call_launch({});
            fake::hold_buffers(true);
            // A buffer of 1 MiB holds some 3,000 launches, and there are 32 buffers.
            for (int at = 0; at < 200'000; ++at) fake::call_launch({});
        });
        fake::hold_buffers(false);
        fake::deliver();
        CHECK(found.header.lost_device_records > 1000);
        CHECK(contains(found.message(), "32 buffers did not come back"));
    }

    TEST_CASE("a context that is destroyed during the session leaves its records") {
        const recorded_devices found = record_devices([] {
            fake::call_launch({.context = 4});
            fake::destroy_context();
            fake::call_launch({.context = 5});
        });
        REQUIRE(found.kernels().size() == 2);
        CHECK(found.kernels()[0].body.context == 4);
        CHECK(found.header.lost_device_records == 0);
    }

    TEST_CASE("a full trace drops device records and counts them, like other records") {
        const recorded_devices found = record_devices(
            [] {
                for (int at = 0; at < 60'000; ++at) fake::call_launch({});
            },
            {.limit_bytes = 1U << 22});
        CHECK_FALSE(found.kernels().empty());
        CHECK(found.activities.size() < 120'000);
        CHECK(found.activities.size() + found.dropped_records == 120'000);
    }

    TEST_CASE("a child after fork records no devices and calls no function of CUPTI, and the "
              "parent goes on") {
        const recorded_devices found = record_devices([] {
            fake::call_launch({.kernel = "parent"});
            const pid_t child = ::fork();
            REQUIRE(child >= 0);
            if (child == 0) ::_exit(behave_as_child() ? 0 : 1);
            CHECK(wait_for(child) == 0);
            fake::call_launch({.kernel = "parent"});
        });
        CHECK(found.kernels().size() == 2);
        CHECK(found.header.lost_device_records == 0);
    }

    TEST_CASE("sessions start and stop while threads launch") {
        std::atomic<bool> ends{false};
        std::thread busy([&ends] {
            while (!ends) {
                const context_guard guard(context(3, 0, 0));
                fake::call_launch({});
            }
        });
        for (int round = 0; round < 20; ++round) {
            const recorded_devices found =
                record_devices([] { std::this_thread::yield(); }, {.all_threads = true});
            for (const recorded_activity& each : found.activities)
                CHECK((each.body.task == 3 || each.body.task == 0));
        }
        ends = true;
        busy.join();
    }
}
