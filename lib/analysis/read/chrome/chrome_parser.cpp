// SPDX-License-Identifier: Apache-2.0
#include "chrome_parser.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

#include "../../text/json_check.hpp"
#include "../../text/json_tokens.hpp"

namespace coroscope::analysis::inline chrome {
namespace {

namespace ondemand = simdjson::ondemand;

/// Returns the value of a result whose error was checked. simdjson's own accessor copies the value,
/// which costs more than parsing it.
template <class Type>
Type& unchecked(simdjson::simdjson_result<Type>& result) {
    Type&& held = std::move(result).value_unsafe();
    return held;
}

/// A key of up to seven letters with its closing quote, which is compared in one step.
struct short_key {
    std::uint64_t bytes = 0;
    std::uint64_t mask = 0;

    template <std::size_t Size>
    consteval short_key(const char (&name)[Size]) {
        static_assert(Size <= sizeof(bytes) && std::endian::native == std::endian::little);
        for (std::size_t at = 0; at < Size; ++at) {
            const auto letter = static_cast<unsigned char>(at + 1 < Size ? name[at] : '"');
            bytes |= std::uint64_t{letter} << (8 * at);
            mask |= std::uint64_t{0xff} << (8 * at);
        }
    }
};

/// Returns whether the key that begins at `key` is `name`. Reads eight bytes in place, which is
/// safe because the text has padding.
bool is_key(const char* key, short_key name) {
    std::uint64_t found = 0;
    std::memcpy(&found, key, sizeof(found));
    return ((found ^ name.bytes) & name.mask) == 0;
}

template <std::size_t Size>
bool is_long_key(const char* key, const char (&name)[Size]) {
    return std::memcmp(key, name, Size - 1) == 0 && key[Size - 1] == '"';
}

std::string_view* field_of(chrome_fields& event, const char* key) {
    switch (key[0]) {
        case 'b': return is_key(key, "bp") ? &event.bind_point : nullptr;
        case 'c': return is_key(key, "cat") ? &event.category : nullptr;
        case 'd': return is_key(key, "dur") ? &event.duration : nullptr;
        case 'i': return is_key(key, "id") ? &event.id : nullptr;
        case 'n': return is_key(key, "name") ? &event.name : nullptr;
        case 'p':
            if (is_key(key, "ph")) return &event.phase;
            return is_key(key, "pid") ? &event.process : nullptr;
        case 's': return is_key(key, "scope") ? &event.scope : nullptr;
        case 't':
            if (is_key(key, "ts")) return &event.time;
            return is_key(key, "tid") ? &event.thread : nullptr;
        default: return nullptr;
    }
}

std::string_view* input_field(chrome_arguments& arguments, const char* key) {
    if (is_long_key(key, "Input Dims")) return &arguments.input_dims;
    if (is_long_key(key, "Input type")) return &arguments.input_type;
    return is_long_key(key, "Input Strides") ? &arguments.input_strides : nullptr;
}

bool is_input(const chrome_arguments& arguments, const std::string_view* place) {
    return place == &arguments.input_dims || place == &arguments.input_type ||
           place == &arguments.input_strides || place == &arguments.concrete_inputs ||
           place == &arguments.keyword_inputs;
}

std::string_view* memory_field(chrome_arguments& arguments, const char* key) {
    if (is_long_key(key, "Total Allocated")) return &arguments.total_allocated;
    return is_long_key(key, "Total Reserved") ? &arguments.total_reserved : nullptr;
}

std::string_view* suspension_field(chrome_arguments& arguments, const char* key) {
    if (is_long_key(key, "suspended_ns")) return &arguments.suspended;
    return is_long_key(key, "suspension") ? &arguments.suspension : nullptr;
}

std::string_view* argument_of(chrome_arguments& arguments, const char* key) {
    switch (key[0]) {
        case 'A': return is_key(key, "Addr") ? &arguments.address : nullptr;
        case 'B': return is_key(key, "Bytes") ? &arguments.bytes : nullptr;
        case 'C':
            if (is_long_key(key, "Call stack")) return &arguments.call_stack;
            return is_long_key(key, "Concrete Inputs") ? &arguments.concrete_inputs : nullptr;
        case 'D':
            if (is_long_key(key, "Device Type")) return &arguments.device_type;
            return is_long_key(key, "Device Id") ? &arguments.device_id : nullptr;
        case 'E': return is_long_key(key, "External id") ? &arguments.external_id : nullptr;
        case 'F': return is_long_key(key, "Fwd thread id") ? &arguments.forward_thread : nullptr;
        case 'I': return input_field(arguments, key);
        case 'K': return is_long_key(key, "Kwinputs") ? &arguments.keyword_inputs : nullptr;
        case 'M':
            return is_long_key(key, "Module Hierarchy") ? &arguments.module_hierarchy : nullptr;
        case 'O': return is_long_key(key, "Overload name") ? &arguments.overload_name : nullptr;
        case 'S': return is_long_key(key, "Sequence number") ? &arguments.sequence_number : nullptr;
        case 'T': return memory_field(arguments, key);
        case 'c': return is_long_key(key, "correlation") ? &arguments.correlation : nullptr;
        case 'd': return is_key(key, "device") ? &arguments.device : nullptr;
        case 'e': return is_long_key(key, "external id") ? &arguments.external_id : nullptr;
        case 'n':
            if (is_key(key, "name")) return &arguments.name;
            return is_key(key, "nested") ? &arguments.nested : nullptr;
        case 'q': return is_long_key(key, "queued_ns") ? &arguments.queued : nullptr;
        case 'r': return is_long_key(key, "running_ns") ? &arguments.running : nullptr;
        case 's':
            if (is_key(key, "stream")) return &arguments.stream;
            if (is_key(key, "self_ns")) return &arguments.self;
            return suspension_field(arguments, key);
        case 'w': return is_long_key(key, "waiting_ns") ? &arguments.waiting : nullptr;
        default: return nullptr;
    }
}

/// Removes the blanks after a raw token, which has none before it.
std::string_view without_blanks(std::string_view raw) {
    while (!raw.empty() && raw.back() <= ' ' && is_blank(raw.back())) raw.remove_suffix(1);
    return raw;
}

bool is_nested(std::string_view token) {
    return !token.empty() && (token.front() == '{' || token.front() == '[');
}

/// Returns whether a ':' is at `end`, the beginning of the token after a string. That is an error
/// that simdjson's skip does not detect: it takes the string for a key and the next token for the
/// value of an object that it is in. After any other token it detects a stray ':'.
bool is_key_end(const char* end) { return *end == ':'; }

/// Returns the number of digits at the beginning of the next eight bytes, which must be readable.
std::size_t count_digits(const char* from) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, from, sizeof(bytes));
    bytes ^=
        0x3030'3030'3030'3030U;  // digits become 0 to 9; a carry comes from a byte that is no digit
    const std::uint64_t others =
        (bytes | (bytes + 0x0606'0606'0606'0606U)) & 0xf0f0'f0f0'f0f0'f0f0U;
    return static_cast<std::size_t>(std::countr_zero(others)) / 8;
}

bool skip_digits(std::string_view text, std::size_t& at) {
    const std::size_t begin = at;
    std::size_t more = 0;
    do {
        more = count_digits(text.data() + at);
        at += more;
    } while (more == sizeof(std::uint64_t));
    return at != begin;
}

bool is_number(std::string_view text) {
    std::size_t at = text.front() == '-' ? 1 : 0;
    const std::size_t begin = at;
    if (!skip_digits(text, at) || (text[begin] == '0' && at - begin > 1)) return false;
    if (at == text.size()) return true;
    if (text[at] == '.') {
        ++at;
        if (!skip_digits(text, at)) return false;
    }
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        ++at;
        if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
        if (!skip_digits(text, at)) return false;
    }
    return at == text.size();
}

bool is_json(std::string_view text, bool accept_nan) {
    json_check check(accept_nan);
    std::size_t taken = check.feed(text.data(), text.size());
    if (!check.done()) taken += check.feed(" ", 1);  // a blank ends a number or a word
    return check.done() && taken == text.size();
}

/// Skips an array or object and returns its text; empty if it does not end.
std::string_view nested_text(ondemand::value& value, std::string_view token) {
    std::string_view text;
    if (token.front() == '[') {
        ondemand::array array;
        if (value.get_array().get(array) != simdjson::SUCCESS ||
            array.raw_json().get(text) != simdjson::SUCCESS)
            return {};
    } else {
        ondemand::object object;
        if (value.get_object().get(object) != simdjson::SUCCESS ||
            object.raw_json().get(text) != simdjson::SUCCESS)
            return {};
    }
    return trimmed(text);
}

/// Returns the key with its quotes.
std::string_view key_text(const char* key) {
    const char* end = key;
    while (*end != '"') end += *end == '\\' ? 2 : 1;
    return {key - 1, static_cast<std::size_t>(end - key) + 2};
}

void forget(chrome_fields& event) {
    event.phase = event.category = event.name = event.process = event.thread = {};
    event.time = event.duration = event.id = event.id2 = event.scope = event.bind_point = {};
    event.members.clear();
    event.local_id = false;
    event.empty = true;
    if (event.has_arguments) {
        event.has_arguments = false;
        event.arguments = {};
        event.others.clear();
    }
}

}  // namespace

