// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string>

#include <unistd.h>

namespace bench {

/// A folder that is removed with its contents: each trace is a new file.
class trace_path {
public:
    trace_path() {
        const char* where = std::getenv("TMPDIR");
        folder_ = std::string(where != nullptr ? where : "/tmp") + "/coroscope-bench-XXXXXX";
        made_ = mkdtemp(folder_.data()) != nullptr;
        file_ = folder_ + "/trace.cst";
    }
    ~trace_path() {
        unlink(file_.c_str());
        rmdir(folder_.c_str());
    }
    trace_path(const trace_path&) = delete;
    trace_path& operator=(const trace_path&) = delete;

    [[nodiscard]] bool made() const { return made_; }
    [[nodiscard]] const char* file() const { return file_.c_str(); }

private:
    std::string folder_;
    std::string file_;
    bool made_ = false;
};

}  // namespace bench
