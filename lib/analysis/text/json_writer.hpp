// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes JSON text, with commas, indentation and escapes; a view only gives names and values. Two
// spaces per level; a row that is opened as `compact` stays on one line.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace coroscope::analysis::inline text {

class json_writer {
public:
    enum class layout : std::uint8_t { spread, compact };

    json_writer& begin_object(layout shape = layout::spread) { return open('{', '}', shape); }
    json_writer& begin_array(layout shape = layout::spread) { return open('[', ']', shape); }
    json_writer& end();

    json_writer& key(std::string_view name);
    json_writer& string(std::string_view text);
    json_writer& boolean(bool value) { return literal(value ? "true" : "false"); }
    json_writer& number(double value);
    json_writer& null() { return literal("null"); }

    template <class Integer>
        requires(std::is_integral_v<Integer> && !std::is_same_v<Integer, bool>)
    json_writer& integer(Integer value) {
        return literal(std::to_string(value));
    }

    /// Writes a name and a value. An unknown value is written as null.
    json_writer& member(std::string_view name, std::string_view text) {
        return key(name).string(text);
    }
    json_writer& member(std::string_view name, const char* text) { return key(name).string(text); }
    json_writer& member(std::string_view name, bool value) { return key(name).boolean(value); }
    json_writer& member(std::string_view name, double value) { return key(name).number(value); }
    template <class Integer>
        requires(std::is_integral_v<Integer> && !std::is_same_v<Integer, bool>)
    json_writer& member(std::string_view name, Integer value) {
        return key(name).integer(value);
    }
    template <class Value>
    json_writer& member(std::string_view name, const std::optional<Value>& value) {
        return value ? member(name, *value) : key(name).null();
    }

    /// Returns the text since the last call, to write a long document in parts.
    [[nodiscard]] std::string take_part() { return std::exchange(out_, {}); }
    [[nodiscard]] std::size_t pending() const noexcept { return out_.size(); }

    /// Returns the rest of the text, ended by a newline. All objects and arrays must have been
    /// ended.
    [[nodiscard]] std::string take() &&;

private:
    struct level {
        char closing;
        bool compact;
        bool empty = true;
    };

    json_writer& open(char opening, char closing, layout shape);
    json_writer& literal(std::string_view text);
    void separate();
    void new_line();

    std::string out_;
    std::vector<level> levels_;
    bool after_key_ = false;
};

}  // namespace coroscope::analysis::inline text
