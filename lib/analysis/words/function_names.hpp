// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes the names of functions short and unique. Names may be equal or very long: overloads,
// lambdas on one line, equal names in two anonymous namespaces, long lists of template arguments.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline words {

/// Shortens labels that the recorder made from names of functions and that are longer than this.
/// The innermost lists of template arguments become "<…>" first. A label that would become equal to
/// another one stays longer.
inline constexpr std::size_t longest_function_name = 100;
void shorten_function_names(std::span<site_info> sites);

/// Returns for each site the name of its events, or an empty text if that is the site's label. If
/// several functions have one label and one category, their names end with the place: "app::load
/// (store.cpp:12)".
[[nodiscard]] std::vector<std::string> distinct_function_names(std::span<const site_info> sites);

}  // namespace coroscope::analysis::inline words
