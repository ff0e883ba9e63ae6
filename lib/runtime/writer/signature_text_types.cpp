// SPDX-License-Identifier: Apache-2.0

// Types in the one spelling that g++'s and clang's have in common.

#include <algorithm>

#include "signature_text.hpp"

namespace coroscope::runtime::inline writer {
namespace {

struct replacement {
    std::string_view text;
    std::string_view by;
};
// Longer ones first. The arguments of a pack have the default arguments of their templates in g++'s
// spelling. Anonymous namespaces and the standard library's inline ones say nothing to a reader.
constexpr replacement replacements[] = {
    {"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >",
     "std::string"},
    {"std::basic_string<char, std::char_traits<char>, std::allocator<char> >", "std::string"},
    {"std::__cxx11::basic_string<char>", "std::string"},
    {"std::__1::basic_string<char>", "std::string"},
    {"std::basic_string<char>", "std::string"},
    {"std::__1::basic_string_view<char>", "std::string_view"},
    {"std::basic_string_view<char>", "std::string_view"},
    {"std::__cxx11::", "std::"},
    {"std::__1::", "std::"},
    {"(anonymous namespace)::", ""},
    {"{anonymous}::", ""},
    {"<unnamed>::", ""},
    {"<lambda closure object>", ""},
    {"long long unsigned int", "unsigned long long"},
    {"long unsigned int", "unsigned long"},
    {"short unsigned int", "unsigned short"},
    {"long long int", "long long"},
    {"long int", "long"},
    {"short int", "short"},
};

constexpr std::string_view frame_end = ".Frame*)";

bool closes(char c) noexcept { return c == '>' || c == ')' || c == ']'; }

class type_writer {
public:
    type_writer(bounded_text& out, std::string_view text, template_bindings* bindings) noexcept
        : out_(out), text_(text), bindings_(bindings) {}

    void write() noexcept {
        while (at_ < text_.size()) step();
    }

private:
    void step() noexcept {
        if (replace() || write_lambda() || skip_frame()) return;
        const char c = text_[at_];
        if (c == '\'') return write_quoted();
        if (is_word_character(c)) return write_word();
        ++at_;
        if (c == ' ') return write_space();
        out_.put(c);
        if (c == ',' && at_ < text_.size()) {
            while (at_ < text_.size() && text_[at_] == ' ') ++at_;
            out_.put(' ');
        }
    }

    [[nodiscard]] std::string_view left() const noexcept { return text_.substr(at_); }

    [[nodiscard]] bool splits_word(std::size_t at) const noexcept {
        return at != 0 && at < text_.size() && is_word_character(text_[at - 1]) &&
               is_word_character(text_[at]);
    }

    bool replace() noexcept {
        if (splits_word(at_)) return false;
        for (const replacement& each : replacements) {
            if (!left().starts_with(each.text) || splits_word(at_ + each.text.size())) continue;
            out_.put(each.by);
            at_ += each.text.size();
            return true;
        }
        return false;
    }

    // "<lambda(int)>" or "(lambda at main.cpp:3:4)", of which the position is kept.
    bool write_lambda() noexcept {
        const bool of_clang = left().starts_with("(lambda at ");
        if (!of_clang && !left().starts_with("<lambda(")) return false;
        const std::size_t end = skip_brackets(text_, at_);
        out_.put("{lambda");
        if (of_clang) {
            const std::string_view place = text_.substr(at_, end - at_ - 1);
            const std::size_t column = place.rfind(':');
            const std::size_t line =
                column == std::string_view::npos ? column : place.rfind(':', column - 1);
            if (line != std::string_view::npos) out_.put(place.substr(line));
        }
        out_.put('}');
        at_ = end;
        return true;
    }

    // The parameters of g++'s body of a coroutine, in which a lambda or a class is defined.
    bool skip_frame() noexcept {
        if (text_[at_] != '(') return false;
        const std::size_t end = skip_brackets(text_, at_);
        if (!text_.substr(at_, end - at_).ends_with(frame_end)) return false;
        out_.put("()");
        at_ = end;
        return true;
    }

    void write_quoted() noexcept {
        do {
            if (text_[at_] == '\\' && at_ + 1 < text_.size()) out_.put(text_[at_++]);
            out_.put(text_[at_++]);
        } while (at_ < text_.size() && text_[at_] != '\'');
        if (at_ < text_.size()) out_.put(text_[at_++]);
    }

    void write_word() noexcept {
        const std::size_t begin = at_;
        // g++ calls the parameter of an abbreviated template auto:1
        while (at_ < text_.size() && is_word_character(text_[at_])) ++at_;
        const std::string_view word = text_.substr(begin, at_ - begin);
        const bool is_qualified = begin != 0 && text_[begin - 1] == ':';
        if (bindings_ != nullptr && !is_qualified) {
            if (template_bindings::entry* const bound = bindings_->find(word)) {
                bound->used = true;
                write_type(out_, without_pack(bound->value), nullptr);
                if (left().starts_with(" ...")) at_ += 4;
                return;
            }
        }
        const bool is_qualifier = word == "const" || word == "volatile";
        if (is_qualifier && (closes(out_.last()) || out_.last() == '*' || out_.last() == '&'))
            out_.put(' ');
        out_.put(word);
    }

    // Between words, as both compilers do.
    void write_space() noexcept {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
        if (at_ == text_.size() || !is_word_character(text_[at_])) return;
        if (is_word_character(out_.last())) out_.put(' ');
        if (closes(out_.last()) && !left().starts_with("const") && !left().starts_with("volatile"))
            out_.put(' ');
    }

    bounded_text& out_;
    std::string_view text_;
    template_bindings* bindings_;
    std::size_t at_ = 0;
};

}  // namespace

void write_type(bounded_text& out, std::string_view text, template_bindings* bindings) noexcept {
    type_writer(out, text, bindings).write();
}

}  // namespace coroscope::runtime::inline writer
