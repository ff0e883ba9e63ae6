// SPDX-License-Identifier: Apache-2.0

// The memory limit of a container, read from files like those of the kernel.

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "../../support/system_root.hpp"
#include "lib/runtime/base/container_memory.hpp"

using coroscope::runtime::container_memory;

namespace {

// The root with the limit that it has.
struct limited_root : coroscope::test::system_root {
    limited_root& file(const std::string& path, const std::string& text) {
        system_root::file(path, text);
        return *this;
    }
    limited_root& groups(const std::string& lines) {
        system_root::groups(lines);
        return *this;
    }
    [[nodiscard]] std::uint64_t limit() const { return container_memory(path()); }
};

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

}  // namespace

TEST_SUITE("container memory") {
    TEST_CASE(
        "without control groups, or without a limit in them, a container has no memory limit") {
        CHECK(limited_root().limit() == 0);
        CHECK(limited_root().groups("0::/\n").limit() == 0);
        CHECK(limited_root()
                  .groups("0::/service\n")
                  .file("/sys/fs/cgroup/service/memory.max", "max\n")
                  .limit() == 0);
        CHECK(limited_root()
                  .groups("3:memory:/\n")
                  .file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
                  .limit() == 0);
    }

    TEST_CASE("the smallest limit of nested groups of version 2 applies") {
        limited_root root;
        root.groups("0::/a/b/c\n")
            .file("/sys/fs/cgroup/a/memory.max", "1073741824\n")
            .file("/sys/fs/cgroup/a/b/memory.max", "268435456\n")
            .file("/sys/fs/cgroup/a/b/c/memory.max", "max\n");
        CHECK(root.limit() == 256 * mebibyte);
        root.file("/sys/fs/cgroup/a/b/c/memory.max", "536870912\n");
        CHECK(root.limit() == 256 * mebibyte);
        root.file("/sys/fs/cgroup/a/memory.max", "134217728\n");
        CHECK(root.limit() == 128 * mebibyte);
    }

    TEST_CASE("a container whose own group is the root has the limit of the root") {
        CHECK(limited_root()
                  .groups("0::/\n")
                  .file("/sys/fs/cgroup/memory.max", "67108864\n")
                  .limit() == 64 * mebibyte);
        // The group has its name from the host; the container sees only the root.
        CHECK(limited_root()
                  .groups("12:cpu,cpuacct:/docker/1f\n7:memory:/docker/1f\n")
                  .file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "67108864\n")
                  .limit() == 64 * mebibyte);
    }

    TEST_CASE("only the memory controller counts among groups of version 1") {
        limited_root root;
        root.groups("5:cpuset:/x\n4:memory:/a/b\n0::/other\n")
            .file("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "33554432\n")
            .file("/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "67108864\n")
            .file("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "4096\n");
        CHECK(root.limit() == 32 * mebibyte);
        root.file("/sys/fs/cgroup/unified/other/memory.max", "16777216\n");
        CHECK(root.limit() == 16 * mebibyte);
    }

    TEST_CASE("a trace may take an eighth of the container's memory, unless a limit is given") {
        constexpr std::uint64_t usual = 1024 * mebibyte;
        const auto bytes = [](std::uint64_t asked, std::uint64_t container) {
            return coroscope::runtime::limit_within(asked, usual, container);
        };
        CHECK(bytes(0, 0).bytes == usual);
        CHECK(bytes(0, 0).container_bytes == 0);
        CHECK(bytes(0, 1024 * mebibyte).bytes == 128 * mebibyte);
        CHECK(bytes(0, 1024 * mebibyte).container_bytes == 1024 * mebibyte);
        CHECK(bytes(0, 8192 * mebibyte).bytes == usual);
        CHECK(bytes(0, 8192 * mebibyte).container_bytes == 0);
        CHECK(bytes(2048 * mebibyte, 1024 * mebibyte).bytes == 2048 * mebibyte);
        CHECK(bytes(2048 * mebibyte, 1024 * mebibyte).container_bytes == 0);
    }

    TEST_CASE("invalid lines and limits are skipped") {
        CHECK(limited_root()
                  .groups("nonsense\n::\n0::/../up\n0::/a\n")
                  .file("/sys/fs/cgroup/a/memory.max", "-1\n")
                  .file("/sys/fs/cgroup/memory.max", "")
                  .limit() == 0);
    }
}
