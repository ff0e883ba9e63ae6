// SPDX-License-Identifier: Apache-2.0
#pragma once

// Switches the recording of categories of scopes on and off while sessions run.
//
//   coroscope::set_categories("*,-cache");  // all categories but this one
//   coroscope::set_categories("net,db");    // only these
//   coroscope::set_categories("*");         // all, as at first
//
// A category that COROSCOPE_CATEGORIES (config.hpp) compiles out cannot be switched on.

#include <cstddef>

#include <coroscope/detail/export.hpp>

namespace coroscope {

/// The longest list of categories, in characters.
inline constexpr std::size_t categories_chars = 159;

/// Sets the categories whose scopes are recorded from now on, in the whole process and in all
/// sessions. `list` has the form of COROSCOPE_CATEGORIES; scopes without a category have the
/// category "". The list applies only to the macros of scopes (COROSCOPE, COROSCOPE_FUNCTION,
/// COROSCOPE_ARGS, COROSCOPE_CAT), because requests, awaits, ranges and tasks have no categories.
/// The trace has the list.
///
/// The call takes effect on all threads at once. The category decides at the end of a scope, so a
/// scope that is open during the call is recorded if its category is in the new list. There are
/// exceptions for a category that was off at the begin: the scope has no arguments, and it is not
/// recorded if something else makes its begin slow (observers, stacks, named open scopes).
///
/// A recorded scope costs no more than without this function. A scope that is switched off still
/// costs its two clock readings.
///
/// Returns false, and changes nothing, if the list is null or longer than categories_chars. Any
/// thread may call it. It takes a lock.
COROSCOPE_API bool set_categories(const char* list) noexcept;

}  // namespace coroscope
