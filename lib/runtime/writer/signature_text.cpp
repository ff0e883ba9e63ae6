// SPDX-License-Identifier: Apache-2.0
#include "signature_text.hpp"

#include <algorithm>
#include <iterator>

namespace coroscope::runtime::inline writer {
namespace {

constexpr std::string_view anonymous_namespaces[] = {"(anonymous namespace)", "{anonymous}",
                                                     "<unnamed>"};
constexpr std::string_view lambda_of_gcc = "<lambda(";
constexpr std::string_view class_of_clang = "(anonymous ";
constexpr std::string_view class_of_gcc = "<unnamed ";

bool stands_at(std::string_view text, std::size_t at, std::string_view what) noexcept {
    return at <= text.size() && text.substr(at).starts_with(what);
}
char char_at(std::string_view text, std::size_t at) noexcept {
    return at < text.size() ? text[at] : '\0';
}

std::size_t skip_word(std::string_view text, std::size_t at) noexcept {
    while (at < text.size() && is_word_character(text[at])) ++at;
    return at;
}

bool is_quote(char c) noexcept { return c == '\'' || c == '"'; }

// Skips a literal, because brackets inside a literal do not count.
std::size_t skip_quoted(std::string_view text, std::size_t at) noexcept {
    const char quote = text[at];
    for (++at; at < text.size() && text[at] != quote; ++at)
        if (text[at] == '\\') ++at;
    return std::min(at + 1, text.size());
}

std::string_view anonymous_namespace_at(std::string_view text, std::size_t at) noexcept {
    for (const std::string_view each : anonymous_namespaces)
        if (stands_at(text, at, each)) return each;
    return {};
}

bool is_operator_at(std::string_view text, std::size_t at) noexcept {
    constexpr std::string_view word = "operator";
    return stands_at(text, at, word) && (at == 0 || !is_word_character(text[at - 1])) &&
           !is_word_character(char_at(text, at + word.size()));
}

bool is_operator_sign(char c) noexcept {
    return std::string_view("+-*/%^&|~!=<>,").find(c) != std::string_view::npos;
}

// Returns the position after the operator's name: "operator()", "operator<=>", "operator new",
// "operator std::vector<int>".
std::size_t skip_operator(std::string_view text, std::size_t at) noexcept {
    at += std::string_view("operator").size();
    if (stands_at(text, at, "()") || stands_at(text, at, "[]")) return at + 2;
    if (is_operator_sign(char_at(text, at))) {
        while (is_operator_sign(char_at(text, at))) ++at;
        return at;
    }
    while (at < text.size() && text[at] != '(')
        at = text[at] == '<' ? skip_brackets(text, at) : at + 1;
    return at;
}

std::size_t skip_qualifiers(std::string_view text, std::size_t at) noexcept {
    for (const std::string_view each : {" const", " volatile", " mutable", " &&", " &"})
        if (stands_at(text, at, each)) at += each.size();
    return at;
}

// Returns whether the bracket at `at` belongs to a decltype: "decltype(auto) f()", "decltype
// (expression) f()".
bool follows_decltype(std::string_view text, std::size_t at) noexcept {
    while (at != 0 && text[at - 1] == ' ') --at;
    return text.substr(0, at).ends_with("decltype");
}

// Finds the begin of the qualified name, which follows the specifiers and the result type.
class name_search {
public:
    explicit name_search(std::string_view signature) noexcept : text_(signature) {}

