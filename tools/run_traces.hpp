// SPDX-License-Identifier: Apache-2.0
#pragma once

// The traces that a recorded program and its child processes leave: FILE, and FILE.PID for each
// child. With --rotate each of them leaves several files: trace.1.cst, trace.2.cst and so on for
// trace.cst, and FILE.PID.1.cst for a child.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

namespace coroscope::tools {

struct run_trace {
    std::string path;
    bool being_written = false;  ///< by a process that the program left behind, as daemons are
    bool has_later = false;      ///< the same process went on in another file
};

/// Returns the path of a file of the series that `path` names. 0 is no file's number.
[[nodiscard]] std::string file_of_series(const std::string& path, std::uint32_t number);

class run_traces {
public:
    /// Must be made before the program starts, so that it knows the files of earlier runs beside
    /// `file`. `in_series`: each process leaves several files.
    run_traces(std::string file, bool in_series);

    /// Returns the traces that were written since then, those of the program first. Cuts the files
    /// of ended processes to their records, as the end of a session does. If only one child
    /// recorded, for example the child of a script, its trace becomes FILE, unless it is a series.
    [[nodiscard]] std::vector<run_trace> collect() const;

private:
    struct file_id {
        dev_t device;
        ino_t inode;
        auto operator<=>(const file_id&) const = default;
    };
    /// By process, then by number: the process is "" for the program, ".PID" for a child. The
    /// number is 0 without a series.
    struct key {
        std::string process;
        std::uint64_t number = 0;
        auto operator<=>(const key&) const = default;
    };
    struct found_file {
        std::string path;
        file_id id;
    };
    using files = std::map<key, found_file>;
    [[nodiscard]] bool read_name(const std::string& name, key& read) const;
    [[nodiscard]] files find_files() const;

    std::string file_;
    bool in_series_;
    files before_;
};

}  // namespace coroscope::tools
