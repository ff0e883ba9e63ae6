// SPDX-License-Identifier: Apache-2.0
#pragma once

// Types for references between the parts of the model: an index (`none` refers to no part) or a
// range of indices. Also a type for times that may be unknown.

#include <cstddef>
#include <cstdint>
#include <optional>

namespace coroscope::analysis {

/// An index that refers to nothing.
inline constexpr std::uint32_t none = 0xffff'ffff;

using optional_ns = std::optional<std::int64_t>;

/// Consecutive indices into a vector of the model. Reads like a container of std::uint32_t.
class index_range {
public:
    class iterator {
    public:
        using value_type = std::uint32_t;
        using difference_type = std::ptrdiff_t;
        iterator() = default;
        explicit iterator(std::uint32_t index) : index_(index) {}
        std::uint32_t operator*() const { return index_; }
        iterator& operator++() {
            ++index_;
            return *this;
        }
        iterator operator++(int) { return iterator(index_++); }
        bool operator==(const iterator&) const = default;

    private:
        std::uint32_t index_ = 0;
    };

    index_range() = default;
    index_range(std::uint32_t first, std::uint32_t count) : first_(first), count_(count) {}

    [[nodiscard]] iterator begin() const { return iterator(first_); }
    [[nodiscard]] iterator end() const { return iterator(first_ + count_); }
    [[nodiscard]] std::size_t size() const { return count_; }
    [[nodiscard]] bool empty() const { return count_ == 0; }
    /// `position` must be less than size(). For front and back, the range must not be empty.
    [[nodiscard]] std::uint32_t operator[](std::size_t position) const {
        return first_ + static_cast<std::uint32_t>(position);
    }
    [[nodiscard]] std::uint32_t front() const { return first_; }
    [[nodiscard]] std::uint32_t back() const { return first_ + count_ - 1; }

private:
    friend struct packed_range;

    std::uint32_t first_ = 0;
    std::uint32_t count_ = 0;
};

/// The members of an index_range as columns of packed rows.
struct packed_range {
    static constexpr auto first = &index_range::first_;
    static constexpr auto count = &index_range::count_;
};

}  // namespace coroscope::analysis
