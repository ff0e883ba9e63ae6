// SPDX-License-Identifier: Apache-2.0
#include "chrome_reader.hpp"

#include <algorithm>
#include <utility>

#include "../../text/json_check.hpp"
#include "../../text/json_tokens.hpp"
#include "../../text/number_text.hpp"

namespace coroscope::analysis::inline chrome {
namespace {

// Members beside the events are read only if they are short. A run on thousands of nodes lists
// groups of nodes.
constexpr std::size_t longest_member = std::size_t{1} << 20;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Returns the rank in the object "distributedInfo", or -1 if there is none.
std::int64_t rank_of(std::string_view value) {
    simdjson::dom::parser parser;
    std::int64_t rank = -1;
    const simdjson::padded_string text(value);
    if (parser.parse(text)["rank"].get_int64().get(rank) != simdjson::SUCCESS) return -1;
    return std::max<std::int64_t>(rank, -1);
}

/// Returns whether "otherData" names Coroscope as the producer.
bool is_own(std::string_view value) {
    simdjson::dom::parser parser;
    std::string_view producer;
    const simdjson::padded_string text(value);
    return parser.parse(text)["producer"].get_string().get(producer) == simdjson::SUCCESS &&
           producer == "coroscope";
}

}  // namespace

chrome_reader::chrome_reader(byte_source& source, const load_options& options)
    : source_(source),
      options_(options),
      window_(source),
      odd_(options.strict),
      parser_(options.keep_arguments, options.accept_nan),
      events_(
          list_, options, odd_, [this] { return share_read(); },
          [this](const char* event) {
              return window_.offset() + static_cast<std::uint64_t>(event - window_.data());
          }) {}

result<event_list> chrome_reader::read() {
    const bool whole = read_document();
    if (source_.problem()) return *source_.problem();
    if (failure_) return *failure_;
    if (events_.taken() == 0 && odd_.any()) return odd_.first();
    odd_.warn_of(list_.health.warnings);
    if (!whole && truncated_) {
        const std::uint64_t end = window_.offset() + window_.size();
        list_.health.warnings.push_back("the file ends too early, at byte " + std::to_string(end) +
                                        ": " + std::to_string(events_.taken()) +
                                        " events were read before that");
    }
    events_.finish(is_own_);
    return std::move(list_);
}

bool chrome_reader::read_document() {
    window_.fill();
    if (std::string_view(window_.data(), window_.size()).starts_with(byte_order_mark))
        window_.pass(byte_order_mark.size());
    if (!skip_blanks()) return fail("is empty");
    const bool is_array = *window_.data() == '[';
    if (!is_array && *window_.data() != '{')
        return fail("is no trace that coroscope reads: neither one of Coroscope's, nor JSON, which "
                    "begins with { or [");
    window_.pass(1);
    if (!(is_array ? read_events() : read_members())) return false;
    if (skip_blanks()) return fail("there is text behind the end of the document");
    return found_events_ || fail("has no \"traceEvents\": it is JSON, but no Chrome trace");
}

bool chrome_reader::read_members() {
    if (!skip_blanks()) return cut_short();
    if (*window_.data() == '}') {
        window_.pass(1);
        return true;
    }
    for (;;) {
        if (!skip_blanks()) return cut_short();
        if (!read_member()) return false;
        if (!skip_blanks()) return cut_short();
        const char byte = *window_.data();
        if (byte != ',' && byte != '}') return fail("there is neither ',' nor '}' after a member");
        window_.pass(1);
        if (byte == '}') return true;
    }
}

bool chrome_reader::read_member() {
    std::string key;
    if (*window_.data() != '"') return fail("there is no key");
    if (!read_value(key)) return false;
    if (!skip_blanks()) return cut_short();
    if (*window_.data() != ':') return fail("there is no ':' after a key");
    window_.pass(1);
    if (!skip_blanks()) return cut_short();
    if (key == "\"traceEvents\"" && *window_.data() == '[') {
        if (found_events_) return fail("there is a second \"traceEvents\"");
        window_.pass(1);
        return read_events();
    }
    std::string value;
    if (!read_value(value)) return false;
    note_member(key, value);
    return true;
}

/// Reads one value. `into` gets its text, cut to longest_member.
bool chrome_reader::read_value(std::string& into) {
    json_check check(options_.accept_nan);
    for (;;) {
        const std::size_t taken = check.feed(window_.data(), window_.size());
        into.append(window_.data(), std::min(taken, longest_member - into.size()));
        window_.pass(taken);
        if (check.problem() != nullptr) return fail(check.problem());
        if (check.done()) return true;
        if (window_.at_end()) return cut_short();
        window_.fill();
    }
}

void chrome_reader::note_member(std::string_view key, std::string_view value) {
    const std::string_view token = trimmed(value);
    if (key == "\"trace_id\"" && is_string(token)) list_.trace_id = unescaped(unquoted(token));
    if (key == "\"distributedInfo\"") list_.node = rank_of(token);
    if (key == "\"otherData\"") is_own_ = is_own(token);
    const auto number = integer<std::int64_t>(unquoted(token));
    if (!number) return;
    const bool set = *number != 0;
    if (key == "\"baseTimeNanoseconds\"") list_.base_realtime_ns = *number;
    if (key == "\"record_shapes\"") list_.shapes = list_.shapes || set;
    if (key == "\"with_stack\"") list_.stacks = list_.stacks || set;
    if (key == "\"profile_memory\"") list_.memory_profile = list_.memory_profile || set;
    if (key == "\"with_flops\"") list_.flops = list_.flops || set;
}

/// Estimates the share of the text that was parsed, from 0 to 1. The estimate is rather too small
/// than too large.
double chrome_reader::share_read() const {
    const auto parsed = static_cast<double>(window_.offset());
    return source_.progress() * parsed / (parsed + static_cast<double>(window_.size()));
}

/// Returns false at the end of the text.
bool chrome_reader::skip_blanks() {
    for (;;) {
        const std::size_t blanks = behind_blanks({window_.data(), window_.size()}, 0);
        window_.pass(blanks);
        if (window_.size() != 0) return true;
        if (window_.at_end()) return false;
        window_.fill();
    }
}

bool chrome_reader::fail(std::string message, std::size_t at) {
    failure_ = failure{std::move(message), window_.offset() + at};
    return false;
}

/// Handles a text that ends too early: keeps the events that were read, or fails if there are none.
bool chrome_reader::cut_short() {
    window_.pass(window_.size());
    if (events_.taken() == 0) return fail("ends too early: there is no complete event in it");
    truncated_ = true;
    return false;
}

}  // namespace coroscope::analysis::inline chrome
