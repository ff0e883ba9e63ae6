// SPDX-License-Identifier: Apache-2.0
#pragma once

// The values that one key has where each attribute is carried. Chains of attributes are shared, so that what is found
// for one is kept for all that it stands on: reading every attribute takes as many steps as there are attributes.

#include <cstdint>
#include <string_view>
#include <vector>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::events {

class attribute_values {
public:
    /// Both must outlive it.
    attribute_values(const trace& loaded, std::string_view key) : loaded_(loaded), key_(key) {}

    /// What attribute_value() says.
    std::uint32_t of(std::uint32_t attribute) {
        if (values_.empty()) values_.resize(loaded_.attributes.size(), unread);
        passed_.clear();
        std::uint32_t value = none;
        for (std::uint32_t at = attribute; at < values_.size();
             at = loaded_.attributes[at].parent) {
            if (values_[at] != unread) {  // read before; or on the way here, in a circle without it
                value = values_[at];
                break;
            }
            passed_.push_back(at);
            values_[at] = none;
            const attribute_info& info = loaded_.attributes[at];
            if (info.key >= loaded_.strings.size() || loaded_.strings[info.key] != key_) continue;
            value = info.value;
            break;
        }
        for (const std::uint32_t each : passed_) values_[each] = value;
        return value;
    }

private:
    static constexpr std::uint32_t unread = none - 1;

    const trace& loaded_;
    std::string_view key_;
    std::vector<std::uint32_t> values_;  // by attribute
    std::vector<std::uint32_t> passed_;  // on the way at hand
};

}  // namespace coroscope::analysis::events
