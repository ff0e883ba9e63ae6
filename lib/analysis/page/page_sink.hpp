// SPDX-License-Identifier: Apache-2.0
#pragma once

// The bytes of a page, and its script elements with data. docs/contributing/report_data.md
// describes the elements. No byte of a block can end its element.

#include <cstdint>
#include <string>
#include <string_view>

#include <coroscope/analysis/chrome.hpp>

namespace coroscope::analysis::inline pages {

/// Passes bytes on until the sink refuses some.
class page_sink {
public:
    /// `to` must outlive it.
    explicit page_sink(const byte_sink& to) : to_(to) {}

    bool write(std::string_view text) {
        good_ = good_ && (text.empty() || to_(text));
        return good_;
    }
    [[nodiscard]] bool good() const noexcept { return good_; }

    /// Begins an element of that type ("application/json") and id.
    void begin_block(std::string_view type, std::string_view id);
    void end_block() { write("</script>\n"); }

private:
    const byte_sink& to_;
    bool good_ = true;
};

/// Returns JSON text with escapes for the characters that HTML or JavaScript treat specially: "<",
/// ">", "&", U+2028 and U+2029. They occur in strings only, so the value is the same.
[[nodiscard]] std::string inert_json(std::string_view json);

/// Returns `text` as text of an HTML element or of a quoted attribute.
[[nodiscard]] std::string inert_html(std::string_view text);

/// Passes bytes on in base64.
class base64_sink {
public:
    /// `to` must outlive it.
    explicit base64_sink(page_sink& to) : to_(to) {}
    bool write(std::string_view bytes);
    /// Must be called once, after the last byte.
    bool finish();

private:
    void put(std::uint32_t three_bytes, int characters);

    page_sink& to_;
    std::string out_;
    std::uint32_t held_ = 0;
    int held_bytes_ = 0;
};

}  // namespace coroscope::analysis::inline pages
