// SPDX-License-Identifier: Apache-2.0

// The array of events, window by window.

#include "../../text/json_check.hpp"
#include "../../text/json_tokens.hpp"
#include "chrome_reader.hpp"

namespace coroscope::analysis::inline chrome {
namespace {

constexpr std::size_t longest_event = std::size_t{1} << 26;

/// Returns the last comma that may separate two events, or npos. It may be inside a string or an
/// inner array.
std::size_t last_boundary(std::string_view text) {
    std::size_t comma = text.rfind(',');
    while (comma != std::string_view::npos && comma != 0 && !between_objects(text, comma))
        comma = text.rfind(',', comma - 1);
    return comma == 0 ? std::string_view::npos : comma;
}

}  // namespace

bool between_objects(std::string_view text, std::size_t comma) {
    const std::size_t behind = behind_blanks(text, comma + 1);
    if (behind == text.size() || text[behind] != '{') return false;
    std::size_t before = comma;
    while (before > 0 && is_blank(text[before - 1])) --before;
    return before > 0 && text[before - 1] == '}';
}

bool chrome_reader::read_events() {
    found_events_ = true;
    for (;;) {
        window_.fill();
        const progress went = read_window();
        if (went != progress::more) return went == progress::ended;
    }
}

chrome_reader::progress chrome_reader::read_window() {
    using kind = chrome_parser::outcome::kind;
    const std::string_view text(window_.data(), window_.size());
    const std::size_t boundary = window_.at_end() ? text.size() : last_boundary(text);
    // The parser skips unneeded strings unchecked, so windows with unknown escapes are read
    // exactly.
    if (boundary == std::string_view::npos || has_unknown_escape(text.substr(0, boundary)))
        return read_exactly();
    const chrome_parser::outcome outcome = parse(boundary);
    switch (outcome.what) {
        case kind::array_ended:
            window_.pass(static_cast<std::size_t>(outcome.at - window_.data()));
            return progress::ended;
        case kind::read_all:
            if (!window_.at_end()) {
                window_.pass(boundary + 1);
                return progress::more;
            }
            cut_short();
            return progress::stopped;
        case kind::stopped: break;
    }
    window_.pass(static_cast<std::size_t>(outcome.at - window_.data()));
    return read_exactly();
}

/// Parses the window's first `size` bytes as an array: puts brackets around them meanwhile.
chrome_parser::outcome chrome_reader::parse(std::size_t size) {
    char* const begin = window_.data() - 1;
    char* const end = window_.data() + size;
    const char before = *begin;
    const char behind[] = {end[0], end[1]};
    *begin = '[';
    end[0] = ']';
    end[1] = '\0';  // not valid anywhere in JSON
    const chrome_parser::outcome outcome =
        parser_.parse({begin, size + 2}, window_.allocated() + 1, events_);
    *begin = before;
    end[0] = behind[0];
    end[1] = behind[1];
    return outcome;
}

chrome_reader::progress chrome_reader::fail_at_event(const char* event) {
    fail(events_.problem() != nullptr ? events_.problem() : "an event that is no object",
         static_cast<std::size_t>(event - window_.data()));
    return progress::stopped;
}

chrome_reader::progress chrome_reader::read_exactly() {
    const auto found = check_window();
    if (!found) {
        if (odd_.are_refused()) return progress::stopped;
        failure_.reset();  // the failure concerns one event only
        return read_singly();
    }
    if (found->any) {
        const chrome_parser::outcome outcome = parse(found->end);
        if (outcome.what != chrome_parser::outcome::kind::read_all) {
            if (odd_.are_refused()) return fail_at_event(outcome.at);
            window_.pass(static_cast<std::size_t>(outcome.at - window_.data()));
            return read_singly();
        }
    }
    window_.pass(found->next);
    if (found->array_ended) return progress::ended;
    if (window_.at_end()) {
        cut_short();
        return progress::stopped;
    }
    return found->any || found->next != 0 ? progress::more : read_more();
}

/// Widens the window for an event that does not end in it.
chrome_reader::progress chrome_reader::read_more() {
    if (window_.size() >= longest_event) {
        fail("an event is longer than 64 MiB");
        return progress::stopped;
    }
    window_.widen();
    return progress::more;
}

/// nullopt if the window is malformed; failure_ then has the reason.
std::optional<chrome_reader::checked> chrome_reader::check_window() {
    const std::string_view text(window_.data(), window_.size());
    json_check check(options_.accept_nan);
    checked found;
    for (;;) {
        const std::size_t begin = behind_blanks(text, found.next);
        found.next = begin;  // blanks may fill the window
        if (begin == text.size()) return found;
        if (text[begin] == ']') {
            found.next = begin + 1;
            found.array_ended = true;
            return found;
        }
        check.restart();
        const std::size_t end = begin + check.feed(text.data() + begin, text.size() - begin);
        if (check.problem() != nullptr) {
            fail(check.problem(), end);
            return std::nullopt;
        }
        const std::size_t delimiter = behind_blanks(text, end);
        if (!check.done() || (delimiter == text.size() && !window_.at_end())) return found;
        found.any = true;
        found.end = end;
        found.next = delimiter;
        if (delimiter == text.size() || text[delimiter] == ']') continue;
        if (text[delimiter] != ',') {
            fail("there is neither ',' nor ']' after an event", delimiter);
            return std::nullopt;
        }
        ++found.next;
    }
}

}  // namespace coroscope::analysis::inline chrome
