// SPDX-License-Identifier: Apache-2.0
#pragma once

// For tests that end a program at random moments.

#include <cstdint>
#include <cstdlib>
#include <new>
#include <random>

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "crash_program.hpp"

namespace coroscope::test {

/// The memory in which a program notes its progress. The memory outlives the program.
template <class Progress>
class shared_progress {
public:
    shared_progress() : file_(::memfd_create("progress", 0)) {
        REQUIRE(file_ >= 0);
        REQUIRE(::ftruncate(file_, sizeof(Progress)) == 0);
        REQUIRE(::dup2(file_, progress_descriptor) == progress_descriptor);
        Progress* const at = map_progress<Progress>();
        REQUIRE(at != nullptr);
        progress_ = new (static_cast<void*>(at)) Progress;
    }
    shared_progress(const shared_progress&) = delete;
    shared_progress& operator=(const shared_progress&) = delete;
    ~shared_progress() {
        ::munmap(static_cast<void*>(progress_), sizeof(Progress));
        ::close(progress_descriptor);
        ::close(file_);
    }
    Progress& operator*() const { return *progress_; }
    Progress* operator->() const { return progress_; }

private:
    int file_;
    Progress* progress_;
};

inline std::uint64_t crash_setting(const char* variable, std::uint64_t usual) {
    const char* text = std::getenv(variable);
    return text != nullptr ? std::strtoull(text, nullptr, 10) : usual;
}

/// The moments at which a test ends a program, which are random. On a busy machine the program may
/// record nothing before all of them: then later ones follow, until the test has found something.
class crash_moments {
public:
    /// `longest` is in microseconds.
    crash_moments(std::uint64_t number, std::uint64_t seed, unsigned longest)
        : number_(number), longest_(longest), random_(seed) {}

    [[nodiscard]] bool has(std::uint64_t moment, bool found) const {
        return moment < number_ || (!found && moment < number_ + late_moments);
    }
    /// The microseconds from the program's start to the moment.
    unsigned next(std::uint64_t moment) {
        return static_cast<unsigned>(random_() % (moment < number_ ? longest_ : longest_late));
    }

private:
    static constexpr std::uint64_t late_moments = 60;
    static constexpr unsigned longest_late = 1'000'000;

    std::uint64_t number_;
    unsigned longest_;
    std::mt19937_64 random_;
};

}  // namespace coroscope::test
