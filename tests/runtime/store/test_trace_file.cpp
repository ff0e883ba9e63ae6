// SPDX-License-Identifier: Apache-2.0

// Whatever file is at a trace's path, the recorder writes to no file of another program or user,
// and no other user may read the trace.

#include <doctest/doctest.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <coroscope/trace/format.hpp>

#include "../support/memcheck.hpp"
#include "lib/runtime/store/trace_file.hpp"
#include "scratch_file.hpp"
#include "skip.hpp"

using namespace coroscope;
using namespace coroscope::test;
using runtime::create_trace_file;

namespace {

constexpr uid_t nobody = 65534;
const std::string old_trace = std::string("CSTRACE\x01") + std::string(5000, 'x');

int error_of_creating(const std::string& path) {
    int file = -1;
    const int error = create_trace_file(path.c_str(), file);
    CHECK((file >= 0) == (error == 0));
    if (file >= 0) ::close(file);
    return error;
}

std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void put(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

struct stat about(const std::string& path) {
    struct stat found{};
    REQUIRE(::lstat(path.c_str(), &found) == 0);
    return found;
}

// The descriptor of a trace file in a process without standard streams that may have `descriptors`
// descriptors. Negative: the errno of the refusal.
int number_without_streams(const std::string& path, rlim_t descriptors) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        const rlimit limit{descriptors, descriptors};
        for (const int stream : {0, 1, 2}) ::close(stream);
        int file = -1;
        const bool limited = ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
        const int error = create_trace_file(path.c_str(), file);
        const bool closed = file < 0 || ::fcntl(file, F_GETFD) == FD_CLOEXEC;
        int second = -1;
        const bool locked = file < 0 || create_trace_file(path.c_str(), second) == EBUSY;
        ::_exit(!limited || !closed || !locked ? 255 : error != 0 ? 128 + error : file);
    }
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    const int code = WEXITSTATUS(status);
    REQUIRE(code != 255);
    return code > 128 ? 128 - code : code;
}

// The result of `work` in a new process of the user `nobody`.
int as_nobody(const std::function<int()>& work) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) ::_exit(::setgid(nobody) == 0 && ::setuid(nobody) == 0 ? work() : 255);
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    return WEXITSTATUS(status);
}

// A file beside the trace's path that the recorder must not touch.
class victim {
public:
    explicit victim(const scratch_file& beside) : path_(beside.folder() + "/victim") {
        put(path_, old_trace);  // the content looks like a trace
    }
    victim(const victim&) = delete;
    victim& operator=(const victim&) = delete;
    ~victim() {
        CHECK(content(path_) == old_trace);
        ::unlink(path_.c_str());
    }
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

}  // namespace

