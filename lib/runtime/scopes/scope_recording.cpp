// SPDX-License-Identifier: Apache-2.0

// The recording half of scopes, run-time ranges, wrapped awaits and arguments.

#include <algorithm>
#include <cstring>

#include <coroscope/await.hpp>
#include <coroscope/detail/arguments_scope.hpp>
#include <coroscope/detail/range_start.hpp>
#include <coroscope/detail/task_state.hpp>
#include <coroscope/scope.hpp>

#include "../carried/feature_data.hpp"
#include "../carried/session_return.hpp"
#include "../devices/devices.hpp"
#include "../observers/observation.hpp"
#include "../tasks/frames.hpp"
#include "../tasks/stacks.hpp"
#include "../writer/recorder.hpp"
#include "kept_labels.hpp"
#include "notes.hpp"
#include "open_scopes.hpp"
#include "range_faults.hpp"
#include "scope_places.hpp"

namespace coroscope::detail {
namespace {

using namespace runtime;

// Returns whether the duration fits into a short record and the site is registered. The tag must be
// read after the limit. On x86 the processor keeps that order at no cost, and a plain load lets the
// compiler compare with memory.
[[gnu::always_inline]] inline bool fits(const site& where, std::uint64_t duration) noexcept {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    if (duration >= where.duration_limit) [[unlikely]]
        return false;
    __atomic_signal_fence(__ATOMIC_ACQUIRE);  // pairs with the site's registration
    return true;
#else
    return duration < __atomic_load_n(&where.duration_limit, __ATOMIC_ACQUIRE);
#endif
}

// Must be called after fits(). Without a sanitizer it is a plain load, which the compiler can fold
// into its use.
[[gnu::always_inline]] inline std::uint64_t load_tag_of(const site& where) noexcept {
#if defined(__SANITIZE_THREAD__)
    return __atomic_load_n(&where.tag, __ATOMIC_RELAXED);
#else
    return where.tag;
#endif
}

struct finished_scope {
    std::uint64_t start;
    std::uint64_t duration;
    std::uint64_t mark;
    std::uint32_t flags;
};

// A scope that began before the session is cut to it.
void clip(finished_scope& scope, std::uint64_t end) noexcept {
    const session* owner = effective_session(this_thread);
    const std::uint64_t session_start =
        owner == nullptr ? 0 : owner->start_ticks.load(std::memory_order_relaxed);
    if (scope.start >= session_start) return;
    scope.start = std::min(session_start, end);
    scope.duration = end - scope.start;
    scope.flags |= trace::scope_clipped;
}

void write_scope(std::uint32_t id, const finished_scope& scope) noexcept {
    char* at = reserve();
    if (at == nullptr) return;
    if (scope.flags == 0 && scope.duration < trace::tag_value_limit) {
        write_record(at, scope.start, make_tag(record_kind::scope, id, scope.duration));
    } else {
        write_record(at, scope.start, make_tag(record_kind::long_scope, id, scope.flags),
                     scope.duration, scope.mark);
    }
}

// Records a scope that lives at `address`. If it is observed, its start is in the observation.
void record_end(site& where, const void* address, const scope_start& begun,
                std::uint64_t end) noexcept {
    if (register_thread(this_thread) == nullptr) return count_unregistered(1);
    const std::uint32_t id = site_id(where);
    if (is_switched_off(where)) return;
    finished_scope scope{begun.ticks, end - begun.ticks, begun.mark,
                         frame_flags(address, begun.ticks)};
    if (end < begun.ticks) scope.duration = 0;
    if ((scope.flags & trace::scope_exact) != 0)
        scope.mark = trace::make_mark(task_of(this_thread.mark), trace::mark_thread(begun.mark));
    char* cursor = this_thread.cursor;
    if (cursor >= load_limit()) {
        if (refill(this_thread, 1) == nullptr) return;
        clip(scope, end);
    }
    write_scope(id, scope);
}

[[gnu::always_inline]] inline bool lives_on_stack(const void* address) noexcept {
    return reinterpret_cast<std::uintptr_t>(address) - this_thread.stack_low <
           this_thread.stack_bytes;
}

// Records a scope in a frame whose duration fits a short record. Returns false and writes nothing
// if another condition of the fast path does not hold.
[[gnu::always_inline]] inline bool write_in_frame(const site& where, const void* address,
                                                  const scope_start& begun,
                                                  std::uint64_t duration) noexcept {
    char* cursor = nullptr;
    // With a stack size of 0, addresses in frames cannot be distinguished from addresses on the
    // stack.
    if (!counts_time(load_gate()) || this_thread.fiber != nullptr || this_thread.stack_bytes == 0 ||
        !find_place(cursor, long_record_bytes)) [[unlikely]]
        return false;
    std::uint32_t flags = trace::scope_in_frame;
    std::uint64_t mark = begun.mark;
    if (in_running_frame(address)) {
        flags |= trace::scope_exact;
        mark = trace::make_mark(task_of(this_thread.mark), trace::mark_thread(mark));
    }
    const std::uint32_t id = trace::tag_id(__atomic_load_n(&where.tag, __ATOMIC_RELAXED));
    fill_record(cursor, begun.ticks, make_tag(record_kind::long_scope, id, flags), duration, mark);
    return true;
}

// The same for a scope on the thread's stack.
[[gnu::always_inline]] inline bool write_on_stack(const site& where, const scope_start& begun,
                                                  std::uint64_t duration) noexcept {
    char* cursor = nullptr;
    if (!find_place(cursor, trace::record_unit_bytes)) return false;
    store_word(cursor, begun.ticks);
    publish_tag(cursor, load_tag_of(where) | (duration << trace::tag_value_shift));
    return true;
}

// Ends a scope that was named while it was open and is not observed.
[[gnu::noinline]] void end_open_scope(site& where, const scope_start* start,
                                      std::uint64_t since_start) noexcept {
    const std::uint64_t end = counts_time(load_gate()) ? open_ticks + since_start : careful_now();
    const scope_start begun = take_open(*start);
    const std::uint64_t duration = end - begun.ticks;
    const bool written = fits(where, duration) &&
                         (lives_on_stack(start) ? write_on_stack(where, begun, duration)
                                                : write_in_frame(where, start, begun, duration));
    if (!written) record_end(where, start, begun, end);
}

// Handles all cases that the fast paths do not: fibers, long durations, full chunks, new sites,
// observers, scopes that are named while they are open. `since_start`: ticks from start->ticks,
// whatever these are.
[[gnu::noinline]] void end_scope_slow(site& where, const scope_start* start,
                                      std::uint64_t since_start) noexcept {
    if (is_open(*start)) return end_open_scope(where, start, since_start);
    const std::uint64_t end = counts_time(load_gate()) ? start->ticks + since_start : careful_now();
    const scope_start begun = take_recorded_start(*start);
    if (begun.ticks != 0) record_end(where, start, begun, end);
    if (is_observed(*start)) end_observation(*start);
}

// Gives back the place that was taken at a full chunk's end, then takes the slow path.
[[gnu::noinline]] void end_scope_full(site& where, const scope_start* start,
                                      std::uint64_t since_start, char* taken) noexcept {
    give_place_back(taken, trace::record_unit_bytes);
    end_scope_slow(where, start, since_start);
}

// Ends a scope in a frame whose duration fits a short record.
[[gnu::noinline]] void end_scope_in_frame(site& where, const scope_start* start,
                                          std::uint64_t duration) noexcept {
    if (!write_in_frame(where, start, *start, duration)) [[unlikely]]
        end_scope_slow(where, start, duration);
}

observation* observers_of(scope_kind kind) noexcept {
    const bool observed = (load_gate() & gate_observed & ~gate_careful) != 0;
    return observed ? choose_observers(kind) : nullptr;
}

scope_kind kind_of(const site& where) noexcept {
    return where.kind == site_kind::await ? scope_kind::await : scope_kind::function;
}

scope_facts facts_of(site& where, const void* address) noexcept {
    scope_facts facts;
    facts.name = label_of(where);
    facts.name_size = std::strlen(facts.name);
    facts.where = &where;
    facts.kind = kind_of(where);
    facts.may_change_threads = !on_stack(address);
    return facts;
}

// `caller`: the address to which the runtime returns. The stack of the user's calls begins there.
void begin_recorded(scope_start& start, const void* caller) noexcept {
    start.ticks = 0;
    if (register_thread(this_thread) == nullptr) return count_unregistered(1);
    if (!is_recording()) return;
    start.mark = this_thread.mark;
    if (load_gate() >= 0 || !wants(trace::feature_stacks)) {
        start.ticks = now();
        return;
    }
    const captured_stack stack(caller);
    start.ticks = now();
    stack.note(start.ticks);
}

bool names_open_scopes() noexcept { return (load_gate() & gate_open & ~gate_careful) != 0; }

// Returns whether a session that names open scopes is the only reason for a scope to begin on the
// slow path.
bool only_names(std::int32_t gate) noexcept {
    constexpr std::int32_t others =
        (gate_observed | gate_stacks | gate_slow_clock | gate_unknown) & ~gate_careful;
    return (gate & others) == 0;
}

// Observers come first, so that neither their time nor the search for an entry is part of the
// scope.
void begin_slow(scope_start* start, site& where, const value_source* inputs,
                const void* caller) noexcept {
    start->ticks = 0;
    if (register_thread(this_thread) == nullptr) return count_unregistered(1);
    const bool recorded = !is_switched_off(where);
    observation* seen = observers_of(kind_of(where));
    if (seen != nullptr) start_observers(*seen, facts_of(where, start), inputs);
    open_entry* entry = recorded && names_open_scopes() ? prepare_open(where) : nullptr;
    if (recorded) begin_recorded(*start, caller);
    if (entry != nullptr) keep_open(*entry, *start, where, start);
    if (seen != nullptr) keep_observation(*start, *seen);
}

}  // namespace

// Every instruction here is executed for each scope, so the tests are ordered to need few of them.
void end_scope(site& where, const scope_start* start) noexcept {
    const std::uint64_t begin = start->ticks;
    const std::uint64_t duration = counter_ticks() - begin;
    // One test for a duration that does not fit and for a site that has no id yet.
    if (!fits(where, duration)) [[unlikely]]
        return end_scope_slow(where, start, duration);
    if (!lives_on_stack(start)) [[unlikely]]
        return end_scope_in_frame(where, start, duration);
    char* const limit = load_limit();
    char* cursor = take_place(trace::record_unit_bytes);
    if (cursor >= limit) [[unlikely]]
        return end_scope_full(where, start, duration, cursor);
    store_word(cursor, begin);
    publish_tag(cursor, load_tag_of(where) | (duration << trace::tag_value_shift));
}

void begin_scope_slow(scope_start* start, site& where) noexcept {
    if (only_names(load_gate()) && begin_open(*start, where)) [[likely]]
        return;
    begin_slow(start, where, nullptr, __builtin_return_address(0));
}
void begin_scope_slow(scope_start* start, site& where, const value_source& inputs) noexcept {
    if (only_names(load_gate()) && begin_open(*start, where)) [[likely]]
        return;
    begin_slow(start, where, &inputs, __builtin_return_address(0));
}
void begin_unobserved(scope_start* start) noexcept {
    begin_recorded(*start, __builtin_return_address(0));
}

void record_await(site& label, const scope_start& start) noexcept {
    const std::uint64_t end = now();
    const std::uint32_t id = site_id(label);
    char* at = reserve();
    if (at == nullptr) return;
    write_record(at, start.ticks,
                 make_tag(record_kind::long_scope, id, trace::scope_await | trace::scope_in_frame),
                 end - start.ticks, start.mark);
}

namespace {

scope_kind kind_of(const range_traits& traits) noexcept {
    if (traits.form == range_form::shared) return scope_kind::range;
    const bool runs_deferred = traits.place.number >= 0 && traits.place.forward_thread != 0;
    return runs_deferred ? scope_kind::backward_function : scope_kind::user_scope;
}

scope_facts facts_of(const char* label, std::size_t size, const range_traits& traits,
                     const void* address) noexcept {
    scope_facts facts;
    facts.name = label;
    facts.name_size = size;
    facts.kind = kind_of(traits);
    facts.sequence_nr = traits.place.number;
    facts.may_change_threads = traits.form != range_form::block || !on_stack(address);
    return facts;
}

}  // namespace

void begin_range(range_start& range, const char* label, std::size_t size,
                 const range_traits& traits) noexcept {
    range.start.ticks = 0;
    if (register_thread(this_thread) == nullptr) return count_unregistered(2);  // its label, too
    observation* seen = observers_of(kind_of(traits));
    if (seen != nullptr)
        start_observers(*seen, facts_of(label, size, traits, &range), traits.inputs);
    begin_recorded(range.start, __builtin_return_address(0));
    if (range.start.ticks != 0) {
        range.session = effective_generation(this_thread);
        range.label = ++this_thread.record->label_serial;
        if (write_text(range.start.ticks, record_kind::label, range.label, label, size))
            keep_label(range, label, size);
        if (traits.place.number >= 0) note_sequence(range.start.ticks, traits.place);
    }
    if (seen != nullptr) keep_observation(range.start, *seen);
}

void offer_outputs(const range_start& range, const value_source& outputs) noexcept {
    take_outputs(range.start, outputs);
}

namespace {

void count_late(std::uint32_t generation) noexcept {
    if (generation == 0) return;
    for (session* each = session_table(); each != session_table() + session_slots; ++each) {
        if (each->generation.load(std::memory_order_relaxed) == generation)
            each->late_records.fetch_add(1, std::memory_order_relaxed);
    }
}

void record_range_end(const range_start& range, const scope_start& begun, range_extent extent,
                      std::uint64_t end) noexcept {
    const session_return session(session_generation(range.session));
    if (!session.live()) {
        count_late(session_generation(range.session));
        return count_fault(range_fault::end_after_stop);
    }
    const std::uint32_t how =
        extent == range_extent::completion ? trace::scope_range : frame_flags(&range, begun.ticks);
    const std::uint64_t duration = end < begun.ticks ? 0 : end - begun.ticks;
    repeat_label(range, begun);
    const bool left_out = (range.session & left_out_request) != 0;
    write_scope(range.label, {begun.ticks, duration, begun.mark,
                              trace::scope_dynamic | trace::scope_explicit | how |
                                  (left_out ? trace::scope_left_out : std::uint32_t{0})});
}

}  // namespace

void end_range(const range_start& range, range_extent extent) noexcept {
    const std::uint64_t end = is_recording() ? now() : careful_now();
    const scope_start begun = recorded_start(range.start);
    if (begun.ticks != 0) record_range_end(range, begun, extent, end);
    if (is_observed(range.start)) end_observation(range.start);
}

void record_item(const range_start& range, std::uint64_t number) noexcept {
    const std::uint64_t ticks = now();
    const scope_start begun = recorded_start(range.start);
    if (begun.ticks == 0) return;
    const session_return session(session_generation(range.session));
    if (!session.live()) return count_late(session_generation(range.session));
    if (char* at = reserve())
        write_record(at, ticks, make_tag(record_kind::item, range.label, 0), begun.mark, number);
}

void record_range_stream(const range_start& range, void* stream, bool per_thread) noexcept {
    const scope_start begun = recorded_start(range.start);
    if (begun.ticks == 0 || !records_devices(session_generation(range.session))) return;
    const session_return session(session_generation(range.session));
    if (!session.live()) return;
    const device_stream on = identify_stream(stream, per_thread);
    write_device_wait(now(), trace::device_wait_kind::range, on.stream, begun.mark,
                      trace::device_wait_word(on.context, range.label));
}

std::uint32_t arguments_wanted() noexcept {
    const session* owner = effective_session(this_thread);
    if (owner == nullptr) return 0;
    const std::uint64_t features = owner->features.load(std::memory_order_relaxed);
    return ((features & trace::feature_arguments) != 0 ? wants_values : 0U) |
           ((features & trace::feature_shapes) != 0 ? wants_shapes : 0U);
}

void record_arguments(site& where, const scope_start& start,
                      const argument_writer& values) noexcept {
    const std::uint64_t ticks = recorded_start(start).ticks;
    const std::uint32_t id = ticks == 0 ? 0 : site_id(where);
    if (ticks != 0 && !is_switched_off(where) && begins_data_of(trace::feature_arguments) &&
        write_text(ticks, record_kind::arguments, id, values.data(), values.size()) && values.cut())
        count_truncated();
}

}  // namespace coroscope::detail