chrome_parser::outcome chrome_parser::parse(std::span<const char> text, std::size_t allocated,
                                            chrome_sink& sink) {
    using kind = outcome::kind;
    ondemand::document document;
    ondemand::array array;
    ondemand::array_iterator each;
    ondemand::array_iterator end;
    const char* reached = text.data() + 1;
    if (parser_.iterate(text.data(), text.size(), allocated).get(document) != simdjson::SUCCESS ||
        document.get_array().get(array) != simdjson::SUCCESS ||
        array.begin().get(each) != simdjson::SUCCESS || array.end().get(end) != simdjson::SUCCESS)
        return {kind::stopped, reached};
    bool pending = false;  // an event is taken after its end was checked
    for (; each != end; ++each) {
        auto element = *each;
        if (element.error() != simdjson::SUCCESS) return {kind::stopped, reached};
        if (pending && !sink.take(event_)) return {kind::stopped, reached};
        ondemand::value& value = unchecked(element);
        reached = value.raw_json_token().data();
        auto object = value.get_object();
        if (object.error() != simdjson::SUCCESS) return {kind::stopped, reached};
        forget(event_);
        event_.where = reached;
        if (!read_event(unchecked(object))) return {kind::stopped, reached};
        pending = true;
    }
    if (pending && !sink.take(event_)) return {kind::stopped, reached};
    const char* behind = nullptr;
    if (document.current_location().get(behind) != simdjson::SUCCESS)
        return {kind::read_all, text.data() + text.size()};
    while (behind[-1] != ']') --behind;
    return {kind::array_ended, behind};
}

