// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis {

std::uint32_t attribute_value(const trace& loaded, std::uint32_t attribute, std::string_view key) {
    // A chain longer than there are attributes runs in a circle.
    for (std::size_t step = 0;
         attribute < loaded.attributes.size() && step < loaded.attributes.size(); ++step) {
        const attribute_info& info = loaded.attributes[attribute];
        if (info.unknown) return info.value;
        if (info.key < loaded.strings.size() && loaded.strings[info.key] == key) return info.value;
        attribute = info.parent;
    }
    return none;
}

}  // namespace coroscope::analysis
