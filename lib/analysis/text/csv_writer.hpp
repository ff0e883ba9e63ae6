// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes CSV by RFC 4180, with line feeds alone at line ends. Unknown is an empty cell. Texts
// become valid UTF-8; control characters other than line feeds are written as escapes.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace coroscope::analysis::inline text {

class csv_writer {
public:
    /// `guard_formulas`: a text that a spreadsheet would take for a formula gets an apostrophe in
    /// front.
    explicit csv_writer(bool guard_formulas = false) : guard_formulas_(guard_formulas) {}

    csv_writer& cell(std::string_view text);

    template <class Integer>
        requires std::is_integral_v<Integer>
    csv_writer& cell(Integer value) {
        return raw(std::to_string(value));
    }
    template <class Value>
    csv_writer& cell(const std::optional<Value>& value) {
        return value ? cell(*value) : raw({});
    }

    csv_writer& end_row();

    [[nodiscard]] std::string take() && { return std::move(out_); }

private:
    csv_writer& raw(std::string_view text);

    std::string out_;
    bool guard_formulas_;
    bool row_is_empty_ = true;
};

}  // namespace coroscope::analysis::inline text
