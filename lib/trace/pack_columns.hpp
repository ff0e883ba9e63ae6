// SPDX-License-Identifier: Apache-2.0
#pragma once

// Columns of numbers and bytes, compressed and restored. A column of numbers is written as numbers
// of variable length, or as planes: all lowest bytes first, so that the high bytes of small numbers
// are adjacent zeros. The shorter form is chosen. The sequence and each plane are a zstd frame
// after its length.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace coroscope::trace {

using column = std::vector<std::uint64_t>;

/// Maps small differences of either sign to small numbers.
constexpr std::uint64_t zigzag(std::uint64_t difference) noexcept {
    return (difference << 1) ^ (0 - (difference >> 63));
}
constexpr std::uint64_t unzigzag(std::uint64_t folded) noexcept {
    return (folded >> 1) ^ (0 - (folded & 1));
}

/// Appends columns to a block. Throws std::bad_alloc if memory runs out.
class column_writer {
public:
    column_writer();
    ~column_writer();
    column_writer(const column_writer&) = delete;
    column_writer& operator=(const column_writer&) = delete;

    void bytes(const void* data, std::size_t size);
    void numbers(const column& values);

    [[nodiscard]] const std::string& written() const noexcept { return written_; }
    void clear() { written_.clear(); }

private:
    static void number(std::string& to, std::uint64_t value);
    void as_planes(const column& values, std::size_t planes);
    void as_sequence(const column& values);

    struct state;
    std::unique_ptr<state> state_;
    std::string written_;
    std::string part_;
};

/// Takes columns from a block that is not trusted. The caller must know the length of each column,
/// and must bound it. Every call returns false if the block has other contents.
class column_reader {
public:
    column_reader();
    ~column_reader();
    column_reader(const column_reader&) = delete;
    column_reader& operator=(const column_reader&) = delete;

    /// `data` must be valid while columns are taken from it.
    void begin(const unsigned char* data, std::size_t size);

    /// Takes exactly `size` bytes.
    [[nodiscard]] bool bytes(unsigned char* to, std::size_t size);
    [[nodiscard]] bool bytes(std::vector<unsigned char>& to, std::size_t size);

    /// Takes exactly `count` numbers.
    [[nodiscard]] bool numbers(column& to, std::size_t count);

    [[nodiscard]] bool at_end() const noexcept { return left_ == 0; }

private:
    [[nodiscard]] static bool number(const unsigned char*& next, std::size_t& left,
                                     std::uint64_t& to);
    [[nodiscard]] bool sequence(column& to);

    struct state;
    std::unique_ptr<state> state_;
    const unsigned char* next_ = nullptr;
    std::size_t left_ = 0;
    std::vector<unsigned char> part_;
};

}  // namespace coroscope::trace
