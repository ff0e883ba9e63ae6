// SPDX-License-Identifier: Apache-2.0
#include "request_sampling.hpp"

#include <iterator>

#include <coroscope/trace/await_format.hpp>

#include "../tasks/left_out.hpp"
#include "../writer/recorder.hpp"
#include "../writer/session_table.hpp"
#include "scope_places.hpp"

namespace coroscope::detail {
namespace {

using namespace runtime;

// The site at which a task is suspended in the trace while it is left out.
constinit site left_out_site{"request left out", std::source_location(), site_kind::request};

// Writes a record of a new interval. The first request under the interval does so.
void tell_interval(session& owner, std::uint32_t interval) noexcept {
    if (owner.told_interval.load(std::memory_order_relaxed) == interval) [[likely]]
        return;
    const std::uint32_t before = owner.told_interval.exchange(interval, std::memory_order_relaxed);
    if (before == interval) return;
    const std::uint32_t cost_ppm = owner.cost_ppm.load(std::memory_order_relaxed);
    runtime::write_fact(
        now(),
        trace::fact_id(trace::fact_kind::mark,
                       static_cast<std::uint32_t>(trace::mark_kind::request_interval)),
        trace::interval_body{interval, before, cost_ppm, 0});
}

// A type's place is the one of its hash, or one of the next if other types are there.
std::uint32_t& count_of(request_counts& counts, std::uint32_t generation,
                        std::uint64_t type) noexcept {
    if (counts.session != generation) counts = {.session = generation};
    constexpr std::size_t places = std::size(request_counts{}.of_types);
    const auto hash = static_cast<std::uint32_t>(type * 0x9e37'79b9'7f4a'7c15U >> 32) | 1U;
    const std::size_t first = (hash >> 16) % places;
    for (std::size_t step = 0; step < places; ++step) {
        request_count& at = counts.of_types[(first + step) % places];
        if (at.type == 0) at = {.type = hash, .since = ~std::uint32_t{0}};
        if (at.type == hash) return at.since;
    }
    return counts.of_types[first].since;
}

// Counts a request, and returns whether it is the one of `interval` that is recorded in full. The
// initial count is the largest number, so the first request is.
bool is_turn(std::uint32_t& since, std::uint32_t interval) noexcept {
    if (since < interval - 1) {
        ++since;
        return false;
    }
    since = 0;
    return true;
}

// Under overwrite_oldest (a session with a task table) each request that misses its deadline must
// be in full. It is not known before the end of a request, so all requests with a deadline are.
bool is_in_full(session& owner, std::uint32_t generation, const request_opening& opening) noexcept {
    const std::uint32_t interval = owner.request_interval.load(std::memory_order_relaxed);
    tell_interval(owner, interval);
    std::uint32_t& since = count_of(this_thread.record->requests, generation, opening.type);
    const bool turn = is_turn(since, interval);
    const bool may_be_wanted =
        opening.has_deadline && owner.task_table.load(std::memory_order_relaxed);
    return turn || may_be_wanted;
}

}  // namespace

request_opening opening_at(const void* address) noexcept {
    request_opening opening;
    const bool in_task = in_slice() && (in_running_frame(address) || on_fiber_stack(address));
    opening.suspends = in_task && !(on_stack(address) && !on_fiber_stack(address));
    opening.may_be_left_out = in_task || (on_stack(address) && !on_fiber_stack(address));
    return opening;
}

std::uint32_t choose_recording(const request_opening& opening) noexcept {
    if ((load_gate() & gate_sampling) == 0) [[likely]]
        return 0;
    const std::uint32_t generation = effective_generation(this_thread);
    session* const owner = find_session(generation);
    const bool inside_another = carried_session(this_thread.carried) == (generation | full_request);
    if (owner == nullptr || inside_another || !opening.may_be_left_out) return 0;
    if (is_in_full(*owner, generation, opening)) return request_set_context;
    return request_set_context | request_is_left_out |
           (opening.suspends ? request_suspended : std::uint32_t{0});
}

void enter_request(std::uint32_t state) noexcept {
    if ((state & request_set_context) == 0) [[likely]]
        return;
    const std::uint32_t generation = effective_generation(this_thread);
    if (generation == 0) return;
    if ((state & request_is_left_out) != 0)
        leave_record(generation, (state & request_suspended) != 0 ? site_id(left_out_site) : 0);
    else
        carry_session(generation | full_request);
}

// Does nothing if the frame of the block is destroyed while it is suspended, because the thread
// runs another context then.
void leave_request(std::uint32_t state, std::uint64_t task) noexcept {
    if ((state & request_set_context) == 0 || task_of(this_thread.mark) != task) return;
    const std::uint32_t carried = carried_session(this_thread.carried);
    const bool left_out = (state & request_is_left_out) != 0;
    if ((carried & (left_out ? left_out_request : full_request)) == 0) return;
    if (left_out)
        return_to_record((state & request_suspended) != 0);
    else
        carry_session(outside_requests(carried));
}

}  // namespace coroscope::detail
