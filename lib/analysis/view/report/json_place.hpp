// SPDX-License-Identifier: Apache-2.0
#pragma once

// The members "file" and "line" of a JSON object.

#include <cstdint>

#include "../../text/json_writer.hpp"
#include "../../words/places.hpp"

namespace coroscope::analysis::inline reports {

/// Writes the place of a site. Both members are null without a site or without its file.
inline json_writer& write_place(json_writer& json, const trace& loaded, std::uint32_t site) {
    const site_info* const at = find_site(loaded, site);
    if (at == nullptr || at->file.empty()) {
        json.key("file").null();
        return json.key("line").null();
    }
    return json.member("file", at->file).member("line", at->line);
}

}  // namespace coroscope::analysis::inline reports
