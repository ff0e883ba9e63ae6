// SPDX-License-Identifier: Apache-2.0
#pragma once

// A Chrome trace from its first byte to its last: an object with "traceEvents" among its members,
// or the bare array of them. Events are parsed a window at a time, up to the likely end of the
// window's last event. If that guess is wrong, or the parser stops, json_check reads the window and
// finds the real end of its last event, or the error and its place. The events of a window with an
// odd event are read one by one, unless odd events are refused.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <coroscope/analysis/load_options.hpp>

#include "../byte_source.hpp"
#include "../text_window.hpp"
#include "chrome_events.hpp"
#include "chrome_parser.hpp"
#include "odd_events.hpp"

namespace coroscope::analysis::inline chrome {

/// Returns whether the comma may separate two events.
[[nodiscard]] bool between_objects(std::string_view text, std::size_t comma);

class chrome_reader {
public:
    chrome_reader(byte_source& source, const load_options& options);

    result<event_list> read();

private:
    /// The result of reading a part of the text. After `stopped`, failure_ or truncated_ has the
    /// reason.
    enum class progress { more, ended, stopped };

    /// The result of json_check for the window, which begins with an event.
    struct checked {
        bool any = false;          ///< there is a complete event
        std::size_t end = 0;       ///< the first byte after the last one
        std::size_t next = 0;      ///< the beginning of the next one, or the array's ']'
        bool array_ended = false;  ///< `next` is behind its ']'
    };

    /// The result of reading one event.
    enum class step { event, incomplete, failed };

    bool read_document();
    bool read_members();
    bool read_member();
    bool read_value(std::string& into);
    void note_member(std::string_view key, std::string_view value);

    bool read_events();
    progress read_window();
    progress read_exactly();
    progress read_more();
    progress read_singly();
    step read_one();
    static std::size_t end_of_odd_event(std::string_view text, std::size_t wrong);
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
    odd_events odd_;
    chrome_parser parser_;
    chrome_events events_;
    bool found_events_ = false;
    bool truncated_ = false;
    bool is_own_ = false;  ///< an export of ours
    std::optional<failure> failure_;
};

}  // namespace coroscope::analysis::inline chrome
