// SPDX-License-Identifier: Apache-2.0
#pragma once

// Columns of text in torch's layout: a rule of dashes per column, two spaces between columns. A
// cell that is longer than its column pushes the rest of its line, it is never cut here.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace coroscope::analysis::render {

inline constexpr std::size_t default_column_width = 12;
inline constexpr std::size_t column_gap = 2;

enum class alignment : unsigned char { right, left };

struct text_column {
    std::string heading;
    std::size_t width = default_column_width;
    alignment align = alignment::right;
};

class text_table {
public:
    explicit text_table(std::vector<text_column> columns);

    /// A line across the whole table, of dashes per column or of one character.
    void rule();
    void rule(char of);
    void headings();
    void row(const std::vector<std::string>& cells);
    /// A line of its own.
    void line(std::string_view text);

    [[nodiscard]] std::string take() &&;

private:
    [[nodiscard]] std::size_t line_length() const;

    std::vector<text_column> columns_;
    std::string out_;
};

/// The width of a column that holds `cells` (or their heading): the widest plus `padding`, at most
/// `limit`.
[[nodiscard]] std::size_t column_width(const std::vector<std::string>& cells,
                                       std::string_view heading, std::size_t padding,
                                       std::size_t limit);

/// torch's cut of a name: from limit - 3 characters on, the first of them and "...".
[[nodiscard]] std::string cut_name(std::string_view name, std::size_t limit);

/// Keeps the tail: the file's name and the line say more than the folders.
[[nodiscard]] std::string cut_source(std::string_view source, std::size_t limit);

}  // namespace coroscope::analysis::render
