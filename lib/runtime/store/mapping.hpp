// SPDX-License-Identifier: Apache-2.0
#pragma once

// One reservation of address space for a whole trace, over a file or over anonymous memory, that
// becomes usable from its beginning on as it grows. Bytes that grow() has granted never fault on a
// full disk: their blocks are allocated and their pages present.
//
// Threads: one at a time, but any thread may use the memory itself.

#include <cstddef>
#include <cstdint>

#include <sys/types.h>

struct stat;

namespace coroscope::runtime::inline store {

class mapping {
public:
    mapping() noexcept = default;
    mapping(const mapping&) = delete;
    mapping& operator=(const mapping&) = delete;

    /// Reserves `bytes` bytes over a new file at `path`, or over memory if it is null. Returns 0 or
    /// an errno; for a file, that of create_trace_file() or of mmap().
    int create(const char* path, std::uint64_t bytes) noexcept;

    /// Makes the first `bytes` bytes usable. Returns 0 or an errno (ESTALE and EBADF as from
    /// file_damage()); on an error it grants nothing. The caller must block SIGXFSZ, which a limit
    /// on file sizes raises in the calling thread.
    int grow(std::uint64_t bytes) noexcept;

    std::byte* base() const noexcept { return base_; }
    std::uint64_t reserved() const noexcept { return reserved_; }
    std::uint64_t usable() const noexcept { return usable_; }
    bool has_file() const noexcept { return over_file_; }

    /// Maps the file's usable bytes at a second place. Returns null on failure. The caller must
    /// give the view back by drop_view().
    std::byte* second_view() noexcept;
    void drop_view(std::byte* view) const noexcept;

    /// Atomically replaces the mapping by empty anonymous memory. Returns false if the system
    /// refuses; the mapping is then unchanged.
    bool cut_off() noexcept;

    /// Returns the memory of a part to the system. In memory, the part's content becomes zero. Over
    /// a file it stays in the file, from which the next access maps it again.
    void discard(std::byte* from, std::uint64_t bytes) const noexcept;

    /// Returns the damage that others did to the file; 0 if there is none. ESTALE: it was cut below
    /// the usable bytes, although it may have grown since; the bytes beyond the cut must not be
    /// touched. EBADF: the program closed the file's descriptor; the usable bytes stay usable, but
    /// the file cannot grow. ENOENT: the file was removed.
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
    std::int64_t write_some_zeros(std::uint64_t from, std::uint64_t bytes) noexcept;
    int write_word(std::uint64_t at, std::uint64_t word) noexcept;
    bool reaches_its_end() const noexcept;
    bool was_cut() const noexcept;
    int populate(std::uint64_t from, std::uint64_t to) const noexcept;

    std::byte* base_ = nullptr;
    std::uint64_t reserved_ = 0;
    std::uint64_t usable_ = 0;
    std::uint64_t page_ = 4096;
    bool over_file_ = false;
    int file_ = -1;     // the file's descriptor, until the program closes it
    dev_t device_ = 0;  // identify the file
    ino_t inode_ = 0;
    bool allocates_ahead_ = true;  // the file system can allocate without writing
    bool in_memory_ = false;       // on tmpfs, which allocates pages, not blocks
};

}  // namespace coroscope::runtime::inline store
