// SPDX-License-Identifier: Apache-2.0
#pragma once

// The categories whose scopes are recorded. The end of a scope tests anyway whether the duration
// fits the limit of the site. No duration fits the limit 0 of a site that is switched off. So a
// recorded scope costs no instruction more.
//
// Threads: the caller must hold sites_mutex().

#include <cstdint>
#include <string_view>

#include <coroscope/site.hpp>
#include <coroscope/trace/format.hpp>

namespace coroscope::runtime::inline writer {

/// Sets the list of set_categories(), of at most categories_chars characters.
void keep_categories(std::string_view names) noexcept;

/// Returns the limit of a site: 0 if its category is switched off.
std::uint64_t limit_of_site(const site& where) noexcept;

/// Copies the list into a session's header.
void describe_categories(trace::file_header& header) noexcept;

}  // namespace coroscope::runtime::inline writer
