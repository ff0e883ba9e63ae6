// SPDX-License-Identifier: Apache-2.0

// The system refuses a chunk store disk space, file size or allocation. Each case ends with a trace
// that is complete up to there, the errno in its header, and the process alive.

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "lib/runtime/store/chunk.hpp"
#include "refusing_disk.hpp"
#include "skip.hpp"
#include "small_disk.hpp"
#include "store_writer.hpp"

using namespace coroscope;
using namespace coroscope::test;
using namespace std::chrono_literals;
using runtime::chunk_store;
using trace::overflow_policy;

namespace {

std::vector<std::uint64_t> numbers(std::uint64_t to) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 0; i < to; ++i) all.push_back(i);
    return all;
}

// The helper may store the error meanwhile.
std::uint64_t write_error(chunk_store& store) {
    return runtime::load_word(&store.header().write_error);
}

// Runs a case in a new process, which must exit by itself, with 0.
void in_child(const std::function<bool()>& body) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) ::_exit(body() ? 0 : 1);
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK_FALSE(WIFSIGNALED(status));
    CHECK(status == 0);
}

// Writes until records are dropped, and some more, and checks the remaining trace.
void fill_and_check(const char* path, int error) {
    chunk_store store;
    REQUIRE(store.open(store_of(16384, overflow_policy::drop_newest, path)) == 0);
    store_writer writer(store, 1);
    const auto deadline = std::chrono::steady_clock::now() + 60s;
    while (write_error(store) == 0 || writer.dropped() < 1000) {
        writer.write(1000);
        REQUIRE(std::chrono::steady_clock::now() < deadline);
    }
    CHECK(write_error(store) == static_cast<std::uint64_t>(error));
    // A record that was written can be named, although there is no room for more records.
    CHECK(store.append_metadata(0, trace::make_tag(trace::record_kind::string, 9, 4), "late", 4));
    writer.hand_over();
    CHECK(store.close().empty());
    store.release_mapping();
    auto read = trace::reader::open(path);
    REQUIRE(read);
    CHECK(read->header().write_error == static_cast<std::uint64_t>(error));
    CHECK(find_records(*read)[1].records.size() == writer.written());
}

// Three threads write. Each writes one byte to `announce` after its first records.
[[noreturn]] void write_until_killed(const char* path, overflow_policy policy, int announce) {
    chunk_store store;
    if (store.open(store_of(65536, policy, path)) != 0) ::_exit(1);
    for (std::uint32_t thread = 1; thread <= 3; ++thread)
        std::thread([&store, thread, announce] {
            store_writer writer(store, thread);
            writer.write(1000);
            if (::write(announce, "", 1) != 1) ::_exit(1);
            for (;;) {
                writer.write(20'000);
                std::this_thread::sleep_for(1ms);  // leaves room for the others
            }
        }).detach();
    for (;;) ::pause();
}

}  // namespace

