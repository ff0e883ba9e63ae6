// SPDX-License-Identifier: Apache-2.0

// Traces of other profilers: Chrome's JSON, gzip and databases, whichever the input resembles.

#include "target.hpp"

#include <coroscope/analysis/load_events.hpp>

namespace coroscope_fuzz {

void feed(std::string_view bytes) {
    namespace analysis = coroscope::analysis;
    const auto trace = coroscope::trace::buffer::copy(bytes.data(), bytes.size());
    for (const bool lenient : {false, true}) {
        const auto loaded =
            analysis::load_events(trace, {.keep_arguments = lenient, .accept_nan = lenient});
        if (loaded)
            ask_all(*loaded);
        else
            check_failure(loaded.error().message);
    }
}

}  // namespace coroscope_fuzz
