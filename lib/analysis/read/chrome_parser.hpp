// SPDX-License-Identifier: Apache-2.0
#pragma once

// The events of one window of text, through simdjson on demand. It looks at every token once and believes
// nothing: where something is not JSON it stops before the event in question, and json_check says why. Arrays and
// objects among inputs_of() are what it leaves to the sink.

#include <cstddef>
#include <span>

#include <simdjson.h>

#include "chrome_fields.hpp"

namespace coroscope::analysis::reading {

/// Takes events. It may keep nothing of the fields' texts, which die with the window.
class chrome_sink {
public:
    virtual ~chrome_sink() = default;
    /// False where the event cannot be taken.
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

    /// `text` is an array of events; `allocated` bytes may be read from its beginning.
    outcome parse(std::span<const char> text, std::size_t allocated, chrome_sink& sink);

private:
    bool read_event(simdjson::ondemand::object& event);
    bool read_arguments(simdjson::ondemand::object& arguments);
    bool read_id(simdjson::ondemand::value& value);
    bool take_field(const char* key, simdjson::ondemand::value& value);
    bool take_argument(const char* key, simdjson::ondemand::value& value);
    [[nodiscard]] bool replaced_are_json() const;
    bool keep_other(const char* key, simdjson::ondemand::value& value);
    bool check(simdjson::ondemand::value& value, std::size_t depth);
    [[nodiscard]] bool is_scalar(std::string_view token, const char* end) const;

    bool keep_;
    bool accept_nan_;
    simdjson::ondemand::parser parser_;
    chrome_fields event_;
};

}  // namespace coroscope::analysis::reading
