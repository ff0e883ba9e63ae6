// SPDX-License-Identifier: Apache-2.0

// The rows of `coroscope doctor` about memory, processors, descriptors and files, from planted readings and files.

#include <string>

#include <linux/magic.h>

#include "../support/system_root.hpp"
#include "doctor_readings.hpp"
#include "tools/doctor/judge_room.hpp"
#include "tools/doctor/read_container.hpp"
#include "tools/doctor/system_files.hpp"

using namespace coroscope::tools;

namespace {

struct planted_root : coroscope::test::system_root {
    planted_root& file(const std::string& path, const std::string& text) {
        system_root::file(path, text);
        return *this;
    }
    [[nodiscard]] container_readings container() const { return read_container(path()); }
};

}  // namespace

TEST_SUITE("doctor: room") {
    TEST_CASE("a trace in memory or over a network is possible, with a warning") {
        machine_readings read = able_machine();
        read.traces.found.file_system = TMPFS_MAGIC;
        CHECK(has(machine_row(read, "trace in this folder").why, "tmpfs"));
        CHECK(machine_row(read, "trace in this folder").state == fact_state::partly);
        read.traces.found.file_system = NFS_SUPER_MAGIC;
        CHECK(has(machine_row(read, "trace in this folder").why, "NFS"));
        CHECK(machine_row(read, "trace in this folder").state == fact_state::partly);
    }

    TEST_CASE("a number that the kernel gives with its sign names its file system") {
        machine_readings read = able_machine();
        read.traces.found.file_system = static_cast<std::int32_t>(0xff534d42);
        CHECK(has(machine_row(read, "trace in this folder").why, "CIFS"));
        read.traces.found.file_system = 0x1234;
        CHECK(has(machine_row(read, "trace in this folder").why, "file system 0x1234"));
    }

    TEST_CASE("no trace fits into a full or read-only folder") {
        machine_readings read = able_machine();
        read.traces.found.free_bytes = 1000;
        CHECK(machine_row(read, "trace in this folder").state == fact_state::no);
        read.traces.found.free_bytes = std::uint64_t{1} << 25;
        CHECK(machine_row(read, "trace in this folder").state == fact_state::partly);
        read.traces.found.writable = false;
        CHECK(machine_row(read, "trace in this folder").state == fact_state::no);
    }

    TEST_CASE("a file system that does not answer is unknown") {
        machine_readings read = able_machine();
        read.traces.end.timed_out = true;
        CHECK(machine_row(read, "trace in this folder").state == fact_state::unknown);
    }

    TEST_CASE("a container whose eighth is smaller than a trace's reserve is too small") {
        machine_readings read = able_machine();
        read.container.memory_limit = std::uint64_t{2} << 30;
        CHECK(machine_row(read, "memory for traces").state == fact_state::yes);
        CHECK(has(machine_row(read, "memory for traces").why, "at most 256.00 MB"));
        read.container.memory_limit = std::uint64_t{128} << 20;
        CHECK(machine_row(read, "memory for traces").state == fact_state::partly);
    }

    TEST_CASE("processors that the process may not use, and a quota, are shown") {
        machine_readings read = able_machine();
        read.container.processors = 2;
        read.container.quota = 1.5;
        CHECK(machine_row(read, "processors and quota").why ==
              "2 of 8 processors, with a quota of 1.50");
    }

    TEST_CASE("fewer descriptors than a ring per processor needs are reported") {
        machine_readings read = able_machine();
        read.limits.descriptors = 20;
        read.limits.most_descriptors = 30;
        CHECK(machine_row(read, "open files").state == fact_state::partly);
        CHECK(has(machine_row(read, "open files").change, "administrator"));
    }

    TEST_CASE("less locked memory than the kernel's own value is too little without CAP_IPC_LOCK") {
        machine_readings read = able_machine();
        read.limits.perf_event_mlock_kb = 64;
        CHECK(machine_row(read, "locked memory").state == fact_state::partly);
        read.privileges.capabilities = std::uint64_t{1} << 14;
        CHECK(machine_row(read, "locked memory").state == fact_state::yes);
    }

    TEST_CASE(
        "the limits of control groups of both versions are the least of a group and those above") {
        const container_readings second =
            planted_root()
                .file("/proc/self/cgroup", "0::/pod/service\n")
                .file("/sys/fs/cgroup/pod/memory.max", "1048576\n")
                .file("/sys/fs/cgroup/pod/service/memory.max", "max\n")
                .file("/sys/fs/cgroup/pod/service/cpu.max", "150000 100000\n")
                .file("/sys/fs/cgroup/pod/cpu.max", "max 100000\n")
                .container();
        CHECK(second.groups_known);
        CHECK(second.memory_limit == 1048576);
        CHECK(second.quota == 1.5);
        const container_readings first =
            planted_root()
                .file("/proc/self/cgroup", "4:memory:/a\n1:cpu,cpuacct:/a\n0::/\n")
                .file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
                .file("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "4096\n")
                .file("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "50000\n")
                .file("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n")
                .container();
        CHECK(first.memory_limit == 4096);
        CHECK(first.quota == 0.5);
    }

    TEST_CASE("control groups without limits, and none at all, differ") {
        const container_readings free =
            planted_root().file("/proc/self/cgroup", "0::/\n").container();
        CHECK(free.groups_known);
        CHECK_FALSE(free.memory_limit);
        CHECK_FALSE(free.quota);
        CHECK_FALSE(planted_root().container().groups_known);
    }
}

TEST_SUITE("doctor: system files") {
    TEST_CASE("a value is found by the whole name of its line") {
        const std::string text = "Seccomp_filters:\t3\nSeccomp:\t2\nlast: x";
        CHECK(value_of(text, "Seccomp") == "2");
        CHECK(value_of(text, "last") == "x");
        CHECK_FALSE(value_of(text, "Sec"));
    }

    TEST_CASE("only a whole word is found in a list") {
        CHECK(has_word("a tsc\n", "tsc"));
        CHECK_FALSE(has_word("tsc_page tsc-early", "tsc"));
        CHECK_FALSE(has_word("", "tsc"));
    }
}
