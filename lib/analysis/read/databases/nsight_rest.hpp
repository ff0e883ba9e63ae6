// SPDX-License-Identifier: Apache-2.0
#pragma once

// The tables of a database of Nsight Systems that are not read.

#include <span>
#include <string>
#include <vector>

#include "../sqlite_database.hpp"

namespace coroscope::analysis::inline databases {

/// Adds a warning with each table that has rows with a start and an end and is not among `read`.
void warn_of_other_tables(sqlite_database& database, std::span<const char* const> read,
                          std::vector<std::string>& warnings);

}  // namespace coroscope::analysis::inline databases
