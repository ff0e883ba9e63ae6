// SPDX-License-Identifier: Apache-2.0

// A session whose disk fails: its status reports the error, the program goes on, lost records are
// counted, and the written ones load.

#include <atomic>
#include <cerrno>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>

#include "../../support/scratch_file.hpp"
#include "../store/refusing_disk.hpp"
#include "../support/session_support.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

constexpr std::uint64_t healthy_bytes = std::uint64_t{6} << 20;

// Atomic: the session's own thread reads it.
std::atomic<bool> failing{false};
int fail_behind(std::uint64_t end) { return failing && end > healthy_bytes ? EIO : 0; }

bool is_impaired(const session_status& status) {
    return status.error_number != 0 && status.lost_records != 0;
}

// Records until records are lost, and a while longer, also on a new thread. Returns the number of
// steps.
std::uint64_t record_until_impaired(const profile& session) {
    std::uint64_t attempted = 0;
    for (; !is_impaired(session.status()) && attempted < 40'000'000; attempted += 10'000)
        steps(10'000);
    std::thread([] { steps(1000); }).join();
    steps(10'000);
    return attempted + 11'000;
}

void check_failing_session() {
    const scratch_file file;
    failing = true;
    profile session{{.output = file.path(), .all_threads = true}};
    REQUIRE(session.status().state == session_state::recording);
    const std::uint64_t attempted = record_until_impaired(session);
    const session_status status = session.status();
    CHECK(status.state == session_state::recording);
    CHECK(status.error_number == EIO);
    CHECK(std::string_view(status.message) == "The trace cannot grow: records may be lost.");
    session.stop();
    failing = false;
    CHECK(session.status().state == session_state::stopped);
    CHECK(session.status().error_number == EIO);
    const analysis::trace trace = load(std::string(file.path()));
    CHECK(trace.health.finished);
    CHECK(trace.health.write_error == EIO);
    CHECK(count_steps(trace) > 50'000);
    CHECK(count_steps(trace) + trace.health.dropped_newest == attempted);
    CHECK(session.status().lost_records == trace.health.dropped_newest);
    CHECK(steps_by_thread(trace)[0].substr(0, 7) == "0123401");
}

}  // namespace

TEST_SUITE("sessions on failing disks") {
    TEST_CASE("an I/O error as the file grows is reported, and costs counted records") {
        allocation = fail_behind;
        check_failing_session();
        allocation = nullptr;
    }

    TEST_CASE("an I/O error as the file's pages are made is reported, and costs counted records") {
        writing = [](std::uint64_t, std::uint64_t end) { return fail_behind(end); };
        check_failing_session();
        writing = nullptr;
    }

    TEST_CASE("an I/O error that passes stays in the trace, and the session records again") {
        const scratch_file file;
        allocation = fail_behind;
        failing = true;
        profile session{{.output = file.path(), .all_threads = true}};
        std::uint64_t attempted = record_until_impaired(session);
        failing = false;
        const auto record_one = [&attempted] {
            COROSCOPE("step 0");
            ++attempted;
        };
        const auto lost = [&session] { return session.status().lost_records; };
        for (int tries = 0; tries < 30'000; ++tries) {
            const std::uint64_t before = lost();
            record_one();
            if (lost() == before) break;
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        {
            COROSCOPE("recorded again");
        }
        session.stop();
        allocation = nullptr;
        const analysis::trace trace = load(std::string(file.path()));
        CHECK(trace.health.write_error == EIO);
        CHECK(count(trace, "recorded again") == 1);
        CHECK(count_steps(trace) + trace.health.dropped_newest == attempted);
    }
}
