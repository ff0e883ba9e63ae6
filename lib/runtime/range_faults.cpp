// SPDX-License-Identifier: Apache-2.0
#include "range_faults.hpp"

#include <atomic>
#include <cstddef>
#include <cstring>

#include <unistd.h>

#include <coroscope/range.hpp>

namespace coroscope {
namespace runtime {
namespace {

struct fault_record {
    const char* line;
    std::atomic<std::uint64_t> count{0};
};

// By range_fault. What comes after a stop is nobody's mistake, and is told by the trace.
constinit fault_record faults[] = {
    {nullptr},
    {"coroscope: a record_function was destroyed before the future it is attached to completed, "
     "and ended there; "
     "use coroscope::range, whose handle is shared\n"},
    {"coroscope: call_end_callbacks_on_future can only be called once per range; the future was "
     "given back as it "
     "was\n"},
    {"coroscope: an end callback of a range threw; the exception was dropped\n"},
};

fault_record& record_of(range_fault kind) noexcept {
    return faults[static_cast<std::size_t>(kind)];
}

std::uint64_t count_of(range_fault kind) noexcept {
    return record_of(kind).count.load(std::memory_order_relaxed);
}

}  // namespace

void count_fault(range_fault kind) noexcept {
    fault_record& fault = record_of(kind);
    const bool first = fault.count.fetch_add(1, std::memory_order_relaxed) == 0;
    if (!first || fault.line == nullptr) return;
    if (::write(STDERR_FILENO, fault.line, std::strlen(fault.line)) < 0)
        return;  // nobody reads: it is counted
}

}  // namespace runtime

range_faults current_range_faults() noexcept {
    using runtime::count_of;
    using runtime::range_fault;
    return {count_of(range_fault::end_after_stop), count_of(range_fault::borrowed_died),
            count_of(range_fault::attached_twice), count_of(range_fault::callback_threw)};
}

}  // namespace coroscope