    std::size_t find() noexcept {
        while (at_ < text_.size() && !is_found()) step();
        return begin_;
    }

private:
    [[nodiscard]] bool is_found() const noexcept {
        if (is_operator_at(text_, at_) || stands_at(text_, at_, lambda_of_gcc)) return true;
        if (stands_at(text_, at_, " [")) return true;
        return text_[at_] == '(' && !stands_at(text_, at_, class_of_clang) &&
               !follows_decltype(text_, at_) && !is_declarator();
    }
    // Returns whether the bracket belongs to a result type that is a pointer to a function: "void
    // (* f(int))(int)".
    [[nodiscard]] bool is_declarator() const noexcept {
        const char next = char_at(text_, at_ + 1);
        return next == '*' || next == '&';
    }
    void step() noexcept {
        switch (text_[at_]) {
            case '\'': at_ = skip_quoted(text_, at_); break;
            case '(':
                if (is_declarator()) {
                    begin_ = ++at_;
                    break;
                }
                [[fallthrough]];
            case '<':
            case '{':
            case '[': at_ = skip_brackets(text_, at_); break;
            case ' ': begin_ = ++at_; break;
            case '*':
            case '&':
                if (begin_ == at_) ++begin_;
                ++at_;
                break;
            default: ++at_;
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t begin_ = 0;
};

// Returns the position of the separator after an entry or an argument.
std::size_t skip_entry(std::string_view text, std::size_t at, char separator) noexcept {
    while (at < text.size() && text[at] != separator) {
        if (is_quote(text[at]))
            at = skip_quoted(text, at);
        else if (std::string_view("<([{").find(text[at]) != std::string_view::npos)
            at = skip_brackets(text, at);
        else
            ++at;
    }
    return at;
}

std::string_view trimmed(std::string_view text) noexcept {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
}

// Also accepts "auto:1", g++'s name for a parameter of an abbreviated template.
bool is_identifier(std::string_view text) noexcept {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return is_word_character(c) || c == ':'; });
}

// Returns "N" for "int N" and "I" for "int ...I". Returns an empty text if the entry is not a named
// parameter: g++'s list also has entries for types of the signature.
std::string_view parameter_name(std::string_view key) noexcept {
    key = trimmed(key);
    const std::size_t space = key.rfind(' ');
    std::string_view name = space == std::string_view::npos ? key : key.substr(space + 1);
    if (name.starts_with("...")) name.remove_prefix(3);
    const bool is_typedef = name.find("::") != std::string_view::npos ||
                            (space == std::string_view::npos && name.ends_with("_t"));
    return is_typedef || !is_identifier(name) ? std::string_view() : name;
}

}  // namespace

void bounded_text::put(std::uint32_t number) noexcept {
    char digits[10];
    char* first = std::end(digits);
    do *--first = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    put(std::string_view(first, static_cast<std::size_t>(std::end(digits) - first)));
}

std::size_t skip_brackets(std::string_view text, std::size_t at) noexcept {
    constexpr std::string_view openers = "<([{";
    constexpr std::string_view closers = ">)]}";
    constexpr std::size_t deepest = 64;
    char awaited[deepest];
    std::size_t depth = 0;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        const std::size_t opener = openers.find(c);
        // within round brackets < and > may be comparisons
        const bool is_angle = c == '<' && depth != 0 && awaited[depth - 1] != '>';
        if (is_quote(c)) {
            at = skip_quoted(text, at) - 1;
        } else if (opener != std::string_view::npos && !is_angle) {
            if (depth == deepest) return text.size();
            awaited[depth++] = closers[opener];
        } else if (depth != 0 && c == awaited[depth - 1] && !(c == '>' && text[at - 1] == '-')) {
            if (--depth == 0) return at + 1;
        }
    }
    return text.size();
}

void signature_path::read(std::string_view signature) noexcept {
    count = 0;
    std::size_t at = name_search(signature).find();
    for (;;) {
        signature_part part;
        at = read_part(signature, at, part);
        add(part);
        const std::size_t next = skip_qualifiers(signature, at);
        if (!stands_at(signature, next, "::")) break;
        at = next + 2;
    }
    rest = signature.substr(at);
}

