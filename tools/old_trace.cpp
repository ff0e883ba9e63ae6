// SPDX-License-Identifier: Apache-2.0
#include "old_trace.hpp"

#include <cerrno>
#include <cstddef>
#include <string_view>
#include <system_error>

#include <coroscope/trace/format.hpp>
#include <coroscope/trace/reader.hpp>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "destination.hpp"

namespace coroscope::tools {
namespace {

std::string system_text(int error) { return std::generic_category().message(error); }

/// Returns an empty string if the open file is a trace without a writer, or the remains of a
/// session that was killed at its start, else an error message.
std::string problem_with(int file) {
    char first[sizeof(trace::file_magic)]{};
    const ssize_t bytes = ::pread(file, first, sizeof(first), 0);
    if (bytes < 0) return system_text(errno);
    const std::string_view begin(first, static_cast<std::size_t>(bytes));
    const bool is_cut_short = bytes == 0 || begin == std::string(sizeof(first), '\0');
    if (!is_cut_short && !trace::is_trace(begin)) return "the file is not a trace";
    if (::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return "another session records into this trace";
    return {};
}

std::string remove_trace(const std::string& path, const struct stat& what) {
    if (!S_ISREG(what.st_mode))
        return S_ISDIR(what.st_mode) ? system_text(EISDIR) : "not a regular file";
    if (what.st_uid != ::geteuid()) return "the file belongs to another user";
    const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return system_text(errno);
    std::string problem = problem_with(file);
    if (problem.empty() && ::unlink(path.c_str()) != 0) problem = system_text(errno);
    ::close(file);
    return problem;
}

}  // namespace

std::string make_way(const std::string& path, const std::string& program) {
    if (is_same_file(path, program)) return "this is the program itself";
    struct stat what{};
    if (::lstat(path.c_str(), &what) == 0) {
        if (std::string problem = remove_trace(path, what); !problem.empty()) return problem;
    }
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) return system_text(errno);
    ::close(file);
    return ::unlink(path.c_str()) == 0 ? std::string() : system_text(errno);
}

}  // namespace coroscope::tools
