// SPDX-License-Identifier: Apache-2.0
#include "observer_faults.hpp"

#include <coroscope/observer.hpp>

#include "../base/fault_record.hpp"

namespace coroscope {
namespace runtime::inline observers {
namespace {

// Indexed by observer_fault.
constinit fault_record faults[] = {
    {"coroscope: an observer's callback threw; the exception was dropped: "},
    {"coroscope: remove_observer() was given a handle that names no observer (any more)"},
    {"coroscope: there is no memory to observe a scope"},
    {"coroscope: a scope has more inputs or outputs than observers are shown"},
};

}  // namespace

void count_fault(observer_fault kind, const char* text) noexcept {
    record_of(faults, kind).note(text);
}

}  // namespace runtime::inline observers

observer_faults current_observer_faults() noexcept {
    using runtime::observer_fault;
    const auto seen = [](observer_fault kind) { return record_of(runtime::faults, kind).seen(); };
    return {seen(observer_fault::callback_threw), seen(observer_fault::unknown_handle),
            seen(observer_fault::no_memory), seen(observer_fault::text_cut)};
}

}  // namespace coroscope
