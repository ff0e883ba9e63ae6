// SPDX-License-Identifier: Apache-2.0
#include "trace_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <coroscope/trace/format.hpp>
#include <coroscope/trace/pack_format.hpp>

namespace coroscope::runtime {
namespace {

constexpr int most_tries = 3;  // others may create and remove files at the path
constexpr int lowest_descriptor = 3;
constexpr int usual_descriptor = 64;

// May the file be replaced, as far as can be told without opening it? Opening a device may do things.
int refusal_of(const struct stat& about) noexcept {
    if (S_ISLNK(about.st_mode)) return ELOOP;
    if (S_ISDIR(about.st_mode)) return EISDIR;
    if (!S_ISREG(about.st_mode)) return EINVAL;
    if (about.st_nlink > 1) return EMLINK;
    return about.st_uid == ::geteuid() ? 0 : EPERM;
}

// To cut a file that another process has mapped would kill that process.
int lock(int file) noexcept {
    return ::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK ? EBUSY : 0;
}

// The bytes of a trace that are there before its first chunk.
struct beginning {
    trace::file_header header;
    char rest[trace::file_header_bytes - sizeof(trace::file_header)];
    std::uint64_t mark;
};
static_assert(sizeof(beginning) == trace::file_header_bytes + sizeof(trace::end_mark));

template <class T>
bool is_zero(const T& bytes) noexcept {
    const auto* const from = reinterpret_cast<const char*>(&bytes);
    return std::all_of(from, from + sizeof bytes, [](char byte) { return byte == 0; });
}

// What a session that is killed at its very start leaves: a header without its magic, which is stored last, and the mark
// behind it at most. Whatever is longer is somebody's: images of disks begin with zeros, too.
bool is_unpublished(const beginning& found, const struct stat& about) noexcept {
    if (static_cast<std::uint64_t>(about.st_size) > sizeof found) return false;
    if (found.header.magic != 0 || !is_zero(found.rest)) return false;
    if (found.mark != 0 && found.mark != trace::end_mark) return false;
    const bool begun = found.header.version == trace::format_version &&
                       found.header.header_bytes == trace::file_header_bytes;
    return begun || is_zero(found.header);
}

bool is_trace_or_empty(int file, const struct stat& about) noexcept {
    beginning found{};  // what a shorter file lacks of it stays zero
    if (::pread(file, &found, sizeof found, 0) < 0) return false;
    return found.header.magic == trace::file_magic || found.header.magic == trace::pack_magic ||
           is_unpublished(found, about);
}

// A program that was started without its standard streams would print into the trace if this had a number of theirs, and
// some count on what numbers below ten they get. The lock is the open file's, and goes with it.
int move_up(int& file) noexcept {
    if (file >= usual_descriptor) return 0;
    int moved = ::fcntl(file, F_DUPFD_CLOEXEC, usual_descriptor);
    if (moved < 0 && file >= lowest_descriptor) return 0;  // a limit on descriptors: it may stay
    if (moved < 0) moved = ::fcntl(file, F_DUPFD_CLOEXEC, lowest_descriptor);
    if (moved < 0) return errno == EINVAL ? EMFILE : errno;
    ::close(file);
    file = moved;
    return 0;
}

int check_old(int file) noexcept {
    struct stat about{};
    if (::fstat(file, &about) != 0) return errno;
    if (const int error = refusal_of(about); error != 0) return error;
    if (!is_trace_or_empty(file, about)) return EEXIST;
    return lock(file);
}

// Removes the old trace; where its folder does not allow that, empties it and gives it as `file`. Without
// either, nothing stands there any more.
int replace(const char* path, int& file) noexcept {
    struct stat about{};
    if (::lstat(path, &about) != 0) return errno == ENOENT ? 0 : errno;
    if (const int error = refusal_of(about); error != 0) return error;
    int old = ::open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (old < 0) return errno == ENOENT ? 0 : errno;
    int error = check_old(old);
    const bool removed = error == 0 && (::unlink(path) == 0 || errno == ENOENT);
    if (error == 0 && !removed) error = move_up(old);
    if (error == 0 && !removed && ::ftruncate(old, 0) != 0) error = errno;
    if (error == 0 && !removed)
        file = old;
    else
        ::close(old);
    return error;
}

// Nothing stood there. The new file may be held already by who found it before it was locked; that is his, then.
int create_new(const char* path, int& file) noexcept {
    int made = ::open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (made < 0) return errno;
    int error = lock(made);
    if (error == 0) {
        error = move_up(made);
        if (error != 0) ::unlink(path);
    }
    if (error == 0)
        file = made;
    else
        ::close(made);
    return error;
}

}  // namespace

int create_trace_file(const char* path, int& file) noexcept {
    file = -1;
    for (int tries = 0; tries < most_tries; ++tries) {
        int error = create_new(path, file);
        if (error != EEXIST) return error;
        error = replace(path, file);
        if (error != 0 || file >= 0) return error;
    }
    return EBUSY;
}

const char* why_no_trace_file(int error) noexcept {
    switch (error) {
        case ELOOP: return "The trace file is a symbolic link, which is not followed.";
        case EINVAL: return "The trace file is no regular file.";
        case EMLINK: return "The trace file has other names, too: it is left alone.";
        case EPERM: return "The trace file is another user's.";
        case EEXIST: return "The trace file exists and is no trace: it is left alone.";
        case EBUSY: return "Another session records into the trace file.";
        default: return "The trace file cannot be created.";
    }
}

}  // namespace coroscope::runtime
