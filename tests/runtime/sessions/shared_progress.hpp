// SPDX-License-Identifier: Apache-2.0
#pragma once

// For tests that end a program at random moments.

#include <cstdint>
#include <cstdlib>
#include <new>

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

}  // namespace coroscope::test
