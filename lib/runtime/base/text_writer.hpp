// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes text into a buffer of fixed size, without allocation. Text that does not fit is left out.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <coroscope/attribute.hpp>

namespace coroscope::runtime::inline base {

class text_writer {
public:
    text_writer(char* to, std::size_t size) noexcept : to_(to), room_(size == 0 ? 0 : size - 1) {
        if (size != 0) *to_ = '\0';
    }

    text_writer& text(const char* added) noexcept { return text(added, std::strlen(added)); }
    text_writer& text(const char* added, std::size_t size) noexcept {
        const std::size_t kept = size < room_ - size_ ? size : room_ - size_;
        if (kept == 0) return *this;
        std::memcpy(to_ + size_, added, kept);
        size_ += kept;
        to_[size_] = '\0';
        return *this;
    }
    text_writer& natural(std::uint64_t value, int digits = 1) noexcept {
        char reversed[24];
        char* const end = reversed + sizeof reversed;
        const char* first = detail::format_integer(value, end);
        for (auto missing = digits - (end - first); missing > 0; --missing) text("0");
        return text(first, static_cast<std::size_t>(end - first));
    }
    /// Seconds with three decimals.
    text_writer& seconds(std::int64_t ns) noexcept {
        const auto ms = static_cast<std::uint64_t>(ns < 0 ? 0 : ns) / 1'000'000;
        return natural(ms / 1000).text(".").natural(ms % 1000, 3).text(" s");
    }

    std::size_t size() const noexcept { return size_; }

private:
    char* to_;
    std::size_t room_;
    std::size_t size_ = 0;
};

}  // namespace coroscope::runtime::inline base
