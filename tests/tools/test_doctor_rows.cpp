// SPDX-License-Identifier: Apache-2.0

// The rows of `coroscope doctor` about threads, the clock, lines and devices, from planted readings.

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <string>

#include "doctor_readings.hpp"
#include "tools/doctor/judge_threads.hpp"

using namespace coroscope::tools;

namespace {

fact switches_refused(int error, const privilege_readings& of) {
    return judge_switches({.found = {.open_error = error}}, of);
}

}  // namespace

TEST_SUITE("doctor: the machine") {
    TEST_CASE("on a machine without obstacles every fact is yes and needs no change") {
        for (const fact& each : judge_machine(able_machine())) {
            CAPTURE(each.name);
            CHECK(each.state == fact_state::yes);
            CHECK_FALSE(each.why.empty());
            CHECK(each.change.empty());
        }
    }

    TEST_CASE("readings that all failed are unknown or no, except for scopes") {
        for (const fact& each : judge_machine({})) {
            CAPTURE(each.name);
            CHECK((each.state == fact_state::yes) == (each.name == "scopes and tasks"));
            CHECK_FALSE(each.why.empty());
        }
        CHECK_FALSE(lacks_essential(judge_machine({})));
    }

    TEST_CASE("each state has its word in the listing") {
        const facts rows{{.name = "a", .state = fact_state::yes},
                         {.name = "b", .state = fact_state::partly},
                         {.name = "c", .state = fact_state::no},
                         {.name = "d", .state = fact_state::unknown}};
        CHECK(coroscope::analysis::to_csv(list_facts(rows)) ==
              "fact,state,why,change\na,yes,,\nb,partly,,\nc,no,,\nd,unknown,,\n");
    }
}

TEST_SUITE("doctor: context switches") {
    TEST_CASE(
        "a paranoid level above 2 is the reason of EACCES, unless the process has CAP_PERFMON") {
        const fact debian = switches_refused(EACCES, privileges(3));
        CHECK(debian.state == fact_state::no);
        CHECK(has(debian.why, "kernel.perf_event_paranoid is 3"));
        CHECK(has(debian.change, "sysctl kernel.perf_event_paranoid=2"));
        const fact able = switches_refused(EACCES, privileges(3, 0, std::uint64_t{1} << 38));
        CHECK(able.state == fact_state::no);
        CHECK_FALSE(has(able.change, "sysctl"));
        CHECK(has(able.change, "security module"));
    }

    TEST_CASE("a seccomp filter is the reason of EPERM and of ENOSYS") {
        for (const int error : {EPERM, ENOSYS}) {
            const fact refused = switches_refused(error, privileges(2, 2));
            CHECK(refused.state == fact_state::no);
            CHECK(has(refused.why, "seccomp filter"));
            CHECK(has(refused.change, "--cap-add PERFMON"));
            CHECK_FALSE(has(refused.change, "sysctl"));
        }
    }

    TEST_CASE("a filter that allows the call needs the program's trust") {
        machine_readings read = able_machine();
        read.privileges.seccomp = 2;
        const fact allowed = machine_row(read, "context switches");
        CHECK(allowed.state == fact_state::partly);
        CHECK(has(allowed.change, "COROSCOPE_THREAD_STATES=switches"));
    }

    TEST_CASE("a filter and a paranoid level are both named if both refuse") {
        const fact refused = switches_refused(EPERM, privileges(4, 2));
        CHECK(has(refused.why, "seccomp filter"));
        CHECK(has(refused.why, "is 4"));
        CHECK(has(refused.change, "seccomp profile"));
        CHECK(has(refused.change, "sysctl"));
    }

    TEST_CASE("without a filter ENOSYS is a kernel without the call") {
        const fact refused = switches_refused(ENOSYS, privileges(2));
        CHECK(has(refused.why, "the kernel lacks it"));
        CHECK(has(refused.change, "CONFIG_PERF_EVENTS"));
    }

    TEST_CASE("an old kernel, and a full table of descriptors, have changes of their own") {
        CHECK(has(switches_refused(EINVAL, privileges(2)).change, "Linux 4.3"));
        CHECK(has(switches_refused(EMFILE, privileges(2)).change, "ulimit -n"));
    }

    TEST_CASE("an event whose ring cannot be mapped records nothing") {
        const fact refused = judge_switches({.found = {.map_error = EPERM}}, privileges(2));
        CHECK(refused.state == fact_state::no);
        CHECK(has(refused.change, "perf_event_mlock_kb"));
    }

    TEST_CASE("an event that records no switch proves nothing") {
        CHECK(judge_switches({}, privileges(2)).state == fact_state::unknown);
    }

    TEST_CASE("a filter that ends the process is a reason; another end is unknown") {
        const fact filtered = judge_switches({.end = {.signal = SIGSYS}}, privileges(2, 2));
        CHECK(filtered.state == fact_state::no);
        CHECK(has(filtered.why, "a seccomp filter ends each process"));
        for (const child_end& end : {child_end{.signal = SIGSEGV}, child_end{.timed_out = true},
                                     child_end{.error = EAGAIN}}) {
            const fact given_up = judge_switches({.end = end}, privileges(2));
            CHECK(given_up.state == fact_state::unknown);
            CHECK_FALSE(given_up.why.empty());
        }
    }
}

