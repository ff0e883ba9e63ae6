// SPDX-License-Identifier: Apache-2.0

// A trace's file may be cut at any step of a session's start and stop: the program goes on.

#include <atomic>
#include <cerrno>
#include <climits>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../support/scratch_file.hpp"
#include "../../support/skip.hpp"
#include "../support/session_support.hpp"

using namespace coroscope;
using namespace coroscope::test;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

TEST_CASE("a file may be cut at any step of a session's start and stop") {
    COROSCOPE_SKIP("a sanitizer has the signals");
}

#else

namespace {

constexpr int never = INT_MAX;

// The number of the process's calls before the file is cut.
std::atomic<int> calls_before_cut{never};
std::atomic<bool> counts_clock{false};
std::string path_to_cut;

void cut_in_time() {
    if (calls_before_cut.load() == never || calls_before_cut.fetch_sub(1) != 0) return;
    const int error = errno;
    ::syscall(SYS_truncate, path_to_cut.c_str(), 0L);
    errno = error;
}

class cut_at {
public:
    cut_at(int call, const char* path, bool clock) {
        path_to_cut = path;
        counts_clock = clock;
        calls_before_cut = call;
    }
    cut_at(const cut_at&) = delete;
    cut_at& operator=(const cut_at&) = delete;
    ~cut_at() { end(); }

    /// Ends the counting. Returns true if the file was cut.
    static bool end() { return calls_before_cut.exchange(never) < 0; }
};

profile_options into(const scratch_file& file) {
    return {.output = file.path(), .all_threads = true, .chunk_bytes = 4096};
}

}  // namespace

// Replaces the C library's function.
extern "C" int fstat(int file, struct stat* about) noexcept {
    cut_in_time();
    return static_cast<int>(::syscall(SYS_newfstatat, file, "", about, AT_EMPTY_PATH));
}
extern "C" ssize_t pread(int file, void* bytes, std::size_t count, off_t offset) {
    cut_in_time();
    return ::syscall(SYS_pread64, file, bytes, count, offset);
}
extern "C" int mprotect(void* at, std::size_t bytes, int protection) noexcept {
    cut_in_time();
    return static_cast<int>(::syscall(SYS_mprotect, at, bytes, protection));
}
extern "C" int munmap(void* at, std::size_t bytes) noexcept {
    cut_in_time();
    return static_cast<int>(::syscall(SYS_munmap, at, bytes));
}
extern "C" int madvise(void* at, std::size_t bytes, int advice) noexcept {
    cut_in_time();
    return static_cast<int>(::syscall(SYS_madvise, at, bytes, advice));
}
extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept {
    if (counts_clock.load()) cut_in_time();
    return static_cast<int>(::syscall(SYS_clock_gettime, clock, now));
}

TEST_SUITE("a file that is cut at any moment") {
    TEST_CASE("a program goes on if its file is cut at any step of a session's stop, and a cut "
              "that the stop met is reported") {
        int told = 0;
        for (int call = 0;; ++call) {
            CAPTURE(call);
            const scratch_file file;
            profile session(into(file));
            REQUIRE(session.status().state == session_state::recording);
            steps(2000);
            const cut_at cut(call, file.path(), true);
            session.stop();
            const bool was_cut = cut_at::end();
            CHECK(session.status().state == session_state::stopped);
            if (!was_cut) {
                CHECK(session.status().error_number == 0);
                CHECK(count_steps(load(std::string(file.path()))) == 2000);
                CHECK(call >= 8);  // checks, mapping, sealing, unmapping
                break;
            }
            if (session.status().error_number != 0) {
                CHECK(session.status().error_number == ESTALE);
                ++told;
            }
        }
        CHECK(told >= 4);
    }

    TEST_CASE("a program goes on if its file is cut at any step of a session's start") {
        for (int call = 0;; ++call) {
            CAPTURE(call);
            const scratch_file file;
            const cut_at cut(call, file.path(), false);
            profile session(into(file));
            const bool was_cut = cut_at::end();
            steps(10);
            session.stop();
            if (!was_cut) {
                CHECK(call >= 8);
                break;
            }
        }
    }
}

#endif
