// SPDX-License-Identifier: Apache-2.0
#pragma once

// Columns of text in torch's layout: a rule of dashes per column, two spaces between columns. A
// cell that is longer than its column is not cut: it moves the rest of its line to the right.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace coroscope::analysis::inline text {

inline constexpr std::size_t default_column_width = 12;
inline constexpr std::size_t column_gap = 2;

enum class alignment : unsigned char { right, left };

struct text_column {
    std::string heading;
    std::size_t width = default_column_width;
    alignment align = alignment::right;
};

class text_grid {
public:
    explicit text_grid(std::vector<text_column> columns);

    /// Writes a line across the whole table: dashes for each column, or one repeated character.
    void rule();
    void rule(char of);
    void headings();
    void row(const std::vector<std::string>& cells);
    /// Writes a line that is not divided into columns.
    void line(std::string_view text);

    [[nodiscard]] std::string take() &&;

private:
    [[nodiscard]] std::size_t line_length() const;

    std::vector<text_column> columns_;
    std::string out_;
};

/// Returns the width of a column: that of the widest of its cells and its heading plus `padding`,
/// at most `limit`.
[[nodiscard]] std::size_t column_width(const std::vector<std::string>& cells,
                                       std::string_view heading, std::size_t padding,
                                       std::size_t limit);

/// Cuts a name as torch does: a name of limit - 3 characters or more becomes its first ones and
/// "...".
[[nodiscard]] std::string cut_name(std::string_view name, std::size_t limit);

/// Changes cells that were cut to the same text although their names differ: shows the part in
/// which the names differ.
void tell_apart(std::vector<std::string>& cut, const std::vector<std::string>& names,
                std::size_t limit);

/// Cuts a source place at its beginning, so that the file's name and the line remain.
[[nodiscard]] std::string cut_source(std::string_view source, std::size_t limit);

}  // namespace coroscope::analysis::inline text