TEST_SUITE("doctor: threads and locks") {
    TEST_CASE("a schedstat of zeros means that times per thread cannot be recorded") {
        machine_readings read = able_machine();
        read.threads.found.sums_counted = false;
        CHECK(machine_row(read, "times per thread").state == fact_state::no);
        read.threads.found.sums_error = ENOENT;
        CHECK(has(machine_row(read, "times per thread").change, "/proc"));
    }

    TEST_CASE("without the blocking system call, the lock holders are not known either") {
        machine_readings read = able_machine();
        read.threads.found.call_error = EACCES;
        CHECK(machine_row(read, "blocking system calls").state == fact_state::no);
        CHECK(machine_row(read, "lock holders").state == fact_state::no);
        read.threads.found = {.sums_counted = true};
        CHECK(machine_row(read, "blocking system calls").state == fact_state::unknown);
        CHECK(machine_row(read, "lock holders").state == fact_state::unknown);
    }

    TEST_CASE("a lock of another layout has no known holder") {
        machine_readings read = able_machine();
        read.locks.found.rwlock_writer = false;
        CHECK(machine_row(read, "lock holders").state == fact_state::partly);
        read.locks.found.mutex_holder = false;
        CHECK(machine_row(read, "lock holders").state == fact_state::no);
        read.locks.found.read_error = EPERM;
        read.privileges.seccomp = 2;
        CHECK(has(machine_row(read, "lock holders").change, "SYS_PTRACE"));
    }

    TEST_CASE("under a seccomp filter the facts of threads must be asked for") {
        machine_readings read = able_machine();
        read.privileges.seccomp = 2;
        for (const char* name : {"times per thread", "blocking system calls", "lock holders"}) {
            const fact row = machine_row(read, name);
            CHECK(row.state == fact_state::partly);
            CHECK(has(row.why, "seccomp filter"));
            CHECK(has(row.change, "COROSCOPE_THREAD_STATES=1"));
        }
    }

    TEST_CASE("a thread that cannot be started leaves its facts unknown") {
        machine_readings read = able_machine();
        read.threads.found = {.thread_error = EAGAIN};
        CHECK(machine_row(read, "times per thread").state == fact_state::unknown);
        CHECK(has(machine_row(read, "blocking system calls").change, "ulimit -u"));
    }
}

TEST_SUITE("doctor: clock, lines and devices") {
    TEST_CASE("a counter that is variable, distrusted or not wanted is no clock") {
        machine_readings read = able_machine();
        read.clock.invariant = false;
        CHECK(machine_row(read, "fast clock").state == fact_state::partly);
        CHECK(has(machine_row(read, "fast clock").change, "+invtsc"));
        read.clock.invariant = true;
        read.clock.available_sources = "hyperv_clocksource_tsc_page acpi_pm";
        CHECK(has(machine_row(read, "fast clock").why, "does not trust"));
        read.clock.asked_for_monotonic = true;
        CHECK(has(machine_row(read, "fast clock").change, "COROSCOPE_CLOCK"));
        read.clock = {.machine = "x86_64"};
        CHECK(machine_row(read, "fast clock").state == fact_state::unknown);
        read.clock = {.machine = "aarch64"};
        CHECK(machine_row(read, "fast clock").state == fact_state::yes);
    }

    TEST_CASE("a command without libdw names modules and offsets") {
        machine_readings read = able_machine();
        read.libdw = false;
        CHECK(machine_row(read, "lines of stacks").state == fact_state::partly);
    }

    TEST_CASE("a driver for administrators may refuse everyone else") {
        machine_readings read = able_machine();
        read.devices_for_admins = true;
        CHECK(machine_row(read, "NVIDIA GPUs").state == fact_state::partly);
        CHECK(
            has(machine_row(read, "NVIDIA GPUs").change, "NVreg_RestrictProfilingToAdminUsers=0"));
        read.privileges.capabilities = std::uint64_t{1} << 21;
        CHECK(machine_row(read, "NVIDIA GPUs").state == fact_state::yes);
    }

    TEST_CASE("a driver without CUPTI records nothing") {
        machine_readings read = able_machine();
        read.devices.found.cupti[0] = '\0';
        CHECK(machine_row(read, "NVIDIA GPUs").state == fact_state::no);
        CHECK(has(machine_row(read, "NVIDIA GPUs").why, "no libcupti"));
    }
}
