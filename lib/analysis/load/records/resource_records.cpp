// SPDX-License-Identifier: Apache-2.0
#include "resource_records.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <coroscope/trace/resource_format.hpp>

namespace coroscope::analysis::inline records {

using coroscope::trace::fact_kind;
using coroscope::trace::record_view;
using coroscope::trace::resource_wait_body;

bool resource_reader::reads(const record_view& fact) {
    return coroscope::trace::fact_kind_of(fact.id()) == fact_kind::resource_wait;
}

std::int64_t resource_reader::read(const record_view& fact, std::uint32_t thread, metadata& names,
                                   clock_map& clock, trace& loaded) {
    resource_wait_body body;
    if (std::min<std::size_t>(fact.value(), fact.payload_bytes()) < sizeof body) {
        ++found_.malformed;
        return 0;
    }
    std::memcpy(&body, fact.payload(), sizeof body);
    const std::uint32_t bits = coroscope::trace::fact_bits_of(fact.id());
    resource_wait wait;
    wait.end_ns = clock.to_ns(fact.word(0));
    wait.start_ns = std::min(clock.to_ns(body.start), wait.end_ns);
    if (body.released > body.start && body.released <= fact.word(0))
        wait.released_ns = clock.to_ns(body.released);
    wait.site = names.optional_site(body.site);
    wait.instance = body.instance;
    wait.capacity = coroscope::trace::resource_capacity_of(fact.id());
    wait.thread = thread;
    wait.gave_up = (bits & coroscope::trace::resource_wait_gave_up) != 0;
    wait.shared = (bits & coroscope::trace::resource_wait_shared) != 0;
    wait.holders_noted = (bits & coroscope::trace::resource_wait_holders_noted) != 0;
    wait.clipped = body.start < clock.start_ticks();
    loaded.resource_waits.push_back(wait);
    const bool handed_on = (bits & coroscope::trace::resource_wait_handed_on) != 0;
    found_.marks.push_back({body.waiter, body.holder, body.releaser, handed_on});
    return wait.end_ns;
}

}  // namespace coroscope::analysis::inline records
