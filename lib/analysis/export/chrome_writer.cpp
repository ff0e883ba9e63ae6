// SPDX-License-Identifier: Apache-2.0
#include "chrome_writer.hpp"

namespace coroscope::analysis::inline exports {

bool chrome_writer::flush() {
    if (!failed_ && used_ != 0) failed_ = !sink_(std::string_view(buffer_.get(), used_));
    used_ = 0;
    return !failed_;
}

/// Writes a text that is longer than the room left: first the buffer, then the text, in the buffer
/// if it fits there.
chrome_writer& chrome_writer::pass_on(std::string_view text) {
    flush();
    if (text.size() <= buffer_bytes) return raw(text);
    if (!failed_) failed_ = !sink_(text);
    return *this;
}

}  // namespace coroscope::analysis::inline exports
