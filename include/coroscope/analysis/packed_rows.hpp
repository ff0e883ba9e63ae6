// SPDX-License-Identifier: Apache-2.0
#pragma once

// The blocks of a packed_list. A block stores each member of a row as the difference from the
// member's smallest value in the block. It uses as many bits as the largest difference needs.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <coroscope/analysis/index_range.hpp>

namespace coroscope::analysis {

/// Must be specialised for each row type of a packed_list: `using type = std::tuple<…>`, with one
/// column for each member of the struct.
template <class Row>
struct packed_columns;

/// A member as a column. The member must be an integer, an enumeration, a bool or an optional_ns.
template <auto Member>
struct packed_member {
    template <class Row>
    [[gnu::always_inline]] static auto& of(Row& row) {
        return row.*Member;
    }
};

/// A member of a member as a column.
template <auto Outer, auto Inner>
struct packed_inner {
    template <class Row>
    [[gnu::always_inline]] static auto& of(Row& row) {
        return row.*Outer.*Inner;
    }
};

/// Converts a value of a member to a number and back. The numbers have the order of the values. An
/// unknown value has no number.
template <class Value>
struct packed_value {
    static constexpr bool can_be_unknown = std::is_same_v<Value, std::uint32_t>;
    static constexpr bool is_unknown(Value value) {
        return can_be_unknown && static_cast<std::uint64_t>(value) == none;
    }
    static constexpr std::uint64_t number(Value value) { return static_cast<std::uint64_t>(value); }
    static constexpr Value known(std::uint64_t number) { return static_cast<Value>(number); }
    static constexpr Value unknown() { return static_cast<Value>(none); }
};

template <>
struct packed_value<std::int64_t> {
    static constexpr bool can_be_unknown = true;
    static constexpr bool is_unknown(std::int64_t value) { return value == unknown(); }
    static constexpr std::uint64_t number(std::int64_t value) {
        return static_cast<std::uint64_t>(value) ^ sign;
    }
    static constexpr std::int64_t known(std::uint64_t number) {
        return static_cast<std::int64_t>(number ^ sign);
    }
    static constexpr std::int64_t unknown() { return std::numeric_limits<std::int64_t>::min(); }

private:
    static constexpr std::uint64_t sign = std::uint64_t{1} << 63;
};

template <>
struct packed_value<optional_ns> {
    using time = packed_value<std::int64_t>;
    static constexpr bool can_be_unknown = true;
    static constexpr bool is_unknown(const optional_ns& value) { return !value; }
    static constexpr std::uint64_t number(const optional_ns& value) { return time::number(*value); }
    static constexpr optional_ns known(std::uint64_t number) { return time::known(number); }
    static constexpr optional_ns unknown() { return std::nullopt; }
};

/// A fixed number of packed rows. If a column has both the smallest and the largest number of 64
/// bits, it must have no unknown value.
template <class Row>
class packed_block {
    using columns = typename packed_columns<Row>::type;
    static constexpr std::size_t column_count = std::tuple_size_v<columns>;

public:
    static constexpr std::size_t rows = 512;

    /// Packs rows [0, rows) at `from`.
    explicit packed_block(const Row* from) {
        std::array<column, column_count> layout;
        std::size_t row_bits = 0;
        each_column([&]<class Column>(Column, std::size_t at) {
            layout[at] = measure<Column>(from);
            layout[at].place |= static_cast<std::uint64_t>(row_bits) << place_shift;
            row_bits += static_cast<std::size_t>(std::popcount(layout[at].mask));
        });
        words_.resize(head_words + (row_bits * rows + word_bits - 1) / word_bits + padding_words);
        std::memcpy(words_.data(), layout.data(), sizeof(layout));
        row_bits_ = row_bits;
        fill(from, layout);
    }

    /// `row` must be less than `rows`.
    [[gnu::always_inline]] [[nodiscard]] inline Row operator[](std::size_t row) const {
        Row read;
        each_column([&]<class Column>(Column, std::size_t at)
                        __attribute__((always_inline)) { load<Column>(read, row, at); });
        return read;
    }

    void set(std::size_t row, const Row& to) {
        bool fits = true;
        each_column([&]<class Column>(Column, std::size_t at) {
            fits &= column_at(at).holds(value_of<Column>(to));
        });
        if (fits) return write(row, to);
        std::vector<Row> all(rows);
        for (std::size_t at = 0; at < rows; ++at) all[at] = (*this)[at];
        all[row] = to;
        *this = packed_block(all.data());
    }

private:
    __extension__ using wide = unsigned __int128;

    struct column {
        std::uint64_t base = 0;   // the smallest number
        std::uint64_t mask = 0;   // the bits of a difference
        std::uint64_t place = 0;  // bit 0: all ones mean unknown; above: the first bit in a row

        [[nodiscard]] bool has_unknown() const { return (place & 1) != 0; }
        template <class Value>
        [[nodiscard]] bool holds(const Value& value) const {
            if (packed_value<Value>::is_unknown(value)) return has_unknown();
            const std::uint64_t number = packed_value<Value>::number(value);
            const std::uint64_t difference = number - base;
            return number >= base && difference <= mask && !(has_unknown() && difference == mask);
        }
    };
    static constexpr unsigned place_shift = 1;
    static constexpr unsigned word_bits = 64;
    static constexpr std::size_t head_words = sizeof(column) / sizeof(std::uint64_t) * column_count;
    static constexpr std::size_t padding_words = 2;  // keep accesses of 16 bytes inside words_

