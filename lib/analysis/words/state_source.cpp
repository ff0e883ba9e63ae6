// SPDX-License-Identifier: Apache-2.0
#include "state_source.hpp"

#include <fmt/format.h>

#include "../text/utf8.hpp"

namespace coroscope::analysis::inline words {

using coroscope::trace::thread_state_source;

std::string state_source_text(const thread_states& states) {
    const auto with_reason = [&states](std::string_view what) {
        return states.message.empty() ? std::string(what)
                                      : fmt::format("{} ({})", what, printable(states.message));
    };
    switch (states.source) {
        case thread_state_source::switches: return with_reason("each context switch");
        case thread_state_source::samples: return with_reason("samples");
        case thread_state_source::refused: return with_reason("not recorded");
        case thread_state_source::none: break;
    }
    return "not asked for";
}

std::string_view state_source_name(const thread_states& states) noexcept {
    switch (states.source) {
        case thread_state_source::switches: return "switches";
        case thread_state_source::samples: return "samples";
        case thread_state_source::refused: return "refused";
        case thread_state_source::none: break;
    }
    return "none";
}

}  // namespace coroscope::analysis::inline words