TEST_SUITE("trace file") {
    TEST_CASE("a new trace file is readable for its user alone, whatever the umask") {
        const scratch_file file;
        const mode_t before = ::umask(0);
        CHECK(error_of_creating(file.path()) == 0);
        ::umask(before);
        CHECK((about(file.path()).st_mode & 07777) == 0600);
    }

    TEST_CASE("a symbolic link is not followed, and its target is neither cut nor made") {
        const scratch_file file;
        const victim target(file);
        const std::string none = file.folder() + "/none";
        for (const std::string& named : {target.path(), none}) {
            REQUIRE(::symlink(named.c_str(), file.path()) == 0);
            CHECK(error_of_creating(file.path()) == ELOOP);
            ::unlink(file.path());
        }
        CHECK(::access(none.c_str(), F_OK) != 0);
    }

    TEST_CASE("a symbolic link that another user planted in a folder that every user may write to "
              "is not followed") {
        const scratch_file file;
        const victim target(file);
        const std::string none = file.folder() + "/none";
        REQUIRE(::chmod(file.folder().c_str(), 01777) == 0);
        if (::geteuid() != 0) {
            COROSCOPE_SKIP("not root, who alone may become another user");
            return;
        }
        for (const std::string& named : {target.path(), none}) {
            REQUIRE(as_nobody([&] {
                        return ::symlink(named.c_str(), file.path()) == 0 ? 0 : errno;
                    }) == 0);
            REQUIRE(about(file.path()).st_uid == nobody);
            CHECK(error_of_creating(file.path()) == ELOOP);
            CHECK(S_ISLNK(about(file.path()).st_mode));
            ::unlink(file.path());
        }
        CHECK(::access(none.c_str(), F_OK) != 0);
    }

    TEST_CASE("a file with a second hard link is left alone") {
        const scratch_file file;
        const victim target(file);
        REQUIRE(::link(target.path().c_str(), file.path()) == 0);
        CHECK(error_of_creating(file.path()) == EMLINK);
        ::unlink(file.path());
    }

    TEST_CASE("a FIFO, a folder and a device are refused at once") {
        const scratch_file file;
        REQUIRE(::mkfifo(file.path(), 0600) == 0);
        CHECK(error_of_creating(file.path()) == EINVAL);
        ::unlink(file.path());
        CHECK(error_of_creating(file.folder()) == EISDIR);
        CHECK(error_of_creating("/dev/null") == EINVAL);
    }

    TEST_CASE("another user's file is left alone") {
        const scratch_file file;
        put(file.path(), old_trace);
        if (::chown(file.path(), nobody, nobody) != 0) {
            COROSCOPE_SKIP("may not give a file to another user");
            return;
        }
        CHECK(error_of_creating(file.path()) == EPERM);
        CHECK(content(file.path()) == old_trace);
    }

    TEST_CASE("a file that is not a trace is left alone, but an empty file is replaced") {
        const scratch_file file;
        for (const char* text : {"root:x:0:0:root:/root:/bin/sh\n", "short"}) {
            put(file.path(), text);
            CHECK(error_of_creating(file.path()) == EEXIST);
            CHECK(content(file.path()) == text);
        }
        put(file.path(), "");
        CHECK(error_of_creating(file.path()) == 0);
    }

    TEST_CASE("the file of a process that was killed while it started a trace is replaced") {
        const scratch_file file;
        trace::file_header begun{};
        begun.version = trace::format_version;
        begun.header_bytes = trace::file_header_bytes;
        const std::string fields(reinterpret_cast<const char*>(&begun), sizeof begun);
        const std::string rest(trace::file_header_bytes - sizeof begun, '\0');
        const std::string mark(reinterpret_cast<const char*>(&trace::end_mark),
                               sizeof(trace::end_mark));
        const std::string zeros(trace::file_header_bytes, '\0');
        for (const std::string& left :
             {std::string(100, '\0'), zeros, zeros + mark, fields + rest, fields + rest + mark}) {
            put(file.path(), left);
            CHECK(error_of_creating(file.path()) == 0);
        }
    }

    TEST_CASE("a file that begins with zeros, as disk images do, is left alone") {
        const scratch_file file;
        const std::string boot_code = "not a trace";
        const std::string zeros(32768, '\0');
        for (const std::string& image :
             {zeros.substr(0, 8) + boot_code, zeros.substr(0, 512) + boot_code,
              zeros.substr(0, 4000) + boot_code, zeros + boot_code, zeros}) {
            put(file.path(), image);
            CHECK(error_of_creating(file.path()) == EEXIST);
            CHECK(content(file.path()) == image);
        }
    }

    TEST_CASE(
        "an old trace is replaced by a new file, and a reader that has it open keeps the old one") {
        const scratch_file file;
        put(file.path(), old_trace);
        ::chmod(file.path(), 0644);
        std::ifstream reader(file.path(), std::ios::binary);
        CHECK(error_of_creating(file.path()) == 0);
        CHECK((about(file.path()).st_mode & 07777) == 0600);
        CHECK(about(file.path()).st_size == 0);
        CHECK(std::string(std::istreambuf_iterator<char>(reader), {}) == old_trace);
    }

    TEST_CASE("an old trace in a folder that may not be changed is replaced in place") {
        const scratch_file file;
        put(file.path(), old_trace);
        if (::chown(file.path(), nobody, nobody) != 0) {
            COROSCOPE_SKIP("may not become another user");
            return;
        }
        ::chmod(file.folder().c_str(), 0755);
        const ino_t before = about(file.path()).st_ino;
        const int error = as_nobody([&] {
            int made = -1;
            return create_trace_file(file.path(), made);
        });
        CHECK(error == 0);
        CHECK(about(file.path()).st_ino == before);
        CHECK(about(file.path()).st_size == 0);
    }

    TEST_CASE("a file that is being recorded into is refused") {
        const scratch_file file;
        int first = -1;
        REQUIRE(create_trace_file(file.path(), first) == 0);
        CHECK(error_of_creating(file.path()) == EBUSY);
        ::close(first);
        CHECK(error_of_creating(file.path()) == 0);
    }

    TEST_CASE("a program without standard streams does not print into the trace") {
        if (under_memcheck()) {
            COROSCOPE_SKIP("memcheck keeps the limit of descriptors itself");
            return;
        }
        const scratch_file file;
        CHECK(number_without_streams(file.path(), 100) >= 64);
        const int number = number_without_streams(file.path(), 10);
        CHECK(number > 2);
        CHECK(number < 10);
    }

    TEST_CASE("if only the numbers of the standard streams are left, the trace is refused and no "
              "file stays") {
        if (under_memcheck()) {
            COROSCOPE_SKIP("memcheck keeps the limit of descriptors itself");
            return;
        }
        const scratch_file file;
        CHECK(number_without_streams(file.path(), 3) == -EMFILE);
        CHECK(::access(file.path(), F_OK) != 0);
    }

    TEST_CASE("an attacker who plants links while traces are made gets nothing written to the "
              "victim's file") {
        const scratch_file file;
        const victim target(file);
        std::atomic<bool> stop{false};
        std::thread planter([&] {
            while (!stop) {
                (void)!::symlink(target.path().c_str(), file.path());
                ::unlink(file.path());
                (void)!::link(target.path().c_str(), file.path());
                ::unlink(file.path());
            }
        });
        int made = 0;
        for (int i = 0; i < 2000 || made == 0;
             ++i) {  // a link may be there for long, and the planter needs time, too
            int trace = -1;
            if (create_trace_file(file.path(), trace) != 0) {
                std::this_thread::yield();
                continue;
            }
            ++made;
            CHECK(::write(trace, "mine", 4) == 4);
            ::close(trace);
        }
        stop = true;
        planter.join();
    }

    TEST_CASE("each refusal has a message of its own") {
        const std::string usual = runtime::why_no_trace_file(EIO, "/none");
        for (const int error : {ELOOP, EINVAL, EISDIR, EMLINK, EPERM, EEXIST, EBUSY, ENOENT, EACCES,
                                ENOSPC, EMFILE, ENOMEM, EAGAIN})
            CHECK(runtime::why_no_trace_file(error, "/none") != usual);
    }

    TEST_CASE("a forbidden system call is not reported as another user's file") {
        const scratch_file file;
        const std::string forbidden = runtime::why_no_trace_file(EPERM, file.path());
        CHECK(forbidden.find("seccomp") != std::string::npos);
        put(file.path(), "mine");
        CHECK(runtime::why_no_trace_file(EPERM, file.path()) == forbidden);
        if (::chown(file.path(), nobody, nobody) != 0) {
            COROSCOPE_SKIP("may not give a file to another user");
            return;
        }
        CHECK(std::string(runtime::why_no_trace_file(EPERM, file.path())) ==
              "The trace file is another user's.");
    }
}