bool chrome_parser::read_event(ondemand::object& event) {
    for (auto each : event) {
        if (each.error() != simdjson::SUCCESS) return false;
        ondemand::field& field = unchecked(each);
        if (!take_field(field.key().raw(), field.value())) return false;
    }
    return true;
}

bool chrome_parser::take_field(const char* key, ondemand::value& value) {
    const std::string_view raw = value.raw_json_token();
    const std::string_view token = without_blanks(raw);
    event_.empty = false;
    if (!is_nested(token)) {
        std::string_view* const place = field_of(event_, key);
        if (place == nullptr && keep_) return keep_other(key, value, event_.members);
        if (place != nullptr) *place = token;
        return is_scalar(token, raw.data() + raw.size());
    }
    if (is_key(key, "id2")) return read_id(value);
    if (is_key(key, "args") && token.front() == '{') {
        auto arguments = value.get_object();
        if (arguments.error() != simdjson::SUCCESS || !replaced_are_json()) return false;
        event_.arguments = {};
        event_.others.clear();
        event_.has_arguments = true;
        return read_arguments(unchecked(arguments));
    }
    std::string_view* const place = field_of(event_, key);
    if (place == nullptr && keep_) return keep_other(key, value, event_.members);
    if (place != nullptr) *place = token;
    return check(value, 0);
}

