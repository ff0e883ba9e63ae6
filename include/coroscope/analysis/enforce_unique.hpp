// SPDX-License-Identifier: Apache-2.0
#pragma once

// enforce_unique: a set of keys, each of which may occur only once (torch: EnforceUnique).
//
//     enforce_unique markers;
//     if (const auto twice = markers.see(marker, launch))
//         return *twice;  // "duplicate key: (3, 17)"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <coroscope/analysis/result.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// Not thread-safe.
class enforce_unique {
public:
    /// Returns nothing for a new key, and a failure with the key for a known one. Parts must be
    /// integers or texts.
    template <class... Parts>
    [[nodiscard]] std::optional<failure> see(const Parts&... parts) {
        return see_key({text_of(parts)...});
    }

private:
    template <class Part>
    static std::string text_of(const Part& part) {
        if constexpr (std::is_integral_v<Part>)
            return std::to_string(part);
        else
            return std::string(std::string_view(part));
    }
    COROSCOPE_API std::optional<failure> see_key(std::vector<std::string> key);

    std::set<std::vector<std::string>> seen_;
};

}  // namespace coroscope::analysis
