// SPDX-License-Identifier: Apache-2.0
#pragma once

// The demonstration data: the contents of a new database, which the load client relies on.
// Everything is a pure function of the index.

#include <cstddef>
#include <string>
#include <string_view>

namespace http_service::catalogue {

inline constexpr std::size_t size = 20'000;

/// `item-00042`
[[nodiscard]] std::string key(std::size_t index);

/// A few dozen words that end in the item's serial number, `serial-00042`.
[[nodiscard]] std::string value(std::size_t index);

/// A text that about one item in fifty contains: a search finds enough of them soon.
[[nodiscard]] std::string common_text(std::size_t index);

/// A text that only the given item contains: a search reads the whole catalogue.
[[nodiscard]] std::string rare_text(std::size_t index);

}  // namespace http_service::catalogue