    template <class Visit>
    [[gnu::always_inline]] static inline void each_column(Visit&& visit) {
        [&]<std::size_t... At>(std::index_sequence<At...>) __attribute__((always_inline)) {
            (visit(std::tuple_element_t<At, columns>{}, At), ...);
        }(std::make_index_sequence<column_count>{});
    }

    template <class Column>
    [[gnu::always_inline]] static inline const auto& value_of(const Row& row) {
        return Column::of(row);
    }

    template <class Column>
    static column measure(const Row* from) {
        using codec = packed_value<std::remove_cvref_t<decltype(Column::of(*from))>>;
        std::uint64_t least = ~std::uint64_t{0}, most = 0;
        bool any_known = false, any_unknown = false;
        for (const Row* row = from; row != from + rows; ++row) {
            const auto& value = value_of<Column>(*row);
            if (codec::is_unknown(value)) {
                any_unknown = true;
                continue;
            }
            const std::uint64_t number = codec::number(value);
            least = number < least ? number : least;
            most = number > most ? number : most;
            any_known = true;
        }
        column found;
        found.place = any_unknown ? 1 : 0;
        if (!any_known) return found;
        found.base = least;
        const std::uint64_t codes = most - least + (any_unknown ? 1 : 0);
        found.mask = codes == 0 ? 0 : ~std::uint64_t{0} >> std::countl_zero(codes);
        return found;
    }

    [[nodiscard]] column column_at(std::size_t at) const {
        column found;
        std::memcpy(static_cast<void*>(&found),
                    words_.data() + at * (sizeof(column) / sizeof(std::uint64_t)), sizeof(found));
        return found;
    }

    template <class Column>
    [[gnu::always_inline]] inline void load(Row& into, std::size_t row, std::size_t at) const {
        using codec = packed_value<std::remove_cvref_t<decltype(Column::of(into))>>;
        const std::uint64_t* const head =
            words_.data() + at * (sizeof(column) / sizeof(std::uint64_t));
        const std::size_t bit = row * row_bits_ + (head[2] >> place_shift);
        wide bits;
        std::memcpy(&bits, bytes() + bit / 8, sizeof(bits));
        const std::uint64_t difference = static_cast<std::uint64_t>(bits >> (bit % 8)) & head[1];
        if constexpr (codec::can_be_unknown) {
            Column::of(into) = (head[2] & 1) != 0 && difference == head[1]
                                   ? codec::unknown()
                                   : codec::known(head[0] + difference);
        } else {
            Column::of(into) = codec::known(head[0] + difference);
        }
    }

    // Writes all rows, one after the other.
    void fill(const Row* from, const std::array<column, column_count>& layout) {
        std::uint64_t* next = words_.data() + head_words;
        std::uint64_t pending = 0;
        unsigned filled = 0;  // the number of used bits in `pending`
        for (const Row* row = from; row != from + rows; ++row)
            each_column([&]<class Column>(Column, std::size_t at) {
                const column& here = layout[at];
                if (here.mask == 0) return;
                const std::uint64_t difference = difference_of(here, value_of<Column>(*row));
                pending |= difference << filled;
                filled += static_cast<unsigned>(std::popcount(here.mask));
                if (filled < word_bits) return;
                *next++ = pending;
                filled -= word_bits;
                const unsigned written = static_cast<unsigned>(std::popcount(here.mask)) - filled;
                pending = written == word_bits ? 0 : difference >> written;
            });
        *next = pending;
    }

    template <class Value>
    [[gnu::always_inline]] static inline std::uint64_t difference_of(const column& in,
                                                                     const Value& value) {
        using codec = packed_value<Value>;
        return codec::is_unknown(value) ? in.mask : codec::number(value) - in.base;
    }

    // Replaces one row. Its values must fit the columns.
    void write(std::size_t row, const Row& from) {
        each_column([&]<class Column>(Column, std::size_t at) {
            const column here = column_at(at);
            if (here.mask == 0) return;
            const std::uint64_t difference = difference_of(here, value_of<Column>(from));
            const std::size_t bit = row * row_bits_ + (here.place >> place_shift);
            unsigned char* const at_bytes =
                reinterpret_cast<unsigned char*>(words_.data() + head_words) + bit / 8;
            wide bits;
            std::memcpy(&bits, at_bytes, sizeof(bits));
            bits &= ~(static_cast<wide>(here.mask) << (bit % 8));
            bits |= static_cast<wide>(difference) << (bit % 8);
            std::memcpy(at_bytes, &bits, sizeof(bits));
        });
    }

    [[nodiscard]] const unsigned char* bytes() const {
        return reinterpret_cast<const unsigned char*>(words_.data() + head_words);
    }

    std::vector<std::uint64_t> words_;  // the columns, then the rows' bits, row by row
    std::size_t row_bits_ = 0;
};

}  // namespace coroscope::analysis
