// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes CSV by RFC 4180, with line feeds alone at line ends. Unknown is an empty cell.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace coroscope::analysis::render {

class csv_writer {
public:
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
    bool row_is_empty_ = true;
};

}  // namespace coroscope::analysis::render
