// SPDX-License-Identifier: Apache-2.0
#pragma once

// The part of a long text that is in memory. It moves on over a source, and grows only if one piece
// of the text is longer than the window.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "byte_source.hpp"

namespace coroscope::analysis::inline reading {

class text_window {
public:
    /// The bytes before and after the text that the user may read and write, for a bracket and for
    /// a parser's padding.
    static constexpr std::size_t before = 1;
    static constexpr std::size_t behind = 128;

    explicit text_window(byte_source& source);

    [[nodiscard]] char* data() { return bytes_.get() + begin_; }
    [[nodiscard]] std::size_t size() const { return end_ - begin_; }
    /// The number of readable bytes from data() on.
    [[nodiscard]] std::size_t allocated() const { return before + room_ + behind - begin_; }
    /// The place of data() in the text.
    [[nodiscard]] std::uint64_t offset() const { return offset_; }
    /// Returns whether the text ends with this window.
    [[nodiscard]] bool at_end() const { return at_end_; }

    /// Removes the first `count` bytes from the window.
    void pass(std::size_t count) {
        begin_ += count;
        offset_ += count;
    }
    /// Reads until the window is full.
    void fill();
    /// Doubles the window and fills it.
    void widen();

private:
    void widen_to(std::size_t room);

    byte_source& source_;
    std::unique_ptr<char[]> bytes_;
    std::size_t room_;
    std::size_t begin_ = before;
    std::size_t end_ = before;
    std::uint64_t offset_ = 0;
    bool at_end_ = false;
};

}  // namespace coroscope::analysis::inline reading
