// SPDX-License-Identifier: Apache-2.0

// The shared state of ranges: its holders, its end callbacks, and the future that ends it.

#include <coroscope/range.hpp>

#include <atomic>
#include <new>

#include <coroscope/context.hpp>
#include <coroscope/detail/attachment.hpp>
#include <coroscope/detail/device_notes.hpp>
#include <coroscope/detail/range_start.hpp>
#include <coroscope/detail/request_notes.hpp>
#include <coroscope/record_function.hpp>
#include <coroscope/stream_range.hpp>

#include "../base/own_memory.hpp"
#include "range_faults.hpp"

namespace coroscope::detail {

using runtime::count_fault;
using runtime::range_fault;

class range_state : public runtime::own_memory {
public:
    explicit range_state(const range_start& begun) noexcept : begun_(begun) {
        if (begun.start.ticks != 0) static_cast<void>(on_end.add(record_end_));
    }

    std::atomic<std::uint32_t> holders{1};
    callback_list on_end;  // its first callback records the end
    std::atomic<std::uint64_t> items{0};

    // The number of pending completions that would end the range. All belong to the one future to
    // which the range is attached.
    std::atomic<std::uint32_t> attachments{0};
    std::atomic<bool> attached{false};
    std::atomic<bool> completed{false};
    context at_attach;
    attachment_callback when_complete;

    /// Precondition: the range does not end during the call.
    void take_outputs(const value_source& outputs) const noexcept {
        if (is_observed(begun_.start)) offer_outputs(begun_, outputs);
    }
    void record(std::uint64_t item) const noexcept {
        if (begun_.start.ticks != 0) record_item(begun_, item);
    }
    void note(const request_traits& traits) const noexcept {
        if (begun_.start.ticks != 0) note_request(begun_, traits);
    }
    void record_stream(void* stream, bool per_thread) const noexcept {
        if (begun_.start.ticks != 0) record_range_stream(begun_, stream, per_thread);
    }

private:
    struct recording_callback final : callback {
        explicit recording_callback(const range_start& of) noexcept
            : callback(record), begun(&of) {}
        static void record(callback& self) noexcept {
            end_range(*static_cast<recording_callback&>(self).begun, range_extent::completion);
        }
        const range_start* begun;
    };

    range_start begun_;
    recording_callback record_end_{begun_};
};

void retain(range_state& state) noexcept { state.holders.fetch_add(1, std::memory_order_relaxed); }

void release(range_state& state) noexcept {
    if (state.holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return;  // pairs with itself
    state.on_end.close();
    delete &state;
}

range_state* begin_shared_range(const char* label, std::size_t size, bool records) noexcept {
    range_start begun;
    if (records && wants_scopes(load_gate())) begin_range(begun, label, size, {range_form::shared});
    auto* state = new (std::nothrow) range_state(begun);
    if (state == nullptr && is_observed(begun.start)) end_range(begun, range_extent::completion);
    return state;
}

range_state* begin_shared_request(const char* label, std::size_t size, bool records) noexcept {
    if (!records || !in_left_out_request()) return begin_shared_range(label, size, records);
    range_start begun;
    begin_inside_left_out(begun, label, size, {range_form::shared});
    auto* state = new (std::nothrow) range_state(begun);
    if (state == nullptr && is_observed(begun.start)) end_range(begun, range_extent::completion);
    return state;
}

// Holds a reference during the call, because a callback may release the last handle.
bool end_shared_range(range_state& state) noexcept {
    retain(state);
    const range_ptr held(&state);
    return held->on_end.close();
}

bool has_ended(const range_state& state) noexcept { return state.on_end.closed(); }

bool add_end_callback(range_state& state, callback& added) noexcept {
    return state.on_end.add(added);
}

void begin_stream(range_state& state) noexcept { state.record(0); }

void record_item(range_state& state) noexcept {
    if (!has_ended(state)) state.record(state.items.fetch_add(1, std::memory_order_relaxed) + 1);
}

void note_request(const range_state& state, const request_traits& traits) noexcept {
    if (!has_ended(state)) state.note(traits);
}

void note_thrown_callback() noexcept { count_fault(range_fault::callback_threw); }

void note_range_on_stream(const range_state& range, void* stream, bool per_thread) noexcept {
    range.record_stream(stream, per_thread);
}

void offer_outputs(const range_state& state, const value_source& outputs) noexcept {
    if (!has_ended(state) && !state.attached.load(std::memory_order_relaxed))
        state.take_outputs(outputs);
}

range_state* share_range(const range_start& begun) noexcept {
    return new (std::nothrow) range_state(begun);
}

void leave_shared_range(range_state& state, bool died) noexcept {
    const bool ended_here = end_shared_range(state);
    const bool awaited = state.attached.load(std::memory_order_relaxed) &&
                         !state.completed.load(std::memory_order_relaxed);
    if (died && ended_here && awaited) count_fault(range_fault::borrowed_died);
    release(state);
}

bool attach(range_state& state) noexcept {
    if (state.attached.exchange(true, std::memory_order_relaxed)) {
        count_fault(range_fault::attached_twice);
        return false;
    }
    state.at_attach = current_context();
    state.attachments.store(1, std::memory_order_relaxed);
    state.when_complete.state = &state;
    retain(state);
    return true;
}

void retain_attachment(range_state& state) noexcept {
    state.attachments.fetch_add(1, std::memory_order_relaxed);
}

void complete_attached(range_state& state) noexcept {
    state.completed.store(true, std::memory_order_relaxed);
    const context_guard guard(state.at_attach);
    end_shared_range(state);
}

void release_attachment(range_state& state) noexcept {
    if (state.attachments.fetch_sub(1, std::memory_order_acq_rel) != 1)
        return;  // pairs with itself
    if (!state.completed.load(std::memory_order_relaxed))
        complete_attached(state);  // the operation was abandoned: no completion will come
    release(state);
}

attachment_callback& callback_of(range_state& state) noexcept { return state.when_complete; }

}  // namespace coroscope::detail
