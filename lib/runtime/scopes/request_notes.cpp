// SPDX-License-Identifier: Apache-2.0

// The recording half of requests.

#include <coroscope/detail/request_notes.hpp>

#include <algorithm>
#include <cstring>

#include <coroscope/trace/request_format.hpp>

#include "../carried/session_return.hpp"
#include "../observers/observation.hpp"
#include "../tasks/left_out.hpp"
#include "../writer/recorder.hpp"
#include "open_scopes.hpp"
#include "request_sampling.hpp"
#include "scope_places.hpp"

namespace coroscope::detail {

using namespace runtime;

namespace {

struct labelled_body {
    trace::request_body head;
    char label[208];
};

std::uint32_t flags_of(const request_traits& traits) noexcept {
    return traits.failed ? trace::request_failed : 0;
}

trace::request_body body_of(std::uint64_t mark, std::uint32_t site,
                            const request_traits& traits) noexcept {
    return {mark, traits.deadline_ns, site, 0, 0};
}

// Returns whether a session records a task on this thread.
bool records_task() noexcept {
    if (register_thread(this_thread) == nullptr) {
        count_unregistered(1);
        return false;
    }
    return is_recording() && task_of(this_thread.mark) != 0;
}

request_state with_exceptions(std::uint32_t bits) noexcept {
    const auto exceptions = static_cast<std::uint32_t>(exceptions_under_way());
    return static_cast<request_state>((exceptions & request_exceptions_mask) | bits);
}
std::uint32_t bits_of(request_state state) noexcept {
    return static_cast<std::uint32_t>(state) & ~std::uint32_t{request_exceptions_mask};
}
bool has_failed(request_state state) noexcept {
    constexpr request_state mask = request_exceptions_mask;
    return exceptions_under_way() > (state & mask);
}

std::uint64_t type_of(const char* label, std::size_t size) noexcept {
    std::uint64_t hash = 14695981039346656037U;
    for (std::size_t at = 0; at < size; ++at)
        hash = (hash ^ static_cast<unsigned char>(label[at])) * 1099511628211U;
    return hash;
}

// Returns the mark of a request that begins here, inside one that is left out. The mark has no task
// if the task was created inside, because the session does not know such a task.
std::uint64_t known_mark(std::uint64_t mark) noexcept {
    return is_known_before() && task_of(mark) == task_of(this_thread.mark)
               ? mark
               : mark & mark_thread_mask;
}

void write_request_fact(const scope_start& begun, std::uint32_t site,
                        const request_traits& traits) noexcept {
    write_fact(begun.ticks, trace::make_request_id(trace::request_form::scope, flags_of(traits)),
               body_of(begun.mark, site, traits));
}

// Records a request that is left out, whose scope is at `address`. `inside`: it is inside another
// one, so only its times are known.
void record_left_out(site& where, const void* address, const scope_start& begun, std::uint64_t end,
                     bool inside, bool failed) noexcept {
    const std::uint32_t how =
        inside ? std::uint32_t{trace::scope_in_frame} : frame_flags(address, begun.ticks);
    const session_switch outside(outside_requests(carried_session(this_thread.carried)));
    const std::uint32_t site = site_id(where);
    if (failed) write_request_fact(begun, site, {0, true});
    if (char* at = reserve())
        write_record(at, begun.ticks,
                     make_tag(record_kind::long_scope, site, how | trace::scope_left_out),
                     end < begun.ticks ? 0 : end - begun.ticks, begun.mark);
}

[[gnu::noinline]] void end_sampled(site& where, const scope_start* start, request_state state,
                                   bool failed) noexcept {
    const std::uint32_t bits = bits_of(state);
    if ((bits & request_is_left_out) == 0) {
        leave_request(bits, task_of(recorded_start(*start).mark));
        if (failed) note_request(where, *start, {0, true});
        return end_scope(where, start);
    }
    const std::uint64_t end = careful_now();
    const scope_start begun = take_recorded_start(*start);
    leave_request(bits, task_of(begun.mark));
    const bool inside = (bits & request_set_context) == 0;
    if (begun.ticks != 0) record_left_out(where, start, begun, end, inside, failed);
    if (is_observed(*start)) end_observation(*start);
}

}  // namespace

request_state open_request(site& where, const scope_start& start,
                           std::uint64_t deadline_ns) noexcept {
    if (deadline_ns != 0) note_request(where, start, {deadline_ns, false});
    if ((load_gate() & gate_sampling) == 0) [[likely]]
        return with_exceptions(0);
    request_opening opening = opening_at(&start);
    opening.type = reinterpret_cast<std::uintptr_t>(&where);
    opening.has_deadline = deadline_ns != 0;
    const std::uint32_t bits = choose_recording(opening);
    enter_request(bits);
    return with_exceptions(bits);
}

request_state open_request(range_start& range, const char* label, std::size_t size,
                           std::uint64_t deadline_ns) noexcept {
    note_request(range, {deadline_ns, false});
    if ((load_gate() & gate_sampling) == 0) [[likely]]
        return with_exceptions(0);
    request_opening opening = opening_at(&range);
    opening.type = type_of(label, size);
    opening.has_deadline = deadline_ns != 0;
    const std::uint32_t bits = choose_recording(opening);
    if ((bits & request_is_left_out) != 0) range.session |= left_out_request;
    enter_request(bits);
    return with_exceptions(bits);
}

request_state open_inside_left_out(scope_start& start) noexcept {
    if (!is_left_out(this_thread)) return 0;
    start.ticks = careful_now();
    start.mark = known_mark(this_thread.mark);
    return with_exceptions(request_is_left_out);
}

void begin_inside_left_out(range_start& range, const char* label, std::size_t size,
                           const range_traits& traits) noexcept {
    if (!is_left_out(this_thread)) return begin_range(range, label, size, traits);
    const std::uint64_t mark = known_mark(this_thread.mark);
    const session_switch outside(outside_requests(carried_session(this_thread.carried)));
    begin_range(range, label, size, traits);
    if (range.start.ticks == 0) return;
    range.session |= left_out_request;
    if (!is_observed(range.start)) range.start.mark = mark;
}

void note_request(site& where, const scope_start& start, const request_traits& traits) noexcept {
    const scope_start begun = recorded_start(start);
    if (begun.ticks == 0) return;
    if (register_thread(this_thread) == nullptr) return count_unregistered(1);
    write_request_fact(begun, site_id(where), traits);
}

void note_request(const range_start& range, const request_traits& traits) noexcept {
    const scope_start begun = recorded_start(range.start);
    if (begun.ticks == 0) return;
    const session_return session(session_generation(range.session));
    if (!session.live()) return;  // the end of the range counts it
    write_fact(begun.ticks, trace::make_request_id(trace::request_form::range, flags_of(traits)),
               body_of(begun.mark, range.label, traits));
}

void end_request(site& where, const scope_start* start, request_state state) noexcept {
    const bool failed = has_failed(state);
    if (bits_of(state) != 0) [[unlikely]]
        return end_sampled(where, start, state, failed);
    if (failed) [[unlikely]]
        note_request(where, *start, {0, true});
    end_scope(where, start);
}

void end_request(const range_start& range, request_state state) noexcept {
    const bool failed = has_failed(state);
    leave_request(bits_of(state), task_of(recorded_start(range.start).mark));
    if (failed) note_request(range, {0, true});
    end_range(range, range_extent::block);
}

namespace {

// Decides about a request that is the whole running task. Jobs are not left out: they leave the
// thread in other ways than tasks, so the end of the request would not be seen in its own context.
std::uint32_t choose_recording_of_task(std::uint64_t type, const request_traits& traits) noexcept {
    request_opening opening;
    opening.type = type;
    opening.has_deadline = traits.deadline_ns != 0;
    opening.suspends = true;
    opening.may_be_left_out =
        in_slice() && (this_thread.frame->flags & (task_spawned | task_any_frame)) != 0;
    return choose_recording(opening);
}

std::uint32_t task_fact_id(const request_traits& traits, std::uint32_t bits) noexcept {
    const bool left_out = (bits & request_is_left_out) != 0;
    return trace::make_request_id(trace::request_form::task,
                                  flags_of(traits) |
                                      (left_out ? trace::request_left_out : std::uint32_t{0}));
}

}  // namespace

void note_task_request(site& where, const request_traits& traits) noexcept {
    if (!records_task()) return;
    const std::uint32_t bits =
        choose_recording_of_task(reinterpret_cast<std::uintptr_t>(&where), traits);
    write_fact(now(), task_fact_id(traits, bits),
               body_of(this_thread.mark, site_id(where), traits));
    enter_request(bits);
}

void note_task_request(const char* label, std::size_t size, const request_traits& traits) noexcept {
    if (!records_task()) return;
    labelled_body body;
    body.head = body_of(this_thread.mark, 0, traits);
    const std::size_t kept = std::min(size, sizeof body.label);
    if (kept != 0) std::memcpy(body.label, label, kept);
    const std::uint32_t bits = choose_recording_of_task(type_of(label, size), traits);
    if (write_text(now(), record_kind::fact, task_fact_id(traits, bits),
                   reinterpret_cast<const char*>(&body), sizeof body.head + kept) &&
        kept < size)
        count_truncated();
    enter_request(bits);
}

}  // namespace coroscope::detail
