// SPDX-License-Identifier: Apache-2.0
#include "run_traces.hpp"

#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <sys/stat.h>

#include "trim_trace.hpp"

namespace coroscope::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view trace_ending = ".cst";

/// ".4711" or ".4711.2"
bool is_of_child(const std::string& suffix) {
    return suffix.size() > 1 && suffix.front() == '.' && suffix.back() != '.' &&
           suffix.find_first_not_of("0123456789.") == std::string::npos;
}

std::string without_ending(std::string name) {
    if (name.ends_with(trace_ending)) name.resize(name.size() - trace_ending.size());
    return name;
}

/// Takes ".N.cst" off a name, and returns N; 0 if the name does not end so.
std::uint64_t take_number(std::string& name) {
    if (!name.ends_with(trace_ending)) return 0;
    const std::string rest = without_ending(name);
    const std::size_t dot = rest.rfind('.');
    if (dot == std::string::npos || rest.size() - dot > 11) return 0;
    const std::string digits = rest.substr(dot + 1);
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) return 0;
    name = rest.substr(0, dot);
    return std::stoull(digits);
}

}  // namespace

std::string file_of_series(const std::string& path, std::uint32_t number) {
    return without_ending(path) + '.' + std::to_string(number) + std::string(trace_ending);
}

run_traces::run_traces(std::string file, bool in_series)
    : file_(std::move(file)), in_series_(in_series), before_(find_files()) {}

// Returns false if a file of this name is not of this run's program or one of its children.
bool run_traces::read_name(const std::string& name, key& read) const {
    const std::string file = fs::path(file_).filename().string();
    std::string process = name;
    if (in_series_) {
        read.number = take_number(process);
        if (read.number == 0) return false;
        if (process == without_ending(file)) return true;
    }
    if (!process.starts_with(file)) return false;
    read.process = process.substr(file.size());
    return is_of_child(read.process);
}

run_traces::files run_traces::find_files() const {
    files found;
    const fs::path folder = fs::path(file_).parent_path();
    std::error_code failed;
    for (fs::directory_iterator at(folder.empty() ? "." : folder, failed), end;
         !failed && at != end; at.increment(failed)) {
        const std::string name = at->path().filename().string();
        key read;
        if (!read_name(name, read)) continue;
        const std::string path = (folder / name).string();
        struct stat about{};
        if (::lstat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode))
            found.emplace(read, found_file{path, {about.st_dev, about.st_ino}});
    }
    return found;
}

std::vector<run_trace> run_traces::collect() const {
    std::vector<run_trace> traces;
    struct stat about{};
    if (!in_series_ && ::stat(file_.c_str(), &about) == 0) traces.push_back({file_});
    const std::string* last_process = nullptr;
    const files found = find_files();
    for (const auto& [which, left] : found) {
        const auto earlier = before_.find(which);
        if (earlier != before_.end() && earlier->second.id == left.id) continue;
        if (last_process != nullptr && *last_process == which.process)
            traces.back().has_later = true;
        traces.push_back({left.path});
        last_process = &which.process;
    }
    for (run_trace& each : traces) each.being_written = trim_trace(each.path) == trimming::in_use;
    if (!in_series_ && traces.size() == 1 && !traces.front().being_written &&
        traces.front().path != file_ &&
        std::rename(traces.front().path.c_str(), file_.c_str()) == 0)
        traces.front().path = file_;
    return traces;
}

}  // namespace coroscope::tools
