// SPDX-License-Identifier: Apache-2.0
#pragma once

// A table of texts, each stored once and identified by a number. A lookup costs a hash and usually
// one comparison. A text costs its bytes and about thirty more. A plain value: const access is safe
// on any thread.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// A table of texts; see above.
class text_table {
public:
    /// Returns the number of the text, from 0. Throws std::bad_alloc and std::length_error.
    COROSCOPE_API std::uint32_t insert(std::string_view text);

    /// Returns the text of a number; empty if the number was never assigned. Valid while the table
    /// lives.
    [[nodiscard]] std::string_view operator[](std::uint32_t number) const {
        return number < texts_.size() ? texts_[number] : std::string_view();
    }
    [[nodiscard]] std::size_t size() const noexcept { return texts_.size(); }

private:
    struct slot {
        std::uint32_t hash = 0;
        std::uint32_t number = 0xffff'ffff;  // means that the slot is empty
    };

    std::string_view keep(std::string_view text);
    void grow();

    std::vector<std::string_view> texts_;
    std::vector<slot> slots_;                      // a power of two, at most three quarters full
    std::vector<std::unique_ptr<char[]>> blocks_;  // of text bytes, which never move
    std::size_t room_ = 0;                         // left at the end of the last block
    char* next_ = nullptr;
};

}  // namespace coroscope::analysis
