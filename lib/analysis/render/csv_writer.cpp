// SPDX-License-Identifier: Apache-2.0
#include "csv_writer.hpp"

namespace coroscope::analysis::render {

csv_writer& csv_writer::cell(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) return raw(text);
    std::string quoted = "\"";
    for (const char each : text) {
        if (each == '"') quoted += '"';
        quoted += each;
    }
    quoted += '"';
    return raw(quoted);
}

csv_writer& csv_writer::end_row() {
    out_ += '\n';
    row_is_empty_ = true;
    return *this;
}

csv_writer& csv_writer::raw(std::string_view text) {
    if (!row_is_empty_) out_ += ',';
    row_is_empty_ = false;
    out_ += text;
    return *this;
}

}  // namespace coroscope::analysis::render
