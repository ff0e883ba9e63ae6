// SPDX-License-Identifier: Apache-2.0
#pragma once

// A Chrome trace from its first byte to its last: an object with "traceEvents" among its members, or the
// bare array of them. Events are parsed a window at a time: up to what looks like the end of the window's
// last event. Where that guess is wrong, or the parser stops, json_check goes over the window and says
// where its last event really ends, or what is wrong and where.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <coroscope/analysis/load_events.hpp>

#include "byte_source.hpp"
#include "chrome_events.hpp"
#include "chrome_parser.hpp"
#include "text_window.hpp"

namespace coroscope::analysis::reading {

class chrome_reader {
public:
    chrome_reader(byte_source& source, const load_options& options);

    result<event_list> read();

private:
    /// What went on with a part of the text. After `stopped`, failure_ or truncated_ says why.
    enum class progress { more, ended, stopped };

    /// What json_check found in the window, which begins with an event.
    struct checked {
        bool any = false;          ///< there is a complete event
        std::size_t end = 0;       ///< behind the last of them
        std::size_t next = 0;      ///< where the next one begins, or the array's ']'
        bool array_ended = false;  ///< `next` is behind its ']'
    };

    bool read_document();
    bool read_members();
    bool read_member();
    bool read_value(std::string& into);
    void note_member(std::string_view key, std::string_view value);

    bool read_events();
    progress read_window();
    progress read_exactly();
    std::optional<checked> check_window();
    chrome_parser::outcome parse(std::size_t size);
    progress fail_at_event(const char* event);

    [[nodiscard]] double share_read() const;
    bool skip_blanks();
    bool fail(std::string message, std::size_t at = 0);
    bool cut_short();

    byte_source& source_;
    load_options options_;
    text_window window_;
    event_list list_;
    chrome_parser parser_;
    chrome_events events_;
    bool found_events_ = false;
    bool truncated_ = false;
    std::optional<failure> failure_;
};

}  // namespace coroscope::analysis::reading
