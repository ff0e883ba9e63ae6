// SPDX-License-Identifier: Apache-2.0
#include "range_faults.hpp"

#include <coroscope/range.hpp>

#include "../base/fault_record.hpp"

namespace coroscope {
namespace runtime::inline scopes {
namespace {

// Indexed by range_fault. An end after a stop is not a misuse; the trace counts it.
constinit fault_record faults[] = {
    {nullptr},
    {"coroscope: a record_function was destroyed before the future it is attached to completed, "
     "and ended there; use coroscope::range, whose handle is shared"},
    {"coroscope: call_end_callbacks_on_future can only be called once per range; the future was "
     "given back as it was"},
    {"coroscope: an end callback of a range threw; the exception was dropped"},
};

}  // namespace

void count_fault(range_fault kind) noexcept { record_of(faults, kind).note(); }

}  // namespace runtime::inline scopes

range_faults current_range_faults() noexcept {
    using runtime::range_fault;
    const auto seen = [](range_fault kind) { return record_of(runtime::faults, kind).seen(); };
    return {seen(range_fault::end_after_stop), seen(range_fault::borrowed_died),
            seen(range_fault::attached_twice), seen(range_fault::callback_threw)};
}

}  // namespace coroscope
