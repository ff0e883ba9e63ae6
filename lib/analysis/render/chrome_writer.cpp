// SPDX-License-Identifier: Apache-2.0
#include "chrome_writer.hpp"

namespace coroscope::analysis::render {

bool chrome_writer::flush() {
    if (!failed_ && used_ != 0) failed_ = !sink_(std::string_view(buffer_.get(), used_));
    used_ = 0;
    return !failed_;
}

/// What is longer than the room left: the buffer goes first, then the text, in place where it fits.
chrome_writer& chrome_writer::pass_on(std::string_view text) {
    flush();
    if (text.size() <= buffer_bytes) return raw(text);
    if (!failed_) failed_ = !sink_(text);
    return *this;
}

}  // namespace coroscope::analysis::render
