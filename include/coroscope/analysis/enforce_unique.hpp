// SPDX-License-Identifier: Apache-2.0
#pragma once

// enforce_unique: a key that may be seen once (torch: EnforceUnique).
//
//     enforce_unique markers;
//     if (const auto twice = markers.see(marker, launch)) return *twice;  // "duplicate key: (3, 17)"

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
    /// Nothing at a key's first sight, a failure that names it at each other. Parts are integers and texts.
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
