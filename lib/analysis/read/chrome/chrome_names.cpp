// SPDX-License-Identifier: Apache-2.0
#include "chrome_names.hpp"

#include <cstring>

#include "../../text/json_check.hpp"
#include "../../text/json_tokens.hpp"

namespace coroscope::analysis::inline chrome {
namespace {

// The most spellings of arrays that are remembered; others are parsed each time.
constexpr std::size_t most_spellings = std::size_t{1} << 16;

std::size_t mixed(std::string_view text) {
    if (text.empty()) return 0;
    const auto first = static_cast<unsigned char>(text.front());
    const auto last = static_cast<unsigned char>(text.back());
    const auto middle = static_cast<unsigned char>(text[text.size() / 2]);
    return text.size() * 7 + first + last * std::size_t{5} + middle * std::size_t{3};
}

}  // namespace

std::uint32_t chrome_names::text(std::string_view token) {
    const std::string_view inside = unquoted(token);
    if (inside.empty() || std::memchr(inside.data(), '\\', inside.size()) == nullptr)
        return list_.intern(inside);
    return list_.intern(unescaped(inside));
}

std::optional<std::uint32_t> chrome_names::json(std::string_view token) {
    if (token.empty()) return none;
    if (token.front() != '[' && token.front() != '{') return text(token);
    if (spellings_.size() < most_spellings) {
        const std::uint32_t spelling = spellings_.insert(token);
        if (spelling < one_line_.size()) return one_line_[spelling];
    }
    json_check check(accept_nan_);
    if (check.feed(token.data(), token.size()) != token.size() || !check.done())
        return std::nullopt;
    const std::uint32_t number = list_.intern(one_line(token));
    if (one_line_.size() < spellings_.size()) one_line_.push_back(number);
    return number;
}

const category_entry& chrome_names::category(std::string_view token) {
    category_entry& entry = categories_[mixed(token) % categories_.size()];
    const std::string_view inside = unquoted(token);
    if (entry.number == none || entry.text != inside) {
        entry.number = text(token);
        entry.text = list_.text(entry.number);
        entry.meaning = meaning_of(entry.text);
    }
    return entry;
}

std::uint32_t chrome_names::lane(std::string_view process, std::string_view thread) {
    const std::string_view process_id = unquoted(process);
    const std::string_view thread_id = unquoted(thread);
    lane_entry& entry = lanes_[(mixed(process_id) * 11 + mixed(thread_id)) % lanes_.size()];
    if (entry.number == none || entry.process != process_id || entry.thread != thread_id) {
        const std::uint32_t process_text = text(process);
        const std::uint32_t thread_text = text(thread);
        entry.process = list_.text(process_text);
        entry.thread = list_.text(thread_text);
        entry.number = list_.lane(entry.process, entry.thread);
    }
    return entry.number;
}

}  // namespace coroscope::analysis::inline chrome
