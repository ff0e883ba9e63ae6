// SPDX-License-Identifier: Apache-2.0

// The processor time of a container, read from files that look like those of the kernel.

#include <doctest/doctest.h>

#include "../../support/system_root.hpp"
#include "lib/runtime/base/container_processors.hpp"

using coroscope::runtime::container_quota_percent;
using coroscope::runtime::usable_processors;
using coroscope::test::system_root;

namespace {

std::uint32_t quota(const system_root& root) { return container_quota_percent(root.path()); }

}  // namespace

TEST_SUITE("container processors") {
    TEST_CASE("the process may use at least one processor") { CHECK(usable_processors() >= 1); }

    TEST_CASE("without control groups, or without a limit, there is no quota") {
        CHECK(quota(system_root()) == 0);
        CHECK(quota(system_root().groups("0::/a\n").file("/sys/fs/cgroup/a/cpu.max",
                                                         "max 100000\n")) == 0);
        CHECK(quota(system_root()
                        .groups("4:cpu,cpuacct:/\n")
                        .file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n")
                        .file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n")) == 0);
    }

    TEST_CASE("the least quota of nested groups of version 2 applies") {
        CHECK(quota(system_root()
                        .groups("0::/a/b\n")
                        .file("/sys/fs/cgroup/a/cpu.max", "150000 100000\n")
                        .file("/sys/fs/cgroup/a/b/cpu.max", "400000 100000\n")) == 150);
    }

    TEST_CASE("groups of version 1 have quota and period in two files") {
        CHECK(quota(system_root()
                        .groups("4:cpu,cpuacct:/a\n3:memory:/a\n")
                        .file("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "25000\n")
                        .file("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "50000\n")) == 50);
    }

    TEST_CASE("invalid quotas are skipped") {
        CHECK(quota(system_root().groups("0::/a\n").file("/sys/fs/cgroup/a/cpu.max",
                                                         "100000 0\n")) == 0);
        CHECK(quota(system_root().groups("0::/a\n").file("/sys/fs/cgroup/a/cpu.max", "-5\n")) == 0);
    }
}
