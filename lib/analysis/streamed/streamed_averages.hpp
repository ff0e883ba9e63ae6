// SPDX-License-Identifier: Apache-2.0
#pragma once

// key_averages() from the records of a trace, without its events. Needs little memory for a scope.

#include <cstdint>
#include <optional>
#include <vector>

#include <coroscope/analysis/averages.hpp>
#include <coroscope/trace/reader.hpp>

#include "../answer/running_total.hpp"
#include "../load/load_native.hpp"

namespace coroscope::analysis::inline streamed {

/// Returns false if rows by that key need the events of this trace. Looks at the records alone, up
/// to the first one that decides, so that a trace need not be loaded twice.
[[nodiscard]] bool may_stream(const coroscope::trace::reader& input, average_key key);

/// The averages, and the self times of all scopes.
struct streamed_rows {
    std::vector<function_event_avg> rows;
    self_times self;
};

/// Returns the rows that key_averages() would return, or nothing if they need the events. The
/// result does not depend on `jobs`, the number of threads. Precondition: may_stream().
[[nodiscard]] std::optional<streamed_rows> streamed_averages(const loaded_streams& streams,
                                                             average_key key, unsigned jobs);

}  // namespace coroscope::analysis::inline streamed