bool chrome_parser::read_id(ondemand::value& value) {
    auto ids = value.get_object();
    if (ids.error() != simdjson::SUCCESS) return check(value, 0);
    for (auto each : unchecked(ids)) {
        if (each.error() != simdjson::SUCCESS) return false;
        ondemand::field& field = unchecked(each);
        event_.local_id = is_key(field.key().raw(), "local");
        event_.id2 = trimmed(field.value().raw_json_token());
        if (!check(field.value(), 0)) return false;
    }
    return true;
}

bool chrome_parser::read_arguments(ondemand::object& arguments) {
    for (auto each : arguments) {
        if (each.error() != simdjson::SUCCESS) return false;
        ondemand::field& field = unchecked(each);
        if (!take_argument(field.key().raw(), field.value())) return false;
    }
    return true;
}

bool chrome_parser::take_argument(const char* key, ondemand::value& value) {
    const std::string_view raw = value.raw_json_token();
    const std::string_view token = without_blanks(raw);
    std::string_view* const place = argument_of(event_.arguments, key);
    if (place == nullptr) return keep_ ? keep_other(key, value, event_.others) : check(value, 0);
    if (is_nested(*place) && !is_json(*place, accept_nan_))
        return false;  // a repeated key replaces it, so this is the last check
    if (!is_nested(token)) {
        *place = token;
        return is_scalar(token, raw.data() + raw.size());
    }
    *place = nested_text(value, token);
    // Most inputs have the same few spellings, so the sink checks only those that are new.
    return is_input(event_.arguments, place) ? !place->empty() : is_json(*place, accept_nan_);
}

/// Returns whether the inputs that a second "args" replaces are JSON. This is the last check of
/// them.
bool chrome_parser::replaced_are_json() const {
    const auto inputs = inputs_of(event_.arguments);
    return std::all_of(inputs.begin(), inputs.end(), [this](std::string_view each) {
        return !is_nested(each) || is_json(each, accept_nan_);
    });
}

bool chrome_parser::keep_other(const char* key, ondemand::value& value, std::string& into) {
    const std::string_view raw = value.raw_json_token();
    std::string_view token = without_blanks(raw);
    if (is_nested(token))
        token = nested_text(value, token);
    else if (is_key_end(raw.data() + raw.size()))
        return false;
    if (!is_json(token, accept_nan_)) return false;
    if (!into.empty()) into += ", ";
    into += key_text(key);
    into += ": ";
    into += is_nested(token) ? one_line(token) : std::string(token);
    return true;
}

bool chrome_parser::check(ondemand::value& value, std::size_t depth) {
    const std::string_view raw = value.raw_json_token();
    const std::string_view token = without_blanks(raw);
    if (!is_nested(token)) return is_scalar(token, raw.data() + raw.size());
    if (depth == deepest_nesting) return false;
    if (token.front() == '[') {
        auto array = value.get_array();
        if (array.error() != simdjson::SUCCESS) return false;
        for (auto each : unchecked(array))
            if (each.error() != simdjson::SUCCESS || !check(unchecked(each), depth + 1))
                return false;
        return true;
    }
    auto object = value.get_object();
    if (object.error() != simdjson::SUCCESS) return false;
    for (auto each : unchecked(object))
        if (each.error() != simdjson::SUCCESS || !check(unchecked(each).value(), depth + 1))
            return false;
    return true;
}

/// `end` is the first byte after the token and the blanks behind it.
bool chrome_parser::is_scalar(std::string_view token, const char* end) const {
    if (token.empty()) return false;
    if (token.front() == '"') return is_string(token) && !is_key_end(end);
    return is_number(token) || token == "true" || token == "false" || token == "null" ||
           (accept_nan_ && is_json(token, true));
}

}  // namespace coroscope::analysis::inline chrome
