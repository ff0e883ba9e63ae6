// SPDX-License-Identifier: Apache-2.0
#include "thread_counts.hpp"

#include "thread_record.hpp"

namespace coroscope::runtime::inline writer {
namespace {

// Returns the thread's counters in the session that it records into; null if there is no session.
trace::thread_body* counters() noexcept {
    const thread_record* record = detail::this_thread.record;
    return record == nullptr || record->current == nullptr ? nullptr : record->current->body;
}

template <class Count>
void count(Count trace::thread_body::* counter) noexcept {
    if (trace::thread_body* const body = counters(); body != nullptr)
        __atomic_fetch_add(&(body->*counter), 1U, __ATOMIC_RELAXED);
}

}  // namespace

void count_truncated() noexcept { count(&trace::thread_body::truncated_payloads); }
void count_attribute_without_room() noexcept {
    count(&trace::thread_body::attributes_without_room);
}
void count_place_without_room() noexcept { count(&trace::thread_body::places_without_room); }

}  // namespace coroscope::runtime::inline writer
