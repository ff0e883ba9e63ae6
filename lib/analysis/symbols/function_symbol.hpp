// SPDX-License-Identifier: Apache-2.0
#pragma once

// Parts of a demangled function name.

#include <cstddef>
#include <string_view>

namespace coroscope::analysis::inline symbols {

/// Returns the position behind the bracket that closes the one at `open`; the end if there is none.
constexpr std::size_t behind_bracket(std::string_view text, std::size_t open) {
    std::size_t depth = 0;
    for (std::size_t at = open; at < text.size(); ++at) {
        const char each = text[at];
        if (each == '(' || each == '<' || each == '{') ++depth;
        if ((each == ')' || each == '>' || each == '}') && --depth == 0) return at + 1;
    }
    return text.size();
}

/// Returns the qualified name of a function, without its result and its parameters: "app::f<int>"
/// for "int app::f<int>(char)".
constexpr std::string_view qualified_name(std::string_view function) {
    std::size_t begin = 0;
    std::size_t at = 0;
    while (at < function.size()) {
        const char each = function[at];
        if (each == ' ') begin = at + 1;
        if (each != '(' && each != '<' && each != '{') {
            ++at;
            continue;
        }
        const std::size_t behind = behind_bracket(function, at);
        // "(anonymous namespace)::", "f(int)::" before a local name, and the name "operator()"
        const bool in_name = each != '(' || function.substr(behind).starts_with("::") ||
                             function.substr(0, at).ends_with("operator");
        if (!in_name) break;
        at = behind;
    }
    return function.substr(begin, at - begin);
}

/// Returns the last part of a qualified name, without template arguments.
constexpr std::string_view last_name(std::string_view qualified) {
    std::size_t begin = 0;
    std::size_t at = 0;
    std::size_t end = 0;
    while (at < qualified.size()) {
        const char each = qualified[at];
        if (each == '(' || each == '<' || each == '{') {
            if (each == '<' && at != begin) end = at;
            at = behind_bracket(qualified, at);
            if (each != '<') end = at;
            continue;
        }
        if (each == ':') begin = at + 1;
        end = ++at;
    }
    return qualified.substr(begin, end - begin);
}

/// Returns whether the name is that of a lambda's call.
constexpr bool is_lambda(std::string_view name) {
    return name == "operator()" || name.find("{lambda") != std::string_view::npos ||
           name.find("::$_") != std::string_view::npos;
}

/// Returns whether a function's symbol or qualified name may be that of a coroutine with this
/// label.
constexpr bool is_same_function(std::string_view symbol, std::string_view label) {
    if (is_lambda(label) || is_lambda(symbol)) return is_lambda(label) && is_lambda(symbol);
    return last_name(qualified_name(symbol)) == last_name(label);
}

}  // namespace coroscope::analysis::inline symbols
