// SPDX-License-Identifier: Apache-2.0

// The events of a window that has an odd one. Each event is checked and parsed by itself, and an
// odd one is left out. Its end is the place at which its brackets are balanced, else the likely
// beginning of the next event.

#include "../../text/json_check.hpp"
#include "../../text/json_tokens.hpp"
#include "chrome_reader.hpp"

namespace coroscope::analysis::inline chrome {
namespace {

// An odd event may have no end. After this many bytes brackets are no longer matched, and the next
// likely event is searched.
constexpr std::size_t longest_odd_event = std::size_t{1} << 16;

// The bytes that may be outside strings and brackets: blanks, colons, numbers and words. Any other
// byte belongs to a string whose first quote is missing.
constexpr std::string_view between_texts = " \t\r\n:+-.0123456789eEtruefalsnNaIity";

/// Returns the position after the value at the beginning of `text`, by matching brackets and
/// quotes. Returns npos if the value does not end or quotes are missing.
std::size_t end_by_brackets(std::string_view text) {
    std::size_t depth = 0;
    bool in_string = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char byte = text[at];
        if (in_string) {
            if (byte == '\\') ++at;
            in_string = byte != '"';
        } else if (byte == '"') {
            in_string = true;
        } else if (byte == '{' || byte == '[') {
            ++depth;
        } else if (byte == ',' && depth == 0) {
            return at;
        } else if (byte == '}' || byte == ']') {
            if (depth == 0) return at;
            if (--depth == 0) return at + 1;
        } else if (byte != ',' && between_texts.find(byte) == std::string_view::npos) {
            return std::string_view::npos;
        }
    }
    return std::string_view::npos;
}

bool ends_event(std::string_view text, std::size_t end) {
    if (end == std::string_view::npos) return false;
    const std::size_t behind = behind_blanks(text, end);
    return behind < text.size() && (text[behind] == ',' || text[behind] == ']');
}

}  // namespace

/// Returns the position after the odd event at the beginning of `text`, or npos if it is unclear.
/// `wrong` is the position of the error in it.
std::size_t chrome_reader::end_of_odd_event(std::string_view text, std::size_t wrong) {
    const std::size_t near = end_by_brackets(text.substr(0, wrong + longest_odd_event));
    if (ends_event(text, near)) return near;
    for (std::size_t comma = text.find(',', wrong); comma != std::string_view::npos;
         comma = text.find(',', comma + 1))
        if (between_objects(text, comma)) return comma;
    const std::size_t far = end_by_brackets(text);
    return ends_event(text, far) ? far : std::string_view::npos;
}

chrome_reader::progress chrome_reader::read_singly() {
    bool any = false;
    for (;;) {
        window_.pass(behind_blanks({window_.data(), window_.size()}, 0));
        if (window_.size() != 0 && *window_.data() == ']') {
            window_.pass(1);
            return progress::ended;
        }
        const step went = read_one();
        if (went == step::failed) return progress::stopped;
        if (went == step::event) {
            any = true;
            continue;
        }
        if (window_.at_end()) {
            cut_short();
            return progress::stopped;
        }
        return any ? progress::more : read_more();
    }
}

/// Takes the event at the window's beginning, or leaves it out if it is odd. Passes the event and
/// its comma.
chrome_reader::step chrome_reader::read_one() {
    const std::string_view text(window_.data(), window_.size());
    json_check check(options_.accept_nan);
    std::size_t end = check.feed(text.data(), text.size());
    const bool is_json = check.problem() == nullptr;
    if (!is_json) {
        const std::size_t wrong = end;
        end = end_of_odd_event(text, wrong);
        if (end == std::string_view::npos) return step::incomplete;
        odd_.add(check.problem(), window_.offset() + wrong);
    } else if (!check.done()) {
        return step::incomplete;
    }
    const std::size_t delimiter = behind_blanks(text, end);
    if (delimiter == text.size() && !window_.at_end()) return step::incomplete;
    if (is_json && parse(end).what != chrome_parser::outcome::kind::read_all)
        odd_.add(events_.problem() != nullptr ? events_.problem() : "an event that is no object",
                 window_.offset());
    window_.pass(delimiter);
    if (window_.size() == 0 || *window_.data() == ']') return step::event;
    if (*window_.data() != ',') {
        fail("there is neither ',' nor ']' after an event");
        return step::failed;
    }
    window_.pass(1);
    return step::event;
}

}  // namespace coroscope::analysis::inline chrome
