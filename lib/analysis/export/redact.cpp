// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/redact.hpp>

#include <algorithm>

#include "../text/glob.hpp"

namespace coroscope::analysis {
namespace {

/// Replaces indices of texts by that of redacted_text.
class text_redaction {
public:
    explicit text_redaction(std::vector<std::string>& texts) : texts_(texts) {}

    void replace(std::uint32_t& text) {
        if (text >= texts_.size() || text == replacement_) return;
        if (replacement_ == none) {
            replacement_ = static_cast<std::uint32_t>(texts_.size());
            texts_.emplace_back(redacted_text);
            is_replaced_.resize(texts_.size());
        }
        is_replaced_[text] = true;
        text = replacement_;
        ++count_;
    }

    /// Must be called with each index that is still in use.
    void keep(std::uint32_t text) {
        if (text < is_replaced_.size()) is_replaced_[text] = false;
    }

    /// Overwrites the texts that are no longer in use.
    void overwrite_rest() {
        for (std::size_t at = 0; at < is_replaced_.size(); ++at)
            if (is_replaced_[at]) texts_[at] = redacted_text;
    }

    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

private:
    std::vector<std::string>& texts_;
    std::vector<bool> is_replaced_;
    std::uint32_t replacement_ = none;
    std::uint64_t count_ = 0;
};

bool names_attribute(const trace& from, const redaction& what, const attribute_info& attribute) {
    if (attribute.unknown || attribute.key >= from.strings.size()) return false;
    return std::ranges::any_of(what.attributes, [&](const std::string& pattern) {
        return matches_glob(pattern, from.strings[attribute.key]);
    });
}

/// Texts of the trace that stay, as far as a redacted value can have their number.
void keep_texts(const trace& from, text_redaction& texts) {
    for (const event& each : from.events) texts.keep(each.name);
    for (const event_detail& each : from.details) texts.keep(each.arguments);
    for (const attribute_info& each : from.attributes) {
        texts.keep(each.key);
        texts.keep(each.value);
    }
    for (const event_note& each : from.notes)
        for (const std::uint32_t text :
             {each.input_shapes, each.input_strides, each.input_types, each.concrete_inputs})
            texts.keep(text);
    for (const stream_info& each : from.streams) texts.keep(each.name);
    for (const request_info& each : from.requests) texts.keep(each.name);
    for (const device_activity& each : from.device_activities) texts.keep(each.name);
    for (const device_range& each : from.device_ranges) texts.keep(each.name);
}

}  // namespace

std::uint64_t redact(trace& from, const redaction& what) {
    std::vector<bool> is_named(from.attributes.size());
    for (std::size_t at = 0; at < is_named.size(); ++at)
        is_named[at] = names_attribute(from, what, from.attributes[at]);
    text_redaction texts(from.strings);
    for (std::size_t at = 0; at < is_named.size(); ++at)
        if (is_named[at]) texts.replace(from.attributes[at].value);
    if (what.arguments) {
        for (event_detail& each : from.details) texts.replace(each.arguments);
        for (event_note& each : from.notes) texts.replace(each.concrete_inputs);
    }
    keep_texts(from, texts);
    texts.overwrite_rest();
    return texts.count();
}

std::uint64_t redact(event_list& from, const redaction& what) {
    if (!what.arguments) return 0;
    const std::uint32_t replacement = from.intern(redacted_text);
    std::uint64_t count = 0;
    for (event_extra& each : from.extras) {
        for (std::uint32_t* const text : {&each.concrete_inputs, &each.keyword_inputs}) {
            if (*text == none) continue;
            *text = replacement;
            ++count;
        }
        for (std::uint32_t* const text : {&each.metadata, &each.members}) {
            if (*text == none) continue;
            *text = none;
            ++count;
        }
    }
    return count;
}

}  // namespace coroscope::analysis
