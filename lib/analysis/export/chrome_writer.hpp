// SPDX-License-Identifier: Apache-2.0
#pragma once

// The bytes of a Chrome trace: a buffer and the few forms of number that the format has. Text that
// goes through `raw` must be JSON already.

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include <coroscope/analysis/chrome.hpp>

namespace coroscope::analysis::inline exports {

class chrome_writer {
public:
    explicit chrome_writer(const byte_sink& sink)
        : sink_(sink), buffer_(std::make_unique<char[]>(buffer_bytes)) {}

    chrome_writer& raw(std::string_view text) {
        if (text.size() > buffer_bytes - used_) return pass_on(text);
        std::memcpy(buffer_.get() + used_, text.data(), text.size());
        used_ += text.size();
        return *this;
    }

    chrome_writer& integer(std::int64_t value) {
        make_room();
        used_ = static_cast<std::size_t>(std::to_chars(at(), end(), value).ptr - buffer_.get());
        return *this;
    }

    /// Writes nanoseconds, which must not be negative, as microseconds with three decimals. Uses
    /// integers only, so that no digit is lost.
    chrome_writer& microseconds(std::int64_t nanoseconds) {
        make_room();
        char* to = std::to_chars(at(), end(), nanoseconds / 1000).ptr;
        const auto rest = static_cast<unsigned>(nanoseconds % 1000);
        *to++ = '.';
        *to++ = static_cast<char>('0' + rest / 100);
        *to++ = static_cast<char>('0' + rest / 10 % 10);
        *to++ = static_cast<char>('0' + rest % 10);
        used_ = static_cast<std::size_t>(to - buffer_.get());
        return *this;
    }

    /// Writes the shortest decimal that is read as the same number.
    chrome_writer& real(double value) {
        make_room();
        used_ = static_cast<std::size_t>(
            std::to_chars(at(), end(), value, std::chars_format::fixed).ptr - buffer_.get());
        return *this;
    }

    /// Writes an id as a hexadecimal string with "0x": viewers read "10" as hexadecimal, too.
    chrome_writer& id(std::uint64_t value) {
        raw("\"0x");
        make_room();
        used_ = static_cast<std::size_t>(std::to_chars(at(), end(), value, 16).ptr - buffer_.get());
        return raw("\"");
    }

    /// Passes the rest of the buffer to the sink. Returns false if the sink refused any byte of the
    /// export.
    bool flush();

    [[nodiscard]] bool failed() const noexcept { return failed_; }

private:
    static constexpr std::size_t buffer_bytes = std::size_t{1} << 20;
    static constexpr std::size_t longest_number = 32;

    char* at() const noexcept { return buffer_.get() + used_; }
    char* end() const noexcept { return buffer_.get() + buffer_bytes; }
    void make_room() {
        if (buffer_bytes - used_ < longest_number) flush();
    }
    chrome_writer& pass_on(std::string_view text);

    const byte_sink& sink_;
    std::unique_ptr<char[]> buffer_;
    std::size_t used_ = 0;
    bool failed_ = false;
};

}  // namespace coroscope::analysis::inline exports
