// SPDX-License-Identifier: Apache-2.0
#pragma once

// Files that look like those of the kernel.

#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include <stdlib.h>

namespace coroscope::test {

/// A folder with the paths of a system.
class system_root {
public:
    system_root() {
        std::string name = std::filesystem::temp_directory_path() / "coroscope-root-XXXXXX";
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        folder_ = name;
    }
    system_root(const system_root&) = delete;
    system_root& operator=(const system_root&) = delete;
    ~system_root() { std::filesystem::remove_all(folder_); }

    system_root& file(const std::string& path, const std::string& text) {
        const std::filesystem::path target = folder_.string() + path;
        std::filesystem::create_directories(target.parent_path());
        std::ofstream(target) << text;
        return *this;
    }
    system_root& groups(const std::string& lines) { return file("/proc/self/cgroup", lines); }
    [[nodiscard]] const char* path() const { return folder_.c_str(); }

private:
    std::filesystem::path folder_;
};

}  // namespace coroscope::test
