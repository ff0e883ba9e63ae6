// SPDX-License-Identifier: Apache-2.0
#pragma once

// Parses the events of one window of text, by simdjson on demand. It looks at every token once and
// trusts nothing: at text that is not JSON it stops before the event in question, and json_check
// finds the reason. Arrays and objects among inputs_of() are left to the sink.

#include <cstddef>
#include <span>
#include <string>

#include <simdjson.h>

#include "chrome_fields.hpp"

namespace coroscope::analysis::inline chrome {

/// Takes events. Must not keep views of the fields' texts, which are valid only as long as the
/// window.
class chrome_sink {
public:
    virtual ~chrome_sink() = default;
    /// Returns false if the event cannot be taken.
    virtual bool take(const chrome_fields& event) = 0;
};

class chrome_parser {
public:
    struct outcome {
        enum class kind { read_all, array_ended, stopped } what = kind::stopped;
        const char* at =
            nullptr;  ///< array_ended: behind its ']'; stopped: the event that was not taken
    };

    chrome_parser(bool keep_arguments, bool accept_nan)
        : keep_(keep_arguments), accept_nan_(accept_nan) {}

    /// `text` must be an array of events. `allocated` bytes from its beginning must be readable.
    outcome parse(std::span<const char> text, std::size_t allocated, chrome_sink& sink);

private:
    bool read_event(simdjson::ondemand::object& event);
    bool read_arguments(simdjson::ondemand::object& arguments);
    bool read_id(simdjson::ondemand::value& value);
    bool take_field(const char* key, simdjson::ondemand::value& value);
    bool take_argument(const char* key, simdjson::ondemand::value& value);
    [[nodiscard]] bool replaced_are_json() const;
    bool keep_other(const char* key, simdjson::ondemand::value& value, std::string& into);
    bool check(simdjson::ondemand::value& value, std::size_t depth);
    [[nodiscard]] bool is_scalar(std::string_view token, const char* end) const;

    bool keep_;
    bool accept_nan_;
    simdjson::ondemand::parser parser_;
    chrome_fields event_;
};

}  // namespace coroscope::analysis::inline chrome