std::size_t signature_path::read_part(std::string_view text, std::size_t at,
                                      signature_part& part) noexcept {
    const std::size_t begin = at;
    if (const std::string_view anonymous = anonymous_namespace_at(text, at); !anonymous.empty()) {
        part.kind = part_kind::anonymous_namespace;
        return at + anonymous.size();
    }
    if (stands_at(text, at, lambda_of_gcc)) {
        part.kind = part_kind::lambda;
        return skip_brackets(text, at);
    }
    if (stands_at(text, at, class_of_clang) || stands_at(text, at, class_of_gcc)) {
        at = skip_brackets(text, at);
        part.kind =
            stands_at(text, at, "::operator()") ? part_kind::lambda : part_kind::unnamed_type;
        return at;
    }
    at = is_operator_at(text, at) ? skip_operator(text, at)
                                  : skip_word(text, at + (char_at(text, at) == '~' ? 1 : 0));
    at = std::min(at, text.size());
    part.name = text.substr(begin, at - begin);
    if (char_at(text, at) == '<') {
        const std::size_t end = skip_brackets(text, at);
        part.arguments = text.substr(at + 1, end - at - 2);
        at = end;
    }
    if (char_at(text, at) == '(') {
        const std::size_t end = skip_brackets(text, at);
        part.parameters = text.substr(at + 1, end - at - 2);
        at = end;
    }
    return at;
}

void signature_path::add(const signature_part& part) noexcept {
    if (count == most_parts) std::copy(parts + 1, parts + count--, parts);
    parts[count++] = part;
}

void template_bindings::read(std::string_view rest) noexcept {
    constexpr std::string_view begin = " [";
    constexpr std::string_view with = "with ";
    count = 0;
    of_gcc = false;
    const std::size_t at = rest.find(begin);
    if (at == std::string_view::npos) return;
    // If the result is a pointer to a function or to an array, clang writes the rest of the result
    // type after the list.
    const std::size_t bracket = at + 1;
    std::string_view list = rest.substr(bracket, skip_brackets(rest, bracket) - bracket);
    list.remove_prefix(1);
    if (list.ends_with(']')) list.remove_suffix(1);
    of_gcc = list.starts_with(with);
    if (of_gcc) list.remove_prefix(with.size());
    const char separator = of_gcc ? ';' : ',';
    while (!list.empty()) {
        const std::size_t end = skip_entry(list, 0, separator);
        add(list.substr(0, end));
        list.remove_prefix(std::min(end + 1, list.size()));
    }
}

void template_bindings::add(std::string_view text) noexcept {
    const std::size_t equals = text.find(" = ");
    if (count == most_entries || equals == std::string_view::npos) return;
    const std::string_view key = parameter_name(text.substr(0, equals));
    if (!key.empty()) entries[count++] = {key, trimmed(text.substr(equals + 3)), false};
}

void template_bindings::leave_out_members(std::string_view of) noexcept {
    const auto is_member = [of](const entry& each) {
        for (std::size_t at = of.find(each.key); at != std::string_view::npos;
             at = of.find(each.key, at + 1)) {
            const std::size_t end = at + each.key.size();
            if (of.substr(0, at).ends_with("::") &&
                (end == of.size() || !is_word_character(of[end])))
                return true;
        }
        return false;
    };
    count = static_cast<std::size_t>(std::remove_if(entries, entries + count, is_member) - entries);
}

void template_bindings::take_arguments(std::string_view of_class) noexcept {
    for (std::size_t at = 0; at < count && !of_class.empty(); ++at) {
        if (entries[at].used) continue;
        const std::string_view value = without_pack(entries[at].value);
        if (!of_class.starts_with(value)) return;
        entries[at].used = true;
        of_class = trimmed(of_class.substr(value.size()));
        if (of_class.starts_with(',')) of_class = trimmed(of_class.substr(1));
    }
}

template_bindings::entry* template_bindings::find(std::string_view key) noexcept {
    entry* const end = entries + count;
    entry* const found =
        std::find_if(entries, end, [&](const entry& each) { return each.key == key; });
    return found == end ? nullptr : found;
}

std::string_view without_pack(std::string_view value) noexcept {
    const bool is_pack = (value.starts_with('{') && value.ends_with('}')) ||
                         (value.starts_with('<') && value.ends_with('>'));
    return is_pack ? value.substr(1, value.size() - 2) : value;
}

}  // namespace coroscope::runtime::inline writer
