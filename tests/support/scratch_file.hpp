// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string>

#include <unistd.h>

#include <doctest/doctest.h>

namespace coroscope::test {

/// A path in a new folder below `parent`. The destructor removes both.
class scratch_file {
public:
    explicit scratch_file(std::string parent = {}) {
        const char* configured = std::getenv("TMPDIR");
        if (parent.empty()) parent = configured != nullptr ? configured : "/tmp";
        folder_ = parent + "/coroscope-test-XXXXXX";
        REQUIRE(::mkdtemp(folder_.data()) != nullptr);
        path_ = folder_ + "/trace.cst";
    }
    scratch_file(const scratch_file&) = delete;
    scratch_file& operator=(const scratch_file&) = delete;
    ~scratch_file() {
        ::unlink(path_.c_str());
        ::rmdir(folder_.c_str());
    }

    const char* path() const { return path_.c_str(); }
    const std::string& folder() const { return folder_; }

private:
    std::string folder_;
    std::string path_;
};

}  // namespace coroscope::test
