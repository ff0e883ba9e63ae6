// SPDX-License-Identifier: Apache-2.0
#include "environment_words.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fault_record.hpp"

namespace coroscope::runtime::inline base {
namespace {

constinit std::atomic<bool> reported[std::size(trace::variables)]{};

}  // namespace

const char* value_of(trace::variable which) noexcept {
    const char* value = ::secure_getenv(trace::name_of(which));
    return value != nullptr && *value != '\0' ? value : nullptr;
}

int word_of(trace::variable which) noexcept {
    const char* value = value_of(which);
    if (value == nullptr) return -1;
    const auto& words = trace::row_of(which).words;
    for (int at = 0; at < static_cast<int>(std::size(words)) && words[at] != nullptr; ++at)
        if (std::strcmp(value, words[at]) == 0) return at;
    report_value(which, value);
    return -1;
}

void report_value(trace::variable which, const char* value) noexcept {
    if (reported[static_cast<std::size_t>(which)].exchange(true, std::memory_order_relaxed)) return;
    const trace::variable_row& row = trace::row_of(which);
    char line[128];
    std::snprintf(line, sizeof line, "coroscope: %s %s", row.name, row.requirement);
    fault_record{line}.note(value);
}

}  // namespace coroscope::runtime::inline base
