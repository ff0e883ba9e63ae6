// SPDX-License-Identifier: Apache-2.0
#pragma once

// The values that one key has under each attribute. Chains of attributes are shared, so the value
// that is found for one is kept for all attributes beneath it: reading every attribute takes as
// many steps as there are attributes.

#include <cstdint>
#include <string_view>
#include <vector>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline model {

class attribute_values {
public:
    /// Both arguments must outlive the object.
    attribute_values(const trace& loaded, std::string_view key) : loaded_(loaded), key_(key) {}

    /// The same as attribute_value().
    std::uint32_t of(std::uint32_t attribute) {
        if (values_.empty()) values_.resize(loaded_.attributes.size(), unread);
        passed_.clear();
        std::uint32_t value = none;
        for (std::uint32_t at = attribute; at < values_.size();
             at = loaded_.attributes[at].parent) {
            if (values_[at] != unread) {  // known, or visited by this call: a cycle without the key
                value = values_[at];
                break;
            }
            passed_.push_back(at);
            values_[at] = none;
            const attribute_info& info = loaded_.attributes[at];
            value = info.value;
            if (info.unknown) break;
            value = none;
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
    std::vector<std::uint32_t> passed_;  // by the current call
};

}  // namespace coroscope::analysis::inline model
