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

namespace coroscope::runtime::inline store {
namespace {

constexpr int most_tries = 3;  // others may create and remove files at the path
constexpr int lowest_descriptor = 3;
constexpr int usual_descriptor = 64;

// Checks whether the file may be replaced, without opening it: to open a device may have effects.
int refusal_of(const struct stat& about) noexcept {
    if (S_ISLNK(about.st_mode)) return ELOOP;
    if (S_ISDIR(about.st_mode)) return EISDIR;
    if (!S_ISREG(about.st_mode)) return EINVAL;
    if (about.st_nlink > 1) return EMLINK;
    return about.st_uid == ::geteuid() ? 0 : EPERM;
}

// Takes the file's lock, or returns EBUSY if another session has it. Truncating a file that another
// process has mapped would kill that process.
int lock(int file) noexcept {
    return ::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK ? EBUSY : 0;
}

// The first bytes of a trace: those that exist before its first chunk is made.
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

// Returns whether this is the file of a session that was killed while it started. Such a file has a
// header without the magic (the magic is stored last) and at most the mark after the header. A
// longer file is not ours: images of disks begin with zeros, too.
bool is_unpublished(const beginning& found, const struct stat& about) noexcept {
    if (static_cast<std::uint64_t>(about.st_size) > sizeof found) return false;
    if (found.header.magic != 0 || !is_zero(found.rest)) return false;
    if (found.mark != 0 && found.mark != trace::end_mark) return false;
    const bool begun = found.header.version != 0 && found.header.version <= trace::format_version &&
                       found.header.header_bytes == trace::file_header_bytes;
    return begun || is_zero(found.header);
}

bool is_trace_or_empty(int file, const struct stat& about) noexcept {
    beginning found{};  // the bytes that a shorter file lacks stay zero
    if (::pread(file, &found, sizeof found, 0) < 0) return false;
    return found.header.magic == trace::file_magic || found.header.magic == trace::pack_magic ||
           is_unpublished(found, about);
}

// A program that was started without its standard streams would print into the trace if the trace
// had one of their numbers. Some programs rely on the numbers below ten that they get. The lock
// belongs to the open file and moves with it.
int move_up(int& file) noexcept {
    if (file >= usual_descriptor) return 0;
    int moved = ::fcntl(file, F_DUPFD_CLOEXEC, usual_descriptor);
    if (moved < 0 && file >= lowest_descriptor)
        return 0;  // the limit on descriptors is too low: the file keeps its number
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

// Opens a file that may be replaced. Returns 0 or an errno; the caller must close the file in
// either case.
int open_old(const char* path, int& file) noexcept {
    struct stat about{};
    if (::lstat(path, &about) != 0) return errno;
    if (const int error = refusal_of(about); error != 0) return error;
    file = ::open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return file < 0 ? errno : check_old(file);
}

// Removes the old trace. If its folder does not allow that, empties it and returns it in `file`. If
// neither works, there is no file any more.
int replace(const char* path, int& file) noexcept {
    int old = -1;
    int error = open_old(path, old);
    if (old < 0) return error == ENOENT ? 0 : error;
    const bool removed = error == 0 && (::unlink(path) == 0 || errno == ENOENT);
    if (error == 0 && !removed) error = move_up(old);
    if (error == 0 && !removed && ::ftruncate(old, 0) != 0) error = errno;
    if (error == 0 && !removed)
        file = old;
    else
        ::close(old);
    return error;
}

// Creates a file where none exists. If another process locks the new file before we do, the file
// belongs to that process, and the result is EBUSY.
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

bool is_of_another_user(const char* path) noexcept {
    struct stat about{};
    return ::lstat(path, &about) == 0 && about.st_uid != ::geteuid();
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

bool is_being_recorded(const char* path) noexcept {
    int file = -1;
    const int error = open_old(path, file);
    if (file >= 0) ::close(file);
    return error == EBUSY;
}

void remove_trace_file(const char* path) noexcept {
    int file = -1;
    if (open_old(path, file) == 0) ::unlink(path);
    if (file >= 0) ::close(file);
}

const char* why_no_trace_file(int error, const char* path) noexcept {
    switch (error) {
        case ELOOP: return "The trace file is a symbolic link, which is not followed.";
        case EINVAL: return "The trace file is not a regular file.";
        case EISDIR: return "The trace file is a folder.";
        case EMLINK: return "The trace file has other names, too: it is left alone.";
        case EPERM:
            return is_of_another_user(path)
                       ? "The trace file is another user's."
                       : "The system forbids a call that the trace needs: look at the filter of "
                         "system calls (seccomp).";
        case EEXIST: return "The trace file exists and is not a trace: it is left alone.";
        case EBUSY: return "Another session records into the trace file.";
        case ENOENT: return "The folder of the trace file does not exist: make it.";
        case EACCES:
        case EROFS: return "The trace file may not be made in its folder: choose another one.";
        case ESTALE: return "Another process cut the trace file while it was made.";
        case ENOSPC:
        case EDQUOT: return "The disk has no room for the trace file.";
        case EMFILE:
        case ENFILE: return "There is no descriptor for the trace file: raise ulimit -n.";
        case ENOMEM:
            return "There is no address space for the trace: lower its limit or raise ulimit -v.";
        case EAGAIN:
            return "The system refuses the trace a thread or locked memory: raise ulimit -u or "
                   "ulimit -l.";
        default: return "The trace file cannot be created.";
    }
}

}  // namespace coroscope::runtime::inline store
