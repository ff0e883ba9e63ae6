// SPDX-License-Identifier: Apache-2.0
#include "mapping.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <coroscope/trace/format.hpp>

#include "../base/unlocked_memory.hpp"
#include "trace_file.hpp"

namespace coroscope::runtime::inline store {
namespace {

void touch_pages(std::byte* from, std::uint64_t bytes, std::uint64_t page) noexcept {
    // Uses an atomic OR with 0, because another chunk's bytes may share the first page.
    for (std::uint64_t at = 0; at < bytes; at += page)
        __atomic_fetch_or(reinterpret_cast<unsigned char*>(from + at), 0, __ATOMIC_RELAXED);
}

}  // namespace

int mapping::create(const char* path, std::uint64_t bytes) noexcept {
    page_ = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    if (path != nullptr)
        if (const int error = open_file(path); error != 0) return error;
    const int flags = path != nullptr ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    void* at = map_unlocked(bytes, flags | MAP_NORESERVE, file_);
    if (at == MAP_FAILED) {
        const int error = errno;
        remove_file(path);
        return error;
    }
    base_ = static_cast<std::byte*>(at);
    reserved_ = bytes;
    usable_ = 0;
    return 0;
}

int mapping::open_file(const char* path) noexcept {
    if (const int error = create_trace_file(path, file_); error != 0) return error;
    over_file_ = true;
    struct stat about{};
    if (::fstat(file_, &about) != 0) {
        const int error = errno;
        remove_file(path);
        return error;
    }
    device_ = about.st_dev;
    inode_ = about.st_ino;
    struct statfs system{};
    in_memory_ = ::fstatfs(file_, &system) == 0 && system.f_type == TMPFS_MAGIC;
    return 0;
}

// A program that closes every descriptor, as daemons do, closes ours, and may get its number again
// for a file or a connection of its own. Such a number is forgotten and not used. The number may
// still change its meaning between this check and the next call, because the system has no call for
// both. So every call that changes something checks the number just before.
int mapping::look_at_file(struct stat& about) noexcept {
    if (file_ < 0) return EBADF;
    if (::fstat(file_, &about) != 0) {
        if (errno == EBADF) file_ = -1;
        return errno;
    }
    if (about.st_dev == device_ && about.st_ino == inode_) return 0;
    file_ = -1;
    return EBADF;
}

int mapping::check_file() noexcept {
    struct stat about{};
    return look_at_file(about);
}

int mapping::grow(std::uint64_t bytes) noexcept {
    if (bytes <= usable_) return 0;
    if (over_file_)
        if (const int error = allocate(usable_, bytes); error != 0) return error;
    if (const int error = populate(usable_, bytes); error != 0) return error;
    const std::uint64_t before = std::exchange(usable_, bytes);
    // A failure after this leaves a mark at a chunk's beginning, which the thread that opens the
    // chunk removes.
    if (over_file_) write_word(before, 0);
    return 0;
}

// If another process cuts the file meanwhile, it removes the old mark or the new one, even if our
// writes make the file as long as before.
int mapping::allocate(std::uint64_t from, std::uint64_t to) noexcept {
    if (const int error = check_file(); error != 0) return error;
    if (was_cut()) return ESTALE;
    if (const int error = reserve_blocks(from, to + sizeof(trace::end_mark)); error != 0)
        return error;
    const std::uint64_t behind_mark = from == 0 ? 0 : from + sizeof(trace::end_mark);
    // tmpfs has allocated the pages themselves, and clears them as they are populated.
    const bool has_pages = in_memory_ && allocates_ahead_;
    if (const int error = has_pages ? 0 : write_zeros(behind_mark, to); error != 0) return error;
    if (const int error = write_word(to, trace::end_mark); error != 0) return error;
    if (const int error = check_file(); error != 0) return error;  // else it may be another file
    return was_cut() ? ESTALE : 0;
}

// If the file system has no fallocate(), a full disk shows when the zeros are written.
int mapping::reserve_blocks(std::uint64_t from, std::uint64_t end) noexcept {
    while (allocates_ahead_) {
        if (const int error = check_file(); error != 0) return error;
        if (::fallocate(file_, 0, static_cast<off_t>(from), static_cast<off_t>(end - from)) == 0)
            return 0;
        if (errno == EOPNOTSUPP || errno == ENOSYS || errno == EPERM)  // EPERM: seccomp
            allocates_ahead_ = false;
        else if (errno != EINTR)
            return errno;
    }
    return 0;
}

// Puts the pages into the page cache, many at once: a page that a first write through the mapping
// has to make costs several times as much. One call for all of them lets the kernel choose the
// largest pages that it has (docs/decisions/0050-pages-of-a-recording.md).
int mapping::write_zeros(std::uint64_t from, std::uint64_t to) noexcept {
    while (from < to) {
        if (const int error = check_file(); error != 0) return error;
        const std::int64_t written = write_some_zeros(from, to - from);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        if (written == 0) return ENOSPC;
        from += static_cast<std::uint64_t>(written);
    }
    return 0;
}

// Returns the number of written bytes, or -1. The first piece ends at a boundary of pieces, so that
// the others begin at a page.
std::int64_t mapping::write_some_zeros(std::uint64_t from, std::uint64_t bytes) noexcept {
    static constexpr char zeros[16384] = {};
    iovec pieces[257];  // for 4 MiB, the largest growth, and the part of a piece before them
    std::size_t count = 0;
    std::uint64_t piece = sizeof(zeros) - from % sizeof(zeros);
    for (; bytes != 0 && count < std::size(pieces); ++count, piece = sizeof(zeros)) {
        piece = std::min(piece, bytes);
        pieces[count] = {const_cast<char*>(zeros), piece};
        bytes -= piece;
    }
    return ::pwritev(file_, pieces, static_cast<int>(count), static_cast<off_t>(from));
}

int mapping::write_word(std::uint64_t at, std::uint64_t word) noexcept {
    ssize_t written = -1;
    do {
        if (const int error = check_file(); error != 0) return error;
        written = ::pwrite(file_, &word, sizeof(word), static_cast<off_t>(at));
    } while (written < 0 && errno == EINTR);
    if (written < 0) return errno;
    return written == sizeof(word) ? 0 : ENOSPC;
}

int mapping::populate(std::uint64_t from, std::uint64_t to) const noexcept {
    const std::uint64_t start = from / page_ * page_;
    std::byte* const at = base_ + start;
    while (::madvise(at, to - start, MADV_POPULATE_WRITE) != 0) {
        if (errno == EINVAL || errno == ENOSYS || errno == EPERM) {  // an older kernel, seccomp
            touch_pages(at, to - start, page_);
            return 0;
        }
        if (errno == EFAULT)  // a touch would have raised SIGBUS
            return over_file_ && was_cut() ? ESTALE : EIO;
        if (errno != EAGAIN && errno != EINTR) return errno;
    }
    return 0;
}

// The descriptor is checked after the mapping was made: if it is the file's then, it was so before.
std::byte* mapping::second_view() noexcept {
    void* at = file_ >= 0 ? map_unlocked(usable_, MAP_SHARED, file_) : MAP_FAILED;
    if (at != MAP_FAILED && check_file() == 0) return static_cast<std::byte*>(at);
    if (at != MAP_FAILED) ::munmap(at, usable_);
    // This needs no descriptor: if mremap() is asked to move 0 bytes of shared pages, the system
    // (not memcheck) makes a second mapping.
    at = ::mremap(base_, 0, usable_, MREMAP_MAYMOVE);
    return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

void mapping::drop_view(std::byte* view) const noexcept { ::munmap(view, usable_); }

bool mapping::cut_off() noexcept {
    return base_ != nullptr && replace_by_empty_memory(base_, reserved_);
}

void mapping::discard(std::byte* from, std::uint64_t bytes) const noexcept {
    const auto start = static_cast<std::uint64_t>(from - base_);
    const std::uint64_t first = (start + page_ - 1) / page_ * page_;
    const std::uint64_t end = (start + bytes) / page_ * page_;
    if (first < end) discard_memory(base_ + first, end - first);
}

void mapping::truncate_file(std::uint64_t bytes) noexcept {
    while (check_file() == 0 && ::ftruncate(file_, static_cast<off_t>(bytes)) != 0 &&
           errno == EINTR) {
    }
}

bool mapping::was_cut() const noexcept {
    if (usable_ == 0) return false;
    std::uint64_t found = 0;
    const ssize_t bytes = ::pread(file_, &found, sizeof(found), static_cast<off_t>(usable_));
    // If the file cannot be read at the moment, it does not count as cut.
    return bytes >= 0 && (bytes != sizeof(found) || found != trace::end_mark);
}

// Returns whether all usable bytes can be touched. Asks the mapping, because there is no
// descriptor.
bool mapping::reaches_its_end() const noexcept {
    if (usable_ == 0) return true;
    std::byte* const last_page = base_ + (usable_ - 1) / page_ * page_;
    return ::madvise(last_page, page_, MADV_POPULATE_READ) == 0 || errno != EFAULT;
}

int mapping::file_damage() noexcept {
    if (!over_file_) return 0;
    struct stat about{};
    const int error = look_at_file(about);
    if (error == EBADF) return reaches_its_end() ? EBADF : ESTALE;
    if (error != 0) return 0;
    if (was_cut()) return ESTALE;
    return about.st_nlink == 0 ? ENOENT : 0;
}

void mapping::close_file() noexcept {
    if (check_file() == 0) ::close(file_);
    file_ = -1;
    over_file_ = false;
}

void mapping::remove_file(const char* path) noexcept {
    if (over_file_ && path != nullptr) ::unlink(path);
    close_file();
}

void mapping::unmap() noexcept {
    if (base_ != nullptr) ::munmap(base_, reserved_);
    base_ = nullptr;
}

}  // namespace coroscope::runtime::inline store
