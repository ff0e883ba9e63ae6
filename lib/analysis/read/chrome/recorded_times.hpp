// SPDX-License-Identifier: Apache-2.0
#pragma once

// The times of scopes in a Chrome export of a native trace. An export has these times in the
// arguments of the bars: running, suspended, queued, waiting and self time, and a flag for a scope
// inside another one of its row. A reader knows only at the end of a file that the file is such an
// export. Until then it keeps the times apart.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <coroscope/analysis/event_list.hpp>

#include "chrome_fields.hpp"

namespace coroscope::analysis::inline chrome {

class recorded_times {
public:
    /// Keeps the times from the arguments of a row. If a row is taken back, the next row has the
    /// same number.
    void take(const chrome_arguments& arguments, std::size_t row);

    /// Gives the times to the rows of an export. Bars of tasks, slices and awaits are not scopes,
    /// and are hidden.
    void give_to(event_list& list);

private:
    struct entry {
        std::size_t row = 0;
        time_split split;
        std::int64_t self_ns = -1;
        bool nested = false;
        bool unknown = false;
    };

    std::vector<entry> entries_;
};

}  // namespace coroscope::analysis::inline chrome
