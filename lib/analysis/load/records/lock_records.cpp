// SPDX-License-Identifier: Apache-2.0
#include "lock_records.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>

namespace coroscope::analysis::inline records {

using coroscope::trace::fact_kind;
using coroscope::trace::lock_wait_body;
using coroscope::trace::record_view;

bool is_lock_wait(const record_view& fact) {
    return coroscope::trace::fact_kind_of(fact.id()) == fact_kind::lock_wait;
}

std::int64_t read_lock_wait(const record_view& fact, std::uint32_t thread, clock_map& clock,
                            trace& loaded, lock_records& found) {
    lock_wait_body body;
    if (std::min<std::size_t>(fact.value(), fact.payload_bytes()) < sizeof body) {
        ++found.malformed;
        return 0;
    }
    std::memcpy(&body, fact.payload(), sizeof body);
    const std::uint64_t start = fact.word(0);
    // A damaged duration must not wrap around.
    const std::uint64_t end =
        start + std::min(body.duration, std::numeric_limits<std::uint64_t>::max() - start);
    const std::uint32_t bits = coroscope::trace::lock_wait_bits_of(fact.id());
    lock_wait wait;
    wait.start_ns = clock.to_ns(start);
    wait.end_ns = std::max(wait.start_ns, clock.to_ns(end));
    if (body.released > start && body.released <= end)
        wait.released_ns = std::clamp(clock.to_ns(body.released), wait.start_ns, wait.end_ns);
    wait.address = body.address;
    wait.waiter.thread = thread;
    wait.holder_os_id = body.holder;
    wait.kind = coroscope::trace::lock_kind_of(fact.id());
    wait.gave_up = (bits & coroscope::trace::lock_wait_gave_up) != 0;
    wait.began_before =
        (bits & coroscope::trace::lock_wait_began_before) != 0 || start < clock.start_ticks();
    loaded.lock_waits.push_back(wait);
    found.marks.push_back({body.waiter, wait.released_ns ? body.releaser : 0});
    return wait.end_ns;
}

}  // namespace coroscope::analysis::inline records
