// SPDX-License-Identifier: Apache-2.0
#pragma once

// One reservation of address space for a whole trace, over a file or over anonymous memory, that
// becomes usable from its beginning on as it grows. What grow() has granted never faults on a full
// disk: its blocks are allocated and its pages present.
//
// Threads: one at a time; the memory itself is anybody's.

#include <cstddef>
#include <cstdint>

#include <sys/types.h>

struct stat;

namespace coroscope::runtime {

class mapping {
public:
    mapping() noexcept = default;
    mapping(const mapping&) = delete;
    mapping& operator=(const mapping&) = delete;

    /// Reserves `bytes`, over a new file at `path` (null: over memory). Returns 0 or an errno, for a file that of
    /// create_trace_file() or of mmap().
    int create(const char* path, std::uint64_t bytes) noexcept;

    /// Makes the first `bytes` usable. Returns 0 or an errno (ESTALE and EBADF as of file_damage()), and then grants nothing more. A file
    /// size limit raises SIGXFSZ in the calling thread, which is to block it.
    int grow(std::uint64_t bytes) noexcept;

    std::byte* base() const noexcept { return base_; }
    std::uint64_t reserved() const noexcept { return reserved_; }
    std::uint64_t usable() const noexcept { return usable_; }
    bool has_file() const noexcept { return over_file_; }

    /// The file's usable bytes at a second place, or null. To be given back by drop_view().
    std::byte* second_view() noexcept;
    void drop_view(std::byte* view) const noexcept;

    /// Puts empty anonymous memory in the place of the mapping, at once. False when the system
    /// refuses: then the mapping is as before.
    bool cut_off() noexcept;

    /// Returns the memory of a part, whose content becomes zero, to the system.
    void discard(std::byte* from, std::uint64_t bytes) const noexcept;

    /// What somebody else did to the file: ESTALE where it was cut short of what is usable, though it may have grown since,
    /// and the rest must not be touched; EBADF where the program closed its descriptor: what is usable stays so, and that is
    /// all; ENOENT where it has no name any more; 0 where it is as it should be.
    int file_damage() noexcept;

    void truncate_file(std::uint64_t bytes) noexcept;
    void close_file() noexcept;
    void remove_file(const char* path) noexcept;
    void unmap() noexcept;

private:
    int open_file(const char* path) noexcept;
    int look_at_file(struct stat& about) noexcept;
    int check_file() noexcept;
    int allocate(std::uint64_t from, std::uint64_t to) noexcept;
    int reserve_blocks(std::uint64_t from, std::uint64_t end) noexcept;
    int write_zeros(std::uint64_t from, std::uint64_t to) noexcept;
    int write_word(std::uint64_t at, std::uint64_t word) noexcept;
    bool reaches_its_end() const noexcept;
    bool was_cut() const noexcept;
    int populate(std::uint64_t from, std::uint64_t to) const noexcept;

    std::byte* base_ = nullptr;
    std::uint64_t reserved_ = 0;
    std::uint64_t usable_ = 0;
    std::uint64_t page_ = 4096;
    bool over_file_ = false;
    int file_ = -1;     // the file's descriptor, as long as the program leaves it to us
    dev_t device_ = 0;  // and the file, by which it is known
    ino_t inode_ = 0;
    bool allocates_ahead_ = true;  // the file system can allocate without writing
};

}  // namespace coroscope::runtime