TEST_SUITE("chunk store, faults") {
    TEST_CASE("a full tmpfs stops the trace, not the process") {
        const small_disk disk("tmpfs");
        if (!disk.refusal().empty()) {
            COROSCOPE_SKIP(disk.refusal());
            return;
        }
        fill_and_check(disk.path().c_str(), ENOSPC);
    }

    TEST_CASE("a full ext4 stops the trace, not the process") {
        const small_disk disk("ext4");
        if (!disk.refusal().empty()) {
            COROSCOPE_SKIP(disk.refusal());
            return;
        }
        fill_and_check(disk.path().c_str(), ENOSPC);
    }

    TEST_CASE("a full disk that cannot allocate ahead makes an error, too") {
        const small_disk disk("tmpfs");
        if (!disk.refusal().empty()) {
            COROSCOPE_SKIP(disk.refusal());
            return;
        }
        allocation = [](std::uint64_t) { return EOPNOTSUPP; };
        fill_and_check(disk.path().c_str(), ENOSPC);
        allocation = nullptr;
    }

    TEST_CASE("if the system does not know or forbids allocation ahead, the file is written") {
        for (const int error : {EOPNOTSUPP, ENOSYS, EPERM}) {
            const scratch_file file;
            static int refusal = 0;
            refusal = error;
            allocation = [](std::uint64_t) { return refusal; };
            chunk_store store;
            CHECK(store.open(store_of(64, overflow_policy::drop_newest, file.path())) == 0);
            CHECK(write_error(store) == 0);
            store.close();
            store.release_mapping();
            allocation = nullptr;
        }
    }

    TEST_CASE("an I/O error in the middle stops the trace, not the process") {
        const scratch_file file;
        allocation = [](std::uint64_t end) { return end > 1000 * chunk_bytes ? EIO : 0; };
        fill_and_check(file.path(), EIO);
        allocation = nullptr;
    }

    TEST_CASE("an I/O error as the file's pages are made stops the trace, not the process") {
        const scratch_file file;
        writing = [](std::uint64_t, std::uint64_t end) {
            return end > 1000 * chunk_bytes ? EIO : 0;
        };
        fill_and_check(file.path(), EIO);
        writing = nullptr;
    }

    TEST_CASE("a file grows by a megabyte at least, and each page is written once") {
        const scratch_file file;
        std::atomic<std::uint64_t> grown_to{0};
        std::atomic<std::uint64_t> least{~std::uint64_t{0}};
        std::atomic<bool> in_order{true};
        allocation = [&](std::uint64_t end) {
            if (grown_to != 0) least = std::min(least.load(), end - grown_to);  // 0: the header
            return 0;
        };
        writing = [&](std::uint64_t from, std::uint64_t end) {
            const bool behind_mark = from == grown_to + sizeof(trace::end_mark);
            if (from != grown_to && !behind_mark) in_order = false;
            grown_to = end;
            return 0;
        };
        chunk_store store;
        REQUIRE(store.open(store_of(4096, overflow_policy::drop_newest, file.path())) == 0);
        store_writer writer(store, 1);
        for (int i = 0; i < 100; ++i) {
            writer.write(records_per_chunk);
            std::this_thread::sleep_for(1ms);
        }
        store.close();
        store.release_mapping();
        allocation = nullptr;
        writing = nullptr;
        CHECK(in_order);
        CHECK(grown_to > 100 * chunk_bytes);
        CHECK(least >= 1 << 20);
    }

    TEST_CASE("a disk without room for the header refuses the trace") {
        const small_disk disk("tmpfs");
        if (!disk.refusal().empty()) {
            COROSCOPE_SKIP(disk.refusal());
            return;
        }
        const std::string filler = disk.folder() + "/filler";
        const int file = ::open(filler.c_str(), O_RDWR | O_CREAT, 0600);
        CHECK(::fallocate(file, 0, 0, 8 << 20) == 0);
        ::close(file);
        chunk_store store;
        CHECK(store.open(store_of(64, overflow_policy::drop_newest, disk.path().c_str())) ==
              ENOSPC);
        CHECK(::access(disk.path().c_str(), F_OK) != 0);
        ::unlink(filler.c_str());
    }

    TEST_CASE("a file size limit makes an error and no signal") {
        const scratch_file file;
        in_child([&] {
            const rlimit limit{2 << 20, 2 << 20};
            ::setrlimit(RLIMIT_FSIZE, &limit);
            chunk_store store;
            if (store.open(store_of(16384, overflow_policy::drop_newest, file.path())) != 0)
                return false;
            store_writer writer(store, 1);
            for (int i = 0; i < 600'000 && write_error(store) == 0; ++i) {
                writer.write(100);
                std::this_thread::sleep_for(100us);
            }
            const bool seen = write_error(store) == EFBIG;
            writer.write(600 * records_per_chunk);
            writer.hand_over();
            store.close();
            auto read = trace::reader::open(file.path());
            return seen && read && writer.dropped() != 0 &&
                   find_records(*read)[1].records == numbers(writer.written());
        });
    }

    TEST_CASE("a store without any chunk drops all records and does no harm") {
        const scratch_file file;
        constexpr std::uint64_t header_alone = trace::file_header_bytes + sizeof(trace::end_mark);
        for (const auto policy : {overflow_policy::drop_newest, overflow_policy::overwrite_oldest,
                                  overflow_policy::wait}) {
            CAPTURE(static_cast<int>(policy));
            allocation = [](std::uint64_t end) { return end > header_alone ? EIO : 0; };
            chunk_store store;
            REQUIRE(store.open(store_of(64, policy, file.path())) == 0);
            CHECK(write_error(store) == EIO);
            store_writer writer(store, 1);
            CHECK(writer.body() == nullptr);
            writer.write(10);
            CHECK(writer.dropped() == 10);
            CHECK(store.close().empty());
            store.release_mapping();
            allocation = nullptr;
            auto read = trace::reader::open(file.path());
            REQUIRE(read);
            CHECK(read->header().chunk_count == 0);
        }
    }

    TEST_CASE("a disk that has space again is used again") {
        const scratch_file file;
        std::atomic<bool> full{true};
        allocation = [&](std::uint64_t end) { return full && end > 40 * chunk_bytes ? ENOSPC : 0; };
        chunk_store store;
        REQUIRE(store.open(store_of(1024, overflow_policy::drop_newest, file.path())) == 0);
        store_writer writer(store, 1);
        writer.write(100 * records_per_chunk);
        CHECK(writer.dropped() > 0);
        for (int i = 0; i < 6000 && write_error(store) == 0; ++i) std::this_thread::sleep_for(10ms);
        full = false;
        for (int i = 0; i < 6000 && !writer.write(); ++i) std::this_thread::sleep_for(10ms);
        const std::uint64_t dropped = writer.dropped();
        writer.write(100);
        CHECK(writer.dropped() == dropped);
        store.close();
        store.release_mapping();
        allocation = nullptr;
        auto read = trace::reader::open(file.path());
        REQUIRE(read);
        CHECK(read->header().write_error == ENOSPC);  // the error stays in the trace
        CHECK(find_records(*read)[1].records == numbers(writer.written()));
    }

    TEST_CASE("a thread that waits for a slow disk is released when the store closes") {
        const scratch_file file;
        std::atomic<bool> stuck{true};
        std::atomic<bool> reached{false};
        allocation = [&, ours = std::this_thread::get_id()](std::uint64_t end) {
            if (std::this_thread::get_id() == ours) return 0;  // only the helper waits
            for (; stuck && end > 600 * chunk_bytes; std::this_thread::sleep_for(1ms))
                reached = true;
            return 0;
        };
        chunk_store store;
        REQUIRE(store.open(store_of(4096, overflow_policy::wait, file.path())) == 0);
        store_writer user(store, 1);  // the reserve grows with use
        for (; !reached; std::this_thread::sleep_for(1ms)) user.write(records_per_chunk);
        std::atomic<bool> released{false};
        std::thread waiter([&] {  // after that, else the thread makes room itself
            store_writer writer(store, 2);
            while (writer.write()) {
            }
            released = true;
        });
        std::this_thread::sleep_for(100ms);
        CHECK_FALSE(released);  // the thread waits for the helper, which waits for the disk
        std::thread closer([&] { store.close(); });
        waiter.join();
        CHECK(stuck);
        stuck = false;
        closer.join();
        store.release_mapping();
        allocation = nullptr;
    }

    TEST_CASE("a killed process leaves every record but the one being written") {
        const scratch_file file;
        for (const auto policy :
             {overflow_policy::drop_newest, overflow_policy::overwrite_oldest}) {
            CAPTURE(static_cast<int>(policy));
            int writing[2];
            REQUIRE(::pipe(writing) == 0);
            const pid_t child = ::fork();
            if (child == 0) write_until_killed(file.path(), policy, writing[1]);
            ::close(writing[1]);
            char all_three[3];
            for (char& one : all_three) REQUIRE(::read(writing[0], &one, 1) == 1);
            ::close(writing[0]);
            std::this_thread::sleep_for(50ms);
            ::kill(child, SIGKILL);
            int status = 0;
            REQUIRE(::waitpid(child, &status, 0) == child);
            CHECK(WIFSIGNALED(status));
            auto read = trace::reader::open(file.path());
            REQUIRE(read);
            CHECK(read->header().finished == 0);
            CHECK(read->header().process_id == static_cast<std::uint32_t>(child));
            auto threads = find_records(*read);
            CHECK(threads.size() == 3);
            for (auto& [thread, found] : threads) {
                REQUIRE_FALSE(found.records.empty());
                CHECK(found.records.back() - found.records.front() + 1 == found.records.size());
            }
        }
    }

    TEST_CASE("a process may end without closing its store") {
        const scratch_file file;
        std::fflush(nullptr);  // else the child prints the buffer again
        const pid_t child = ::fork();
        if (child == 0) {
            static chunk_store store;
            if (store.open(store_of(2048, overflow_policy::drop_newest, file.path())) != 0)
                ::_exit(1);
            store_writer(store, 1).write(10);
            std::exit(0);
        }
        int status = -1;
        REQUIRE(::waitpid(child, &status, 0) == child);
        CHECK(status == 0);
        auto read = trace::reader::open(file.path());
        REQUIRE(read);
        CHECK(find_records(*read)[1].records == numbers(10));
    }
}
