// SPDX-License-Identifier: Apache-2.0
#include "categories.hpp"

#include <algorithm>
#include <iterator>

#include <coroscope/categories.hpp>
#include <coroscope/config.hpp>

namespace coroscope::runtime::inline writer {
namespace {

constinit char list[categories_chars + 1] = "";  // empty: all
static_assert(sizeof list <= sizeof trace::file_header::categories);

bool is_recorded(const site& where) noexcept {
    const bool has_category = where.kind == site_kind::scope || where.kind == site_kind::function;
    return list[0] == '\0' || !has_category || detail::category_enabled(list, where.category);
}

}  // namespace

void keep_categories(std::string_view names) noexcept {
    std::fill(std::copy(names.begin(), names.end(), list), std::end(list), '\0');
}

std::uint64_t limit_of_site(const site& where) noexcept {
    return is_recorded(where) ? site::registered_limit : 0;
}

void describe_categories(trace::file_header& header) noexcept {
    std::copy(std::begin(list), std::end(list), header.categories);
}

}  // namespace coroscope::runtime::inline writer
