// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>

#include <coroscope/observer.hpp>

#include "observer_registry.hpp"

namespace coroscope {
namespace runtime {
namespace {

struct fault_record {
    const char* line;
    std::atomic<std::uint64_t> count{0};
};

// By observer_fault.
constinit fault_record faults[] = {
    {"coroscope: an observer's callback threw; the exception was dropped: "},
    {"coroscope: remove_observer() was given a handle that names no observer (any more)"},
    {"coroscope: there is no memory to observe a scope"},
    {"coroscope: a scope has more inputs or outputs than observers are shown"},
};

fault_record& record_of(observer_fault kind) noexcept {
    return faults[static_cast<std::size_t>(kind)];
}

std::uint64_t count_of(observer_fault kind) noexcept {
    return record_of(kind).count.load(std::memory_order_relaxed);
}

}  // namespace

void count_fault(observer_fault kind, const char* text) noexcept {
    fault_record& fault = record_of(kind);
    if (fault.count.fetch_add(1, std::memory_order_relaxed) != 0) return;
    char line[512];
    const int length = std::snprintf(line, sizeof line, "%s%.256s\n", fault.line, text);
    const auto size = std::min(static_cast<std::size_t>(std::max(length, 0)), sizeof line - 1);
    if (::write(STDERR_FILENO, line, size) < 0) return;  // nobody reads: it is counted
}

}  // namespace runtime

observer_faults current_observer_faults() noexcept {
    using runtime::count_of;
    using runtime::observer_fault;
    return {count_of(observer_fault::callback_threw), count_of(observer_fault::unknown_handle),
            count_of(observer_fault::no_memory), count_of(observer_fault::text_cut)};
}

}  // namespace coroscope
