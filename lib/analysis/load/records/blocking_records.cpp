// SPDX-License-Identifier: Apache-2.0
#include "blocking_records.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>

namespace coroscope::analysis::inline records {

using coroscope::trace::blocking_call_body;
using coroscope::trace::fact_kind;
using coroscope::trace::record_view;

namespace {

/// A damaged duration must not wrap around.
std::uint64_t end_ticks(std::uint64_t start, std::uint64_t duration) {
    const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - start;
    return start + std::min(duration, room);
}

}  // namespace

bool is_blocking_call(const record_view& fact) {
    return coroscope::trace::fact_kind_of(fact.id()) == fact_kind::blocking_call;
}

std::int64_t read_blocking_call(const record_view& fact, std::uint32_t thread, clock_map& clock,
                                trace& loaded, blocking_records& found) {
    blocking_call_body body;
    if (std::min<std::size_t>(fact.value(), fact.payload_bytes()) < sizeof body) {
        ++found.malformed;
        return 0;
    }
    std::memcpy(&body, fact.payload(), sizeof body);
    blocking_call call;
    call.start_ns = clock.to_ns(fact.word(0));
    call.end_ns = std::max(call.start_ns, clock.to_ns(end_ticks(fact.word(0), body.duration)));
    call.thread = thread;
    call.function = coroscope::trace::blocked_function_of(fact.id());
    call.descriptor = coroscope::trace::descriptor_kind_of(fact.id());
    loaded.blocking_calls.push_back(call);
    found.task_ids.push_back(coroscope::trace::mark_task(body.mark));
    return call.end_ns;
}

}  // namespace coroscope::analysis::inline records
