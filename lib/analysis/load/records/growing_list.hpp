// SPDX-License-Identifier: Apache-2.0
#pragma once

// A list that is built row by row. Its latest rows are plain structs, so that changing them is
// cheap; older rows are packed.

#include <cstddef>
#include <utility>
#include <vector>

#include <coroscope/analysis/packed_rows.hpp>

namespace coroscope::analysis::inline records {

template <class Row>
class growing_list {
public:
    [[nodiscard]] std::size_t size() const noexcept { return packed_rows() + latest_.size(); }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }

    [[gnu::always_inline]] [[nodiscard]] inline Row operator[](std::size_t position) const {
        const std::size_t packed = packed_rows();
        if (position >= packed) return latest_[position - packed];
        return blocks_[position / block::rows][position % block::rows];
    }
    /// The list must not be empty. The reference is valid until the next call that adds or removes
    /// rows.
    [[nodiscard]] Row& back() {
        if (latest_.empty()) unpack_last_block();
        return latest_.back();
    }

    void push_back(const Row& row) {
        if (latest_.size() >= 2 * block::rows) {
            blocks_.emplace_back(latest_.data());
            latest_.erase(latest_.begin(),
                          latest_.begin() + static_cast<std::ptrdiff_t>(block::rows));
        }
        latest_.push_back(row);
    }

    /// Removes rows from the end until `rows` are left.
    void shrink(std::size_t rows) {
        while (rows < packed_rows()) unpack_last_block();
        latest_.resize(rows - packed_rows());
    }

    /// Calls `change(row)` for one row, which may change it.
    template <class Change>
    void change(std::size_t position, Change change) {
        const std::size_t packed = packed_rows();
        if (position >= packed) return change(latest_[position - packed]);
        block& in = blocks_[position / block::rows];
        Row row = in[position % block::rows];
        change(row);
        in.set(position % block::rows, row);
    }

    /// Calls `change(row, position)` for the rows from `first` to before `end`, in order. It
    /// returns whether it changed the row, and must not change the list.
    template <class Change>
    void update(std::size_t first, std::size_t end, Change change) {
        std::vector<Row> rows(block::rows);
        const std::size_t packed = packed_rows();
        for (std::size_t position = first; position < end && position < packed;) {
            block& in = blocks_[position / block::rows];
            const std::size_t begin = position - position % block::rows;
            const std::size_t stop = end < begin + block::rows ? end : begin + block::rows;
            for (std::size_t at = 0; at < block::rows; ++at) rows[at] = in[at];
            bool changed = false;
            for (; position < stop; ++position) changed |= change(rows[position - begin], position);
            if (changed) in = block(rows.data());
        }
        for (std::size_t position = first < packed ? packed : first; position < end; ++position)
            change(latest_[position - packed], position);
    }

    /// Calls `visit(row, position)` for each row, in order.
    template <class Visit>
    void for_each(Visit visit) const {
        std::size_t position = 0;
        for (const block& each : blocks_)
            for (std::size_t at = 0; at < block::rows; ++at) visit(each[at], position++);
        for (const Row& row : latest_) visit(row, position++);
    }

    /// Gives the memory back.
    void clear() { *this = growing_list(); }

private:
    using block = packed_block<Row>;

    [[nodiscard]] std::size_t packed_rows() const noexcept { return blocks_.size() * block::rows; }

    void unpack_last_block() {
        std::vector<Row> rows;
        rows.reserve(2 * block::rows);
        for (std::size_t at = 0; at < block::rows; ++at) rows.push_back(blocks_.back()[at]);
        rows.insert(rows.end(), latest_.begin(), latest_.end());
        latest_.swap(rows);
        blocks_.pop_back();
    }

    std::vector<block> blocks_;
    std::vector<Row> latest_;
};

}  // namespace coroscope::analysis::inline records
