// SPDX-License-Identifier: Apache-2.0

// A program that locks its memory (mlockall) does not hold a trace's whole reserve in memory.

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>
#include <functional>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/memcheck.hpp"
#include "lib/runtime/base/unlocked_memory.hpp"
#include "lib/runtime/store/mapping.hpp"
#include "scratch_file.hpp"
#include "skip.hpp"

using namespace coroscope;
using namespace coroscope::test;
using runtime::mapping;

namespace {

constexpr std::uint64_t megabyte = std::uint64_t{1} << 20;
constexpr std::uint64_t reserve = 256 * megabyte;
constexpr long some_kib = 16 * 1024;

struct memory_use {
    long resident_kib = 0;
    long locked_kib = 0;
};

memory_use memory_now() {
    memory_use now;
    std::FILE* file = std::fopen("/proc/self/status", "r");
    if (file == nullptr) return now;
    char line[256];
    while (std::fgets(line, sizeof line, file) != nullptr) {
        (void)std::sscanf(line, "VmRSS: %ld", &now.resident_kib);
        (void)std::sscanf(line, "VmLck: %ld", &now.locked_kib);
    }
    std::fclose(file);
    return now;
}

// Whether the process may lock as much memory as the tests map: if it locks what it maps later, the
// system refuses to map more than it may lock.
bool may_lock() {
    rlimit limit{};
    return ::geteuid() == 0 ||
           (::getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur > 2 * reserve);
}

// Runs `body` in a new process, with its memory locked by `flags` if the system allows it.
enum class outcome : int { good, bad, not_locked };
outcome in_locked_process(int flags, const std::function<bool()>& body) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        // A sanitizer's mlockall() succeeds and does nothing. Memcheck uses memory of its own for
        // each page of ours.
        const bool locked = !under_memcheck() && may_lock() && ::mlockall(flags) == 0 &&
                            runtime::new_memory_is_locked();
        ::_exit(static_cast<int>(!locked  ? outcome::not_locked
                                 : body() ? outcome::good
                                          : outcome::bad));
    }
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    return static_cast<outcome>(WEXITSTATUS(status));
}

bool is_little_more(const memory_use& before) {
    const memory_use now = memory_now();
    const bool little = now.resident_kib < before.resident_kib + some_kib &&
                        now.locked_kib < before.locked_kib + some_kib;
    if (!little) {
        std::printf("resident %ld, was %ld; locked %ld, was %ld KiB\n", now.resident_kib,
                    before.resident_kib, now.locked_kib, before.locked_kib);
        std::fflush(stdout);
    }
    return little;
}

// The life of a trace's mapping, up to its replacement.
bool takes_little(const char* path) {
    const memory_use before = memory_now();
    mapping map;
    if (map.create(path, reserve) != 0 || !is_little_more(before)) return false;
    if (map.grow(megabyte) != 0 || !is_little_more(before)) return false;
    map.base()[megabyte - 1] = std::byte{1};
    if (!map.cut_off() || !is_little_more(before)) return false;
    std::byte* const late = map.base() + megabyte - 1;
    const bool empty = *late == std::byte{0};
    *late = std::byte{2};
    map.unmap();
    map.close_file();
    return empty;
}

}  // namespace

TEST_SUITE("mapping, in a program that locks its memory") {
    TEST_CASE("a reserve in memory or over a file takes only the memory that is used, and nothing "
              "is locked") {
        const scratch_file file;
        for (const char* path : {static_cast<const char*>(nullptr), file.path()}) {
            const outcome found =
                in_locked_process(MCL_CURRENT | MCL_FUTURE, [&] { return takes_little(path); });
            if (found == outcome::not_locked) {
                COROSCOPE_SKIP(
                    "memory can't be locked here (RLIMIT_MEMLOCK, a sanitizer, memcheck)");
                return;
            }
            CHECK(found == outcome::good);
        }
    }

    TEST_CASE("memory that the program locked later is still given back") {
        constexpr std::uint64_t bytes = 64 * megabyte;
        const outcome found = in_locked_process(MCL_FUTURE, [] {
            const memory_use before = memory_now();
            mapping map;
            if (map.create(nullptr, bytes) != 0 || ::mlock(map.base(), bytes) != 0) return false;
            map.base()[0] = std::byte{1};
            map.discard(map.base(), bytes);
            return is_little_more(before) && map.base()[0] == std::byte{0};
        });
        if (found == outcome::not_locked) {
            COROSCOPE_SKIP("memory can't be locked here (RLIMIT_MEMLOCK, a sanitizer, memcheck)");
            return;
        }
        CHECK(found == outcome::good);
    }

    TEST_CASE("memory of which no page was touched is empty, and may be written") {
        auto* const at = static_cast<char*>(
            runtime::map_unlocked(megabyte, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE));
        REQUIRE(at != MAP_FAILED);
        CHECK(at[megabyte - 1] == 0);
        at[megabyte - 1] = 1;
        CHECK(runtime::replace_by_empty_memory(at, megabyte));
        CHECK(at[megabyte - 1] == 0);
        ::munmap(at, megabyte);
    }
}
