// SPDX-License-Identifier: Apache-2.0
#include "mapping.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <coroscope/trace/format.hpp>

#include "trace_file.hpp"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14; C libraries name it later than kernels know it
#endif

namespace coroscope::runtime {
namespace {

// Puts the pages into the page cache, many at once: a page that a first write through the mapping has to make
// costs several times as much (docs/decisions/0023-making-memory.md).
int write_zeros(int file, std::uint64_t from, std::uint64_t to) noexcept {
    static constexpr char zeros[16384] = {};
    iovec pieces[32];
    while (from < to) {
        int count = 0;
        for (std::uint64_t left = to - from;
             left != 0 && count < static_cast<int>(std::size(pieces)); ++count) {
            const std::uint64_t bytes = std::min<std::uint64_t>(sizeof(zeros), left);
            pieces[count] = {const_cast<char*>(zeros), bytes};
            left -= bytes;
        }
        const ssize_t written = ::pwritev(file, pieces, count, static_cast<off_t>(from));
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        if (written == 0) return ENOSPC;
        from += static_cast<std::uint64_t>(written);
    }
    return 0;
}

int write_word(int file, std::uint64_t at, std::uint64_t word) noexcept {
    ssize_t written = -1;
    do {
        written = ::pwrite(file, &word, sizeof(word), static_cast<off_t>(at));
    } while (written < 0 && errno == EINTR);
    if (written < 0) return errno;
    return written == sizeof(word) ? 0 : ENOSPC;
}

void touch_pages(std::byte* from, std::uint64_t bytes, std::uint64_t page) noexcept {
    // A read-modify-write that changes nothing: a neighbour's bytes may share the first page.
    for (std::uint64_t at = 0; at < bytes; at += page)
        __atomic_fetch_or(reinterpret_cast<unsigned char*>(from + at), 0, __ATOMIC_RELAXED);
}

}  // namespace

int mapping::create(const char* path, std::uint64_t bytes) noexcept {
    page_ = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    if (path != nullptr)
        if (const int error = create_trace_file(path, file_); error != 0) return error;
    const int flags = path != nullptr ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, file_, 0);
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

int mapping::grow(std::uint64_t bytes) noexcept {
    if (bytes <= usable_) return 0;
    if (file_ >= 0)
        if (const int error = allocate(usable_, bytes); error != 0) return error;
    if (const int error = populate(usable_, bytes); error != 0) return error;
    const std::uint64_t before = std::exchange(usable_, bytes);
    // What fails here leaves a mark where a chunk begins, which whoever opens it takes away.
    if (file_ >= 0) write_word(file_, before, 0);
    return 0;
}

// Whoever cuts the file meanwhile takes the old mark away or the new one, however long our own writes make it again.
int mapping::allocate(std::uint64_t from, std::uint64_t to) noexcept {
    if (was_cut()) return ESTALE;
    const std::uint64_t end = to + sizeof(trace::end_mark);
    // Where that is not supported, a full disk shows as the zeros are written.
    while (allocates_ahead_ &&
           ::fallocate(file_, 0, static_cast<off_t>(from), static_cast<off_t>(end - from)) != 0) {
        if (errno == EOPNOTSUPP || errno == ENOSYS)
            allocates_ahead_ = false;
        else if (errno != EINTR)
            return errno;
    }
    const std::uint64_t behind_mark = from == 0 ? 0 : from + sizeof(trace::end_mark);
    if (const int error = write_zeros(file_, behind_mark, to); error != 0) return error;
    if (const int error = write_word(file_, to, trace::end_mark); error != 0) return error;
    return was_cut() ? ESTALE : 0;
}

int mapping::populate(std::uint64_t from, std::uint64_t to) const noexcept {
    const std::uint64_t start = from / page_ * page_;
    std::byte* const at = base_ + start;
    while (::madvise(at, to - start, MADV_POPULATE_WRITE) != 0) {
        if (errno == EINVAL) {  // an older kernel
            touch_pages(at, to - start, page_);
            return 0;
        }
        if (errno == EFAULT)  // a touch would have raised SIGBUS
            return file_ >= 0 && was_cut() ? ESTALE : EIO;
        if (errno != EAGAIN && errno != EINTR) return errno;
    }
    return 0;
}

std::byte* mapping::second_view() const noexcept {
    void* at = ::mmap(nullptr, usable_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

void mapping::drop_view(std::byte* view) const noexcept { ::munmap(view, usable_); }

bool mapping::cut_off() noexcept {
    if (base_ == nullptr) return false;
    // The kernel's own call: ThreadSanitizer takes the C library's for a write to all that stood there, though pages
    // are changed under whoever uses them.
    return ::syscall(SYS_mmap, base_, reserved_, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1L, off_t{0}) != -1;
}

void mapping::discard(std::byte* from, std::uint64_t bytes) const noexcept {
    const auto start = static_cast<std::uint64_t>(from - base_);
    const std::uint64_t first = (start + page_ - 1) / page_ * page_;
    const std::uint64_t end = (start + bytes) / page_ * page_;
    if (first < end) ::madvise(base_ + first, end - first, MADV_DONTNEED);
}

void mapping::truncate_file(std::uint64_t bytes) const noexcept {
    while (::ftruncate(file_, static_cast<off_t>(bytes)) != 0 && errno == EINTR) {
    }
}

bool mapping::was_cut() const noexcept {
    if (usable_ == 0) return false;
    std::uint64_t found = 0;
    const ssize_t bytes = ::pread(file_, &found, sizeof(found), static_cast<off_t>(usable_));
    // A file that cannot be read for the moment says nothing.
    return bytes >= 0 && (bytes != sizeof(found) || found != trace::end_mark);
}

int mapping::file_damage() const noexcept {
    struct stat about{};
    if (file_ < 0 || ::fstat(file_, &about) != 0) return 0;
    if (was_cut()) return ESTALE;
    return about.st_nlink == 0 ? ENOENT : 0;
}

void mapping::close_file() noexcept {
    if (file_ >= 0) ::close(file_);
    file_ = -1;
}

void mapping::remove_file(const char* path) noexcept {
    if (file_ >= 0 && path != nullptr) ::unlink(path);
    close_file();
}

void mapping::unmap() noexcept {
    if (base_ != nullptr) ::munmap(base_, reserved_);
    base_ = nullptr;
}

}  // namespace coroscope::runtime
