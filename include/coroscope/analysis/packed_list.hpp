// SPDX-License-Identifier: Apache-2.0
#pragma once

// A list of structs in a fraction of their size. Rows are packed in blocks. In a block, each member
// takes as many bits as the differences of its values need. A member with one value in the whole
// block takes no bits.
//
// A const list returns rows by value. A row costs a few nanoseconds for each member that the caller
// uses. A non-const list returns references. The first access to a packed row then unpacks the
// whole list, which takes as much memory as a std::vector from then on.
//
// Thread-safety: several threads may read a const list at once.

#include <algorithm>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <coroscope/analysis/packed_rows.hpp>

namespace coroscope::analysis {

/// `Row` must be an aggregate whose members packed_columns lists.
template <class Row>
class packed_list {
public:
    using value_type = Row;
    class const_iterator;
    using iterator = const_iterator;

    packed_list() = default;
    packed_list(std::initializer_list<Row> rows) : plain_(rows) {}
    explicit packed_list(std::vector<Row> rows) : plain_(std::move(rows)) {}

    [[nodiscard]] std::size_t size() const noexcept { return packed_rows() + plain_.size(); }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }

    /// `position` must be less than size(). front() and back() require a list that is not empty.
    [[gnu::always_inline]] [[nodiscard]] inline const Row operator[](std::size_t position) const {
        const std::size_t packed = packed_rows();
        if (position >= packed) return plain_[position - packed];
        return blocks_[position / block::rows][position % block::rows];
    }
    [[nodiscard]] const Row front() const { return (*this)[0]; }
    [[nodiscard]] const Row back() const { return (*this)[size() - 1]; }
    [[nodiscard]] const_iterator begin() const { return {this, 0}; }
    [[nodiscard]] const_iterator end() const { return {this, size()}; }

    /// These unpack the list if the row is packed.
    [[nodiscard]] Row& operator[](std::size_t position) {
        if (position < packed_rows()) unpack();
        return plain_[position - packed_rows()];
    }
    [[nodiscard]] Row& front() { return (*this)[0]; }
    [[nodiscard]] Row& back() { return (*this)[size() - 1]; }

    /// These add a row without packing. A later pack() or append() may pack it.
    template <class... Arguments>
    Row& emplace_back(Arguments&&... arguments) {
        return plain_.emplace_back(std::forward<Arguments>(arguments)...);
    }
    void push_back(const Row& row) { plain_.push_back(row); }

    /// Adds a row. If the unpacked rows before it fill a block, it packs them. Invalidates
    /// references to rows.
    void append(const Row& row) {
        if (plain_.size() >= block::rows) pack();
        plain_.push_back(row);
    }

    /// Packs all rows but the last ones that do not fill a block. Invalidates references to rows.
    void pack() {
        std::size_t done = 0;
        for (; plain_.size() - done >= block::rows; done += block::rows)
            blocks_.emplace_back(plain_.data() + done);
        if (done == 0) return;
        std::vector<Row> rest;
        rest.reserve(block::rows);
        rest.insert(rest.end(), plain_.begin() + static_cast<std::ptrdiff_t>(done), plain_.end());
        plain_.swap(rest);
    }

    /// Unpacks all rows. Invalidates references to rows.
    void unpack() {
        std::vector<Row> rows;
        rows.reserve(size());
        for (const block& each : blocks_)
            for (std::size_t at = 0; at < block::rows; ++at) rows.push_back(each[at]);
        rows.insert(rows.end(), plain_.begin(), plain_.end());
        plain_.swap(rows);
        blocks_.clear();
    }

    /// Replaces one row. If its values do not fit the bits of its block, it packs the whole block
    /// again. `position` must be less than size().
    void set(std::size_t position, const Row& row) {
        const std::size_t packed = packed_rows();
        if (position >= packed)
            plain_[position - packed] = row;
        else
            blocks_[position / block::rows].set(position % block::rows, row);
    }

    /// Calls `change(row, position)` for each row in order. `change` must return true if it changed
    /// the row. The list stays packed.
    template <class Change>
    void update(Change change) {
        std::vector<Row> rows(blocks_.empty() ? 0 : block::rows);
        std::size_t position = 0;
        for (block& each : blocks_) {
            bool changed = false;
            for (Row& row : rows) row = each[static_cast<std::size_t>(&row - rows.data())];
            for (Row& row : rows) changed |= change(row, position++);
            if (changed) each = block(rows.data());
        }
        for (Row& row : plain_) change(row, position++);
    }

    /// Removes each row for which `is_removed(row)` returns true.
    template <class Predicate>
    void remove_if(Predicate is_removed) {
        packed_list kept;
        for (const Row& row : *this)
            if (!is_removed(row)) kept.append(row);
        *this = std::move(kept);
    }

    void clear() noexcept {
        blocks_.clear();
        plain_.clear();
    }
    void reserve(std::size_t rows) { plain_.reserve(rows); }
    /// Added rows are value-initialised.
    void resize(std::size_t rows) {
        if (rows < packed_rows()) truncate(rows);
        plain_.resize(rows - packed_rows());
    }

private:
    using block = packed_block<Row>;

    [[nodiscard]] std::size_t packed_rows() const noexcept { return blocks_.size() * block::rows; }

    // Removes the rows from `rows` on. Precondition: rows < packed_rows().
    void truncate(std::size_t rows) {
        const std::size_t whole = rows / block::rows;
        std::vector<Row> rest;
        for (std::size_t at = whole * block::rows; at < rows; ++at)
            rest.push_back(std::as_const(*this)[at]);
        blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(whole), blocks_.end());
        plain_.swap(rest);
    }

    std::vector<block> blocks_;
    std::vector<Row> plain_;  // the rows after those of the blocks, unpacked
};

/// Reads rows by value. It has the operations of a random-access iterator.
template <class Row>
class packed_list<Row>::const_iterator {
public:
    using value_type = Row;
    using difference_type = std::ptrdiff_t;
    using reference = const Row;
    using iterator_category = std::random_access_iterator_tag;
    struct pointer {
        Row row;
        const Row* operator->() const { return &row; }
    };

    const_iterator() = default;
    const_iterator(const packed_list* list, std::size_t position)
        : list_(list), position_(position) {}

    [[gnu::always_inline]] const Row operator*() const { return (*list_)[position_]; }
    pointer operator->() const { return {(*list_)[position_]}; }
    const Row operator[](difference_type distance) const { return *(*this + distance); }
    const_iterator& operator++() { return *this += 1; }
    const_iterator& operator--() { return *this += -1; }
    const_iterator operator++(int) { return std::exchange(*this, *this + 1); }
    const_iterator operator--(int) { return std::exchange(*this, *this + -1); }
    const_iterator& operator+=(difference_type distance) {
        position_ += static_cast<std::size_t>(distance);
        return *this;
    }
    const_iterator& operator-=(difference_type distance) { return *this += -distance; }
    friend const_iterator operator+(const_iterator from, difference_type distance) {
        return from += distance;
    }
    friend const_iterator operator+(difference_type distance, const_iterator from) {
        return from += distance;
    }
    friend const_iterator operator-(const_iterator from, difference_type distance) {
        return from += -distance;
    }
    friend difference_type operator-(const_iterator left, const_iterator right) {
        return static_cast<difference_type>(left.position_ - right.position_);
    }
    bool operator==(const const_iterator& other) const { return position_ == other.position_; }
    auto operator<=>(const const_iterator& other) const { return position_ <=> other.position_; }

private:
    const packed_list* list_ = nullptr;
    std::size_t position_ = 0;
};

}  // namespace coroscope::analysis
