// SPDX-License-Identifier: Apache-2.0

// A trace's file that somebody cuts is known as cut, though the recorder's own writes make it as long again.

#include <doctest/doctest.h>

#include <cerrno>
#include <cstdint>

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/runtime/mapping.hpp"
#include "scratch_file.hpp"

using namespace coroscope;
using namespace coroscope::test;
using runtime::mapping;

namespace {

constexpr std::uint64_t megabyte = std::uint64_t{1} << 20;
constexpr off_t left_over = 8192;

// Which of this program's next writes finds its file cut, counted from 0; below: none.
int writes_before_cut = -1;

void cut_in_time(int file) {
    if (writes_before_cut-- == 0) REQUIRE(::ftruncate(file, left_over) == 0);
}

off_t size_of(const scratch_file& file) {
    struct stat about{};
    REQUIRE(::stat(file.path(), &about) == 0);
    return about.st_size;
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

}  // namespace

// In the place of the C library's.
extern "C" ssize_t pwritev(int file, const iovec* pieces, int count, off_t offset) {
    cut_in_time(file);
    return ::syscall(SYS_pwritev, file, pieces, count, offset, 0);
}

extern "C" ssize_t pwrite(int file, const void* bytes, std::size_t count, off_t offset) {
    cut_in_time(file);
    return ::syscall(SYS_pwrite64, file, bytes, count, offset);
}

TEST_SUITE("a file that is cut") {
    TEST_CASE("one that nobody touched is in order, however often it grew") {
        grown_file grown;
        for (std::uint64_t size = 2; size <= 8; ++size) {
            CHECK(grown.map.grow(size * megabyte) == 0);
            CHECK(grown.map.file_damage() == 0);
        }
    }

    TEST_CASE("one that is shorter than what is usable is cut, and grows no more") {
        grown_file grown;
        REQUIRE(::truncate(grown.file.path(), left_over) == 0);
        CHECK(grown.map.file_damage() == ESTALE);
        CHECK(grown.map.grow(2 * megabyte) == ESTALE);
        CHECK(size_of(grown.file) == left_over);
    }

    TEST_CASE("one that was made as long again is cut all the same") {
        grown_file grown;
        const off_t before = size_of(grown.file);
        REQUIRE(::truncate(grown.file.path(), left_over) == 0);
        REQUIRE(::truncate(grown.file.path(), before) == 0);
        CHECK(grown.map.file_damage() == ESTALE);
        CHECK(grown.map.grow(2 * megabyte) == ESTALE);
    }

    TEST_CASE("one that is cut before any write of its growth is known as cut then") {
        for (int write = 0;; ++write) {
            CAPTURE(write);
            grown_file grown;
            writes_before_cut = write;
            grown.map.grow(3 * megabyte);
            const bool was_cut = writes_before_cut < 0;
            writes_before_cut = -1;
            if (!was_cut) {
                CHECK(write >= 4);  // the zeros in pieces, the new mark, the old one's end
                break;
            }
            CHECK(grown.map.file_damage() == ESTALE);
        }
    }

    TEST_CASE("one whose growth failed is in order, and grows when there is room again") {
        grown_file grown;
        CHECK(grown.map.grow(std::uint64_t{1} << 62) != 0);
        CHECK(grown.map.file_damage() == 0);
        CHECK(grown.map.grow(2 * megabyte) == 0);
        CHECK(grown.map.file_damage() == 0);
    }
}
