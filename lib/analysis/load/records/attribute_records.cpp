// SPDX-License-Identifier: Apache-2.0
#include "attribute_records.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace coroscope::analysis::inline records {

using coroscope::trace::attribute_body;
using coroscope::trace::record_view;

attribute_definition read_attribute(const record_view& record, metadata& names, clock_map& clock) {
    attribute_body body{};
    const std::size_t bytes = std::min<std::size_t>(record.value(), record.payload_bytes());
    if (bytes >= sizeof(body)) std::memcpy(&body, record.payload(), sizeof(body));
    const std::size_t text_bytes = bytes >= sizeof(body) ? bytes - sizeof(body) : 0;
    const std::string_view text(reinterpret_cast<const char*>(record.payload()) + sizeof(body),
                                text_bytes);
    const std::size_t key_bytes = std::min<std::size_t>(body.key_bytes, text.size());
    return {record.id(), body.parent, names.intern(text.substr(0, key_bytes)),
            names.intern(text.substr(key_bytes, body.value_bytes)),
            record.word(0) == 0 ? optional_ns() : clock.to_signed_ns(record.word(0))};
}

}  // namespace coroscope::analysis::inline records
