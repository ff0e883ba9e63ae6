// SPDX-License-Identifier: Apache-2.0

// A trace file that another process cuts is known as cut, although the recorder's own writes make
// it as long again. A file whose descriptor the program closed is known as lost, whichever file has
// the number afterwards.

#include <doctest/doctest.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../support/scale.hpp"
#include "lib/runtime/store/mapping.hpp"
#include "scratch_file.hpp"
#include "skip.hpp"

using namespace coroscope;
using namespace coroscope::test;
using runtime::mapping;

namespace {

constexpr std::uint64_t megabyte = std::uint64_t{1} << 20;
constexpr off_t left_over = 8192;

// The number of this program's writes before its file is cut. Negative: the file is not cut.
int writes_before_cut = -1;

int last_written = -1;  // the descriptor of the trace

void cut_in_time(int file) {
    if (writes_before_cut-- == 0) REQUIRE(::ftruncate(file, left_over) == 0);
}

off_t size_of(const scratch_file& file) {
    struct stat about{};
    REQUIRE(::stat(file.path(), &about) == 0);
    return about.st_size;
}

std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

struct grown_file {
    grown_file() {
        REQUIRE(map.create(file.path(), 8 * megabyte) == 0);
        REQUIRE(map.grow(megabyte) == 0);
    }
    ~grown_file() {
        map.unmap();
        map.close_file();
    }
    scratch_file file;
    mapping map;
};

// A log file of the program, which has the number of the trace's closed descriptor.
class log_in_its_place {
public:
    explicit log_in_its_place(const scratch_file& beside) : path_(beside.folder() + "/log") {
        const int file = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND, 0600);
        REQUIRE(::dup2(file, last_written) == last_written);
        number_ = last_written;
        ::close(file);
        write();
    }
    log_in_its_place(const log_in_its_place&) = delete;
    log_in_its_place& operator=(const log_in_its_place&) = delete;
    ~log_in_its_place() {
        write();  // fails if the trace closed it
        ::close(number_);
        CHECK(content(path_) == "line\nline\n");
        ::unlink(path_.c_str());
    }

private:
    void write() const { CHECK(::write(number_, "line\n", 5) == 5); }

    std::string path_;
    int number_ = -1;
};

}  // namespace

// Replaces the C library's function.
extern "C" ssize_t pwritev(int file, const iovec* pieces, int count, off_t offset) {
    last_written = file;
    cut_in_time(file);
    return ::syscall(SYS_pwritev, file, pieces, count, offset, 0);
}

extern "C" ssize_t pwrite(int file, const void* bytes, std::size_t count, off_t offset) {
    cut_in_time(file);
    return ::syscall(SYS_pwrite64, file, bytes, count, offset);
}

TEST_SUITE("a file that is cut") {
    TEST_CASE("an untouched file is in order, however often it grew") {
        grown_file grown;
        for (std::uint64_t size = 2; size <= 8; ++size) {
            CHECK(grown.map.grow(size * megabyte) == 0);
            CHECK(grown.map.file_damage() == 0);
        }
    }

    TEST_CASE("a file that is shorter than its usable part counts as cut, and grows no more") {
        grown_file grown;
        REQUIRE(::truncate(grown.file.path(), left_over) == 0);
        CHECK(grown.map.file_damage() == ESTALE);
        CHECK(grown.map.grow(2 * megabyte) == ESTALE);
        CHECK(size_of(grown.file) == left_over);
    }

    TEST_CASE("a file that was made as long again still counts as cut") {
        grown_file grown;
        const off_t before = size_of(grown.file);
        REQUIRE(::truncate(grown.file.path(), left_over) == 0);
        REQUIRE(::truncate(grown.file.path(), before) == 0);
        CHECK(grown.map.file_damage() == ESTALE);
        CHECK(grown.map.grow(2 * megabyte) == ESTALE);
    }

    TEST_CASE("a file that is cut before any write of its growth counts as cut") {
        for (int write = 0;; ++write) {
            CAPTURE(write);
            grown_file grown;
            writes_before_cut = write;
            grown.map.grow(8 * megabyte);
            const bool was_cut = writes_before_cut < 0;
            writes_before_cut = -1;
            if (!was_cut) {
                CHECK(write >= 4);  // the zeros in pieces, the new mark, the old one's end
                break;
            }
            CHECK(grown.map.file_damage() == ESTALE);
        }
    }

    TEST_CASE("a file whose growth failed is in order, and grows when there is room again") {
        grown_file grown;
        CHECK(grown.map.grow(std::uint64_t{1} << 62) != 0);
        CHECK(grown.map.file_damage() == 0);
        CHECK(grown.map.grow(2 * megabyte) == 0);
        CHECK(grown.map.file_damage() == 0);
    }
}

TEST_SUITE("a file whose descriptor the program closed") {
    TEST_CASE(
        "another file with the descriptor's number is neither written to nor cut nor closed") {
        grown_file grown;
        const log_in_its_place log(grown.file);
        const off_t before = size_of(grown.file);
        CHECK(grown.map.grow(2 * megabyte) == EBADF);
        CHECK(grown.map.file_damage() == EBADF);
        grown.map.truncate_file(0);
        grown.map.close_file();
        CHECK(size_of(grown.file) == before);
    }

    TEST_CASE("the first call that meets the closed descriptor may be the one that cuts the file "
              "or closes it") {
        grown_file cut;
        const log_in_its_place log(cut.file);
        cut.map.truncate_file(0);
        grown_file closed;
        const log_in_its_place other(closed.file);
        closed.map.close_file();
    }

    TEST_CASE(
        "the file is not used again if the program opens the trace itself with the same number") {
        grown_file grown;
        const int number = last_written;
        const off_t before = size_of(grown.file);
        ::close(number);
        CHECK(grown.map.file_damage() == EBADF);
        const int reading = ::open(grown.file.path(), O_RDWR);
        REQUIRE(::dup2(reading, number) == number);
        ::close(reading);
        grown.map.truncate_file(0);
        grown.map.close_file();
        CHECK(size_of(grown.file) == before);
        CHECK(::close(number) == 0);
    }

    TEST_CASE(
        "the usable memory stays usable, also through a second view, and writes reach the file") {
        if (under_valgrind()) {
            COROSCOPE_SKIP("memcheck refuses a second view by mremap()");
            return;
        }
        grown_file grown;
        ::close(last_written);
        CHECK(grown.map.grow(2 * megabyte) == EBADF);
        CHECK(grown.map.usable() == megabyte);
        grown.map.base()[megabyte - 1] = std::byte{'a'};
        std::byte* const view = grown.map.second_view();
        REQUIRE(view != nullptr);
        CHECK(view[megabyte - 1] == std::byte{'a'});
        CHECK(grown.map.cut_off());
        view[0] = std::byte{'b'};
        grown.map.drop_view(view);
        const std::string left = content(grown.file.path());
        CHECK(left[0] == 'b');
        CHECK(left[megabyte - 1] == 'a');
    }

    TEST_CASE("a file that is cut after its descriptor was closed counts as cut") {
        grown_file grown;
        ::close(last_written);
        CHECK(grown.map.file_damage() == EBADF);
        REQUIRE(::truncate(grown.file.path(), left_over) == 0);
        CHECK(grown.map.file_damage() == ESTALE);
    }
}
